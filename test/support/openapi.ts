import { readFile } from 'node:fs/promises';

type Json = Record<string, unknown>;

/** A schema of the document, with its place as a JSON pointer without escapes. */
export interface Place {
  at: string;
  schema: Json;
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Every object below a part of the document, except for examples. */
function* objectsIn(part: unknown, at = ''): Generator<Place> {
  if (Array.isArray(part)) {
    for (const [index, child] of part.entries()) yield* objectsIn(child, `${at}/${index}`);
    return;
  }
  if (!isObject(part)) return;
  yield { at, schema: part };
  for (const [key, child] of Object.entries(part))
    if (key !== 'example' && key !== 'examples') yield* objectsIn(child, `${at}/${key}`);
}

const isComponent = (at: string): boolean => /^\/components\/schemas\/[^/]+$/.test(at);
const typesOf = ({ type }: Json): unknown[] => (Array.isArray(type) ? type : [type]);
const isNullable = ({ type }: Json): boolean => Array.isArray(type) && type.length === 2 && type[1] === 'null';
const isInteger = (schema: Json): boolean => typesOf(schema).includes('integer');

/** The alternatives of a union, without null. */
const branchesOf = ({ anyOf, oneOf }: Json): Json[] =>
  ((anyOf ?? oneOf ?? []) as Json[]).filter(branch => branch.type !== 'null');

/** The names of schemas that a part of the document leads to. */
function reachedFrom(document: Json, part: unknown): Set<string> {
  const { schemas = {} } = document.components as { schemas?: Record<string, unknown> };
  const found = new Set<string>();
  const follow = (from: unknown): void => {
    for (const { schema } of objectsIn(from)) {
      const name = /^#\/components\/schemas\/(.+)$/.exec(String(schema.$ref))?.[1];
      if (name === undefined || found.has(name)) continue;
      found.add(name);
      follow(schemas[name]);
    }
  };
  follow(part);
  return found;
}

const operationsOf = (document: Json): Json[] =>
  Object.values(document.paths as Record<string, Json>).flatMap(item => Object.values(item) as Json[]);

/** The schemas that replies lead to, and those that requests lead to. */
export function schemasByUse(document: Json): { replies: Set<string>; requests: Set<string> } {
  const operations = operationsOf(document);
  const { responses } = document.components as Json;
  return {
    replies: reachedFrom(document, [operations.map(operation => operation.responses), responses]),
    requests: reachedFrom(
      document,
      operations.map(({ parameters, requestBody }) => [parameters, requestBody]),
    ),
  };
}

const placesOf = (places: Place[], test: (place: Place) => boolean): string[] =>
  places.filter(test).map(({ at }) => at);

const tooLarge = ({ minimum, maximum, format, enum: values, const: value }: Json): boolean =>
  format !== 'int64' &&
  values === undefined &&
  value === undefined &&
  !(typeof minimum === 'number' && typeof maximum === 'number' && maximum < 2 ** 31);

const hasInlineObject = ({ at, schema }: Place): boolean =>
  isObject(schema.properties) && !isComponent(at) && schema.type !== undefined;

/** Whether the alternatives have different JSON types, at most one of which is an object. */
const isUnionOfTypes = (schema: Json): boolean => {
  const types = branchesOf(schema).map(({ type }) => type ?? 'object');
  return types.length > 1 && new Set(types).size === types.length;
};

interface HeaderObject {
  required?: boolean;
}

/** The response headers that an operation declares for a status, by name. */
export function headersOf(document: Json, operationId: string, status: number): Record<string, HeaderObject> {
  const { responses = {} } = operationsOf(document).find(operation => operation.operationId === operationId) ?? {};
  const at = (ref: Json): Json => {
    const [, , kind = '', name = ''] = String(ref.$ref).split('/');
    return '$ref' in ref ? ((document.components as Record<string, Json>)[kind]?.[name] as Json) : ref;
  };
  const { headers = {} } = at(((responses as Json)[status] ?? (responses as Json).default ?? {}) as Json) as {
    headers?: Record<string, Json>;
  };
  return Object.fromEntries(Object.entries(headers).map(([name, header]) => [name, at(header)]));
}

/** Every place in the document that a rule forbids, by rule. */
export function violationsIn(document: Json): Record<string, string[]> {
  const all = [...objectsIn(document)];
  const patterns = all.flatMap(({ schema }) => (typeof schema.pattern === 'string' ? [schema.pattern] : []));
  const { replies, requests } = schemasByUse(document);
  const inReplies = all.filter(
    ({ at }) => replies.has(at.split('/')[3] ?? '') && at.startsWith('/components/schemas/'),
  );
  return {
    'anonymous unions': placesOf(all, ({ at, schema }) => branchesOf(schema).length > 1 && !isComponent(at)),
    'objects without a name': placesOf(all, hasInlineObject),
    'closed reply objects': placesOf(inReplies, ({ schema }) => schema.additionalProperties === false),
    'closed lists of values in replies': placesOf(
      inReplies,
      ({ schema }) => Array.isArray(schema.enum) || typeof schema.const === 'string',
    ),
    'integers without bounds or 64 bits': placesOf(all, ({ schema }) => isInteger(schema) && tooLarge(schema)),
    'numbers without 64 bits': placesOf(
      all,
      ({ schema }) => typesOf(schema).includes('number') && schema.format !== 'double',
    ),
    'numbers that are integers': placesOf(
      all,
      ({ schema }) => schema.type === 'number' && (Number.isInteger(schema.const) || Array.isArray(schema.enum)),
    ),
    'lists of integers': placesOf(all, ({ schema }) => isInteger(schema) && Array.isArray(schema.enum)),
    'unions of types in requests without oneOf': placesOf(
      all.filter(({ at }) => requests.has(at.split('/')[3] ?? '')),
      ({ schema }) => Array.isArray(schema.anyOf) && isUnionOfTypes(schema),
    ),
    'unions of types in replies with oneOf': placesOf(
      inReplies,
      ({ schema }) => Array.isArray(schema.oneOf) && isUnionOfTypes(schema),
    ),
    'lists of types': placesOf(all, ({ schema }) => Array.isArray(schema.type) && !isNullable(schema)),
    'properties that are always null': placesOf(
      all,
      ({ at, schema }) => schema.type === 'null' && at.split('/').at(-2) === 'properties',
    ),
    'members with a default': all.flatMap(({ at, schema }) =>
      Object.entries((schema.properties ?? {}) as Record<string, Json>)
        .filter(([, member]) => 'default' in member)
        .map(([name]) => `${at}/${name}`),
    ),
    'defaults that are objects': placesOf(all, ({ schema }) => typeof schema.default === 'object' && 'type' in schema),
    'lookaheads in patterns': patterns.filter(pattern => /\(\?[=!<]/.test(pattern)),
    'patterns repeated three times': [...new Set(patterns)].filter(
      pattern => patterns.filter(other => other === pattern).length > 2,
    ),
  };
}

/** Names that generators derive from components, operations and inline lists of values, and that are components too. */
export function collisionsIn(document: Json): string[] {
  const { schemas } = document.components as { schemas: Record<string, Json> };
  const names = Object.keys(schemas);
  const pascal = (text: string): string =>
    text.replaceAll(/(?:^|[_-])([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const ofComponents = names.flatMap(name => [`New${name}`, `Nullable${name}`, `${name}AllOf`, `${name}Inner`]);
  const ofProperties = names.flatMap(name =>
    Object.entries((schemas[name]?.properties ?? {}) as Record<string, Json>)
      .filter(([, property]) => 'enum' in property || 'const' in property)
      .map(([property]) => `${name}${pascal(property)}`),
  );
  const ofOperations = operationsOf(document)
    .map(({ operationId }) => pascal(operationId as string))
    .flatMap(name => [
      name,
      `${name}Request`,
      `${name}Response`,
      `${name}Params`,
      `${name}JSONRequestBody`,
      `New${name}Request`,
    ]);
  const derived = new Set([...ofComponents, ...ofProperties, ...ofOperations]);
  return names.filter(name => derived.has(name));
}

/** Counts what generators and readers need: the numbers of docs/decisions/0034-open-replies.md. */
export function countsOf(document: Json): Record<string, number> {
  const all = [...objectsIn(document)];
  const refs = (kind: string) =>
    all.filter(({ schema }) => String(schema.$ref).startsWith(`#/components/${kind}/`)).length;
  const inline = all.filter(({ schema }) => schema.in === 'header' && typeof schema.name === 'string').length;
  const headers = all
    .filter(({ schema }) => isObject(schema.headers))
    .flatMap(({ schema }) => Object.keys(schema.headers as Json));
  const examples = (document.components as Json).examples as Json | undefined;
  return {
    operations: operationsOf(document).length,
    'header parameters': refs('parameters') + inline,
    'response headers': headers.length,
    examples: Object.keys(examples ?? {}).length,
    components: Object.keys((document.components as { schemas: Json }).schemas).length,
    ...Object.fromEntries(Object.entries(violationsIn(document)).map(([rule, places]) => [rule, places.length])),
  };
}

/** Reads a document. By default, that of the repository. */
export const readDocument = async (
  path: string | URL = new URL('../../docs/openapi.json', import.meta.url),
): Promise<Json> => JSON.parse(await readFile(path, 'utf8'));

if (import.meta.main) console.table(countsOf(await readDocument(process.argv[2])));
