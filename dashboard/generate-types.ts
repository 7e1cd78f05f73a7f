/**
 * Generates the types of every operation: `node dashboard/generate-types.ts` writes `dashboard/api/schema.ts` from
 * `docs/openapi.json`. (`npm run openapi` regenerates both.)
 *
 * The generators on npm use the compiler's JavaScript API, which TypeScript 7 does not have.
 */
import { readFileSync, writeFileSync } from 'node:fs';

interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  items?: Schema | boolean;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  /** The values that this version sends (docs/decisions/0034-open-replies.md). */
  'x-extensible-enum'?: string[];
}

interface Content {
  content?: Record<string, { schema?: Schema }>;
}

interface Operation {
  description?: string;
  parameters?: { name: string; in: string; required?: boolean; schema?: Schema }[];
  requestBody?: Content;
  responses: Record<string, Content>;
}

export interface OpenApi {
  components: { schemas: Record<string, Schema> };
  paths: Record<string, Record<string, Operation>>;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

const union = (types: string[]): string => [...new Set(types)].join(' | ');
const bracket = (type: string): string => (/[ |&]/.test(type) ? `(${type})` : type);
const key = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name));

/**
 * Converts a JSON Schema (the subset of 2020-12 that zod emits) to a TypeScript type; other schemas become `unknown`.
 *
 * Lists of values are closed, also in replies, because the dashboard is built with the server.
 */
export function typeOf(schema: Schema): string {
  if (schema.$ref) return `Schemas[${JSON.stringify(schema.$ref.split('/').at(-1))}]`;
  if ('const' in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.type)) return union(schema.type.map(type => typeOf({ ...schema, type })));
  if (schema.type === 'null') return 'null';
  const values = schema.enum?.filter(value => value !== null) ?? schema['x-extensible-enum'];
  if (values) return union(values.map(value => JSON.stringify(value)));
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return union(choices.map(typeOf));
  if (schema.allOf) return schema.allOf.map(part => bracket(typeOf(part))).join(' & ');
  if (schema.type === 'array') return arrayType(schema);
  if (schema.type === 'object') return objectType(schema);
  const simple: Record<string, string> = { string: 'string', integer: 'number', number: 'number', boolean: 'boolean' };
  return simple[schema.type ?? ''] ?? 'unknown';
}

const arrayType = ({ items }: Schema): string => `${bracket(typeof items === 'object' ? typeOf(items) : 'unknown')}[]`;

function objectType({ properties, required = [], additionalProperties }: Schema): string {
  if (!properties)
    return `Record<string, ${typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'unknown'}>`;
  const fields = Object.entries(properties).map(
    ([name, schema]) => `${key(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`,
  );
  return `{ ${fields.join('; ')} }`;
}

const contentType = ({ content }: Content): string | undefined => {
  const schema = Object.values(content ?? {})[0]?.schema;
  return schema && typeOf(schema);
};

function operationType({ parameters = [], requestBody, responses }: Operation): string {
  const inside = (place: string) =>
    objectType({
      properties: Object.fromEntries(parameters.filter(p => p.in === place).map(p => [p.name, p.schema ?? {}])),
      required: parameters.filter(p => p.in === place && p.required).map(p => p.name),
    });
  const good = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const response = union(good.map(([, reply]) => contentType(reply) ?? 'undefined')) || 'undefined'; // a redirection
  return `{ params: ${inside('path')}; query: ${inside('query')}; body: ${contentType(requestBody ?? {}) ?? 'undefined'}; response: ${response} }`;
}

/** Enumerations that the pages offer as choices. */
function choicesOf({ components }: OpenApi): Record<string, unknown[] | undefined> {
  const scopes = components.schemas.ApiKey?.properties?.scopes?.items;
  const action = components.schemas.AuditEntry?.properties?.action;
  const types = components.schemas.EventType;
  return {
    SCOPES: typeof scopes === 'object' ? scopes['x-extensible-enum'] : undefined,
    ACTIONS: action?.['x-extensible-enum'],
    EVENT_TYPES: types?.enum ?? types?.['x-extensible-enum'],
  };
}

/** Sentences with which the document states the rights of an operation. */
const SCOPE = /API keys need the scope `([\w:-]+)`/;
const HOLDERS = /Sessions need one of the roles ([a-z, ]+)\./;

/** Scopes that some operation requires: those of features that do not exist yet are not offered. */
const usedScopes = (operations: [string, Operation][]): string[] => [
  ...new Set(operations.flatMap(([, { description = '' }]) => SCOPE.exec(description)?.[1] ?? [])),
];

/** Roles that may call an operation; operations without this sentence are open to every role. */
const holdersOf = (operations: [string, Operation][]): Record<string, string[]> =>
  Object.fromEntries(
    operations.flatMap(([key, { description = '' }]) => {
      const roles = HOLDERS.exec(description)?.[1];
      return roles ? [[key, roles.split(', ')]] : [];
    }),
  );

/** Renders an enumeration as a constant. Throws if the document lacks it. */
function choiceModule([name, values]: [string, unknown[] | undefined]): string {
  if (!values) throw new Error(`docs/openapi.json has no values for ${name}.`);
  return `export const ${name} = ${JSON.stringify(values)} as const;`;
}

/** Renders the module: a type per schema, a type per operation (by method and path) and the choices. */
export function typesModule(document: OpenApi): string {
  const { components, paths } = document;
  const schemas = Object.entries(components.schemas).map(([name, schema]) => `  ${key(name)}: ${typeOf(schema)};`);
  const described = Object.entries(paths).flatMap(([path, item]) =>
    METHODS.filter(method => item[method]).map((method): [string, Operation] => [
      `${method.toUpperCase()} ${path}`,
      item[method] as Operation,
    ]),
  );
  const operations = described.map(([key, operation]) => `  '${key}': ${operationType(operation)};`);
  return [
    '// Generated from docs/openapi.json by `npm run openapi`.',
    '',
    '/** Schemas of the OpenAPI document. */',
    'export interface Schemas {',
    ...schemas,
    '}',
    '',
    '/** Operations by method and path. */',
    'export interface Operations {',
    ...operations,
    '}',
    '',
    '/** Scopes of server keys, and actions recorded in the audit log. */',
    ...Object.entries(choicesOf(document)).map(choiceModule),
    '/** Scopes that operations require. */',
    `export const USED_SCOPES = ${JSON.stringify(usedScopes(described))} as const;`,
    '/** Roles that may call an operation; operations that are missing here are open to every role. */',
    `export const HOLDERS = ${JSON.stringify(holdersOf(described))} as const;`,
    '',
  ].join('\n');
}

if (import.meta.main) {
  const document = JSON.parse(readFileSync(new URL('../docs/openapi.json', import.meta.url), 'utf8'));
  writeFileSync(new URL('api/schema.ts', import.meta.url), typesModule(document));
}
