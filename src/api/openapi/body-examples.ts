import { EXAMPLE_TIME } from '../../domain/documented.ts';
import { EXAMPLE_UUID } from '../../domain/ids.ts';

type Json = Record<string, unknown>;
type Schemas = Record<string, Json>;

/** The example text for each format. */
const BY_FORMAT: Json = { 'date-time': EXAMPLE_TIME, uuid: EXAMPLE_UUID };

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const nameIn = (ref: unknown): string => String(ref).split('/').at(-1) as string;

const branchesOf = ({ anyOf, oneOf }: Json): Json[] => (anyOf ?? oneOf ?? []) as Json[];

/** Returns an example of a value that is neither an object nor a list; undefined if its type has no obvious one. */
function exampleOfValue({ type, format, minimum, const: only, ...schema }: Json): unknown {
  const [first] = (schema.enum ?? schema['x-extensible-enum'] ?? []) as unknown[];
  if (type === 'boolean') return only ?? false;
  return only ?? first ?? BY_FORMAT[format as string] ?? (Number(minimum) >= 0 ? minimum : undefined);
}

function composeObject(schemas: Schemas, schema: Json, given: Json | undefined): Json {
  const { properties = {}, required = [], additionalProperties } = schema as { [name: string]: Schemas };
  const hasExample = (member: Json) => 'example' in { ...schemas[nameIn(member.$ref)], ...member };
  const shown = Object.keys(properties).filter(
    name =>
      (required as unknown as string[]).includes(name) ||
      (given ? name in given : hasExample(properties[name] as Json)),
  );
  const composed = [...new Set([...shown, ...Object.keys(given ?? {})])].map(name => {
    const value = composeExample(schemas, properties[name] ?? (additionalProperties as Json) ?? {}, given?.[name]);
    if (value === undefined) throw new Error(`The schema of "${name}" has no example: ${JSON.stringify(properties)}`);
    return [name, value];
  });
  return Object.fromEntries(composed);
}

/**
 * Returns a schema's example, composed from its members' examples: each required member, and each optional one with an `example`.
 *
 * The `example` of an object has the members that differ, and chooses the optional ones. One `given` by the schema around it
 * replaces its own, unless it is `{}`. A value that may be null is null without an `example`.
 */
function composeExample(schemas: Schemas, schema: Json, given?: unknown): unknown {
  const isOwn = given === undefined || (isObject(given) && Object.keys(given).length === 0);
  const example = isOwn ? (schema.example ?? given) : given;
  if (example === null) return null;
  if (schema.$ref !== undefined) return composeExample(schemas, schemas[nameIn(schema.$ref)] as Json, example);
  const [branch, ...others] = branchesOf(schema).filter(({ type }) => type !== 'null');
  const types = [schema.type, ...branchesOf(schema).map(({ type }) => type)].flat();
  if (example === undefined && types.includes('null')) return null;
  if (branch) return example === undefined || others.length === 0 ? composeExample(schemas, branch, example) : example;
  if (schema.type === 'object') return composeObject(schemas, schema, example as Json | undefined);
  if (schema.type !== 'array') return example ?? exampleOfValue(schema);
  const items = (example ?? [undefined]) as unknown[];
  return items.map(item => composeExample(schemas, schema.items as Json, item)).filter(item => item !== undefined);
}

/** Returns a body's examples by name: one, or one for each kind of object that it can be and for each of its `variants`. */
function examplesOf(schemas: Schemas, name: string): [string, unknown][] {
  const schema = schemas[name] as Json;
  const [, ...others] = branchesOf(schema);
  const variants = Object.entries((schema.variants ?? {}) as Json);
  return [
    ['default', composeExample(schemas, schema)],
    ...others.map((kind): [string, unknown] => [nameIn(kind.$ref), composeExample(schemas, kind)]),
    ...variants.map(([key, given]): [string, unknown] => [key, composeExample(schemas, schema, given)]),
  ];
}

function* bodiesIn(part: unknown): Generator<Json> {
  if (!isObject(part)) return;
  for (const [key, child] of Object.entries(part))
    if (key === 'application/json') yield child as Json;
    else yield* bodiesIn(child);
}

/** Removes from schemas the examples of objects and lists, which are only parts of one, and the variants. */
function removeParts(part: unknown): void {
  if (typeof part !== 'object' || part === null) return;
  for (const child of Object.values(part)) removeParts(child);
  const schema = part as Json;
  if (typeof schema.example === 'object') delete schema.example;
  delete schema.variants;
}

/** Adds examples to the bodies of all operations, composed from those in their schemas. */
export function addBodyExamples({ paths, components }: { paths?: unknown; components?: unknown }): void {
  const { schemas, examples } = components as { schemas: Schemas; examples: Json };
  for (const content of bodiesIn(paths)) {
    const name = nameIn((content.schema as Json).$ref);
    const refs = examplesOf(schemas, name).map(([key, value]) => {
      const component = key === 'default' ? name : `${name}.${key}`;
      examples[component] = { value };
      return [key, { $ref: `#/components/examples/${component}` }];
    });
    content.examples = Object.fromEntries(refs);
  }
  removeParts(schemas);
}
