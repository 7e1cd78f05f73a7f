/**
 * The types of every operation, from the OpenAPI document: `node dashboard/generate-types.ts` prints
 * `dashboard/api/schema.ts` from `docs/openapi.json`. (`npm run openapi` does both.)
 *
 * An own generator because those on npm drive the compiler's JavaScript interface, which TypeScript 7 does not have.
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
  pattern?: string;
}

interface Content {
  content?: Record<string, { schema?: Schema }>;
}

interface Operation {
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

/** A JSON Schema (2020-12, as far as zod prints it) as a TypeScript type; what it does not know is `unknown`. */
export function typeOf(schema: Schema): string {
  if (schema.$ref) return `Schemas[${JSON.stringify(schema.$ref.split('/').at(-1))}]`;
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum) return union(schema.enum.map(value => JSON.stringify(value)));
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return union(choices.map(typeOf));
  if (schema.allOf) return schema.allOf.map(part => bracket(typeOf(part))).join(' & ');
  if (Array.isArray(schema.type)) return union(schema.type.map(type => typeOf({ ...schema, type })));
  if (schema.type === 'array') return arrayType(schema);
  if (schema.type === 'object') return objectType(schema);
  const simple: Record<string, string> = { string: 'string', integer: 'number', number: 'number', boolean: 'boolean' };
  return simple[schema.type ?? ''] ?? (schema.type === 'null' ? 'null' : 'unknown');
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

/** A parameter of digits alone is a number to whoever asks. */
const parameterType = (schema: Schema = {}): Schema =>
  schema.pattern?.startsWith('^\\d{') ? { type: 'integer' } : schema;

function operationType({ parameters = [], requestBody, responses }: Operation): string {
  const inside = (place: string) =>
    objectType({
      properties: Object.fromEntries(
        parameters.filter(p => p.in === place).map(p => [p.name, parameterType(p.schema)]),
      ),
      required: parameters.filter(p => p.in === place && p.required).map(p => p.name),
    });
  const good = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const response = union(good.map(([, reply]) => contentType(reply) ?? 'undefined')) || 'undefined'; // a redirection
  return `{ params: ${inside('path')}; query: ${inside('query')}; body: ${contentType(requestBody ?? {}) ?? 'undefined'}; response: ${response} }`;
}

/** The lists of which the pages offer a choice, from where the document has them. */
function choicesOf({ components, paths }: OpenApi): Record<string, unknown[] | undefined> {
  const scopes = components.schemas.ApiKey?.properties?.scopes?.items;
  const action = paths['/v1/audit-log']?.get?.parameters?.find(({ name }) => name === 'action');
  return { SCOPES: typeof scopes === 'object' ? scopes.enum : undefined, ACTIONS: action?.schema?.enum };
}

/** A list as a constant; an error where the document has it no more. */
function choiceModule([name, values]: [string, unknown[] | undefined]): string {
  if (!values) throw new Error(`docs/openapi.json has no values for ${name}.`);
  return `export const ${name} = ${JSON.stringify(values)} as const;`;
}

/** The module with a type for each schema, and for each operation by its method and path; and the lists of choices. */
export function typesModule(document: OpenApi): string {
  const { components, paths } = document;
  const schemas = Object.entries(components.schemas).map(([name, schema]) => `  ${key(name)}: ${typeOf(schema)};`);
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    METHODS.filter(method => item[method]).map(
      method => `  '${method.toUpperCase()} ${path}': ${operationType(item[method] as Operation)};`,
    ),
  );
  return [
    '// Printed from docs/openapi.json by `npm run openapi`.',
    '',
    '/** What the API sends and takes, by the names of the OpenAPI document. */',
    'export interface Schemas {',
    ...schemas,
    '}',
    '',
    '/** Every operation, by method and path. */',
    'export interface Operations {',
    ...operations,
    '}',
    '',
    '/** What a server key may be allowed to do, and every act that leaves a line in the audit log. */',
    ...Object.entries(choicesOf(document)).map(choiceModule),
    '',
  ].join('\n');
}

if (import.meta.main) {
  const document = JSON.parse(readFileSync(new URL('../docs/openapi.json', import.meta.url), 'utf8'));
  writeFileSync(new URL('api/schema.ts', import.meta.url), typesModule(document));
}
