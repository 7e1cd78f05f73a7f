import type { ZodOpenApiOverride } from 'zod-openapi';
import { MAX_INT32 } from '../../domain/documented.ts';

type JsonSchema = Record<string, unknown>;

/** Formats that replace zod's patterns, which are long and use lookahead, which RE2 refuses. */
const FORMATS = new Set(['date-time', 'date', 'email', 'uuid', 'uri']);

/** The JSON type of a schema, where references are objects. */
const jsonTypeOf = ({ type, $ref }: JsonSchema): unknown => ($ref === undefined ? type : 'object');

/**
 * Turns a union of different JSON types in a request into `oneOf`. The meaning is the same, since a value has one type, but
 * generators for Rust and Kotlin merge the branches of `anyOf` into one object, which has no place for a number.
 *
 * Replies keep `anyOf`: generated Java clients convert between types, and refuse a value that matches several branches of `oneOf`.
 */
function separateTypes(schema: JsonSchema): void {
  const branches = (schema.anyOf ?? []) as JsonSchema[];
  const types = branches.map(jsonTypeOf).filter(type => typeof type === 'string');
  if (branches.length < 2 || types.includes('null') || new Set(types).size < branches.length) return;
  schema.oneOf = branches;
  delete schema.anyOf;
}

/**
 * Opens the schemas of replies to additions by later versions: members, and values of a list (docs/versioning.md). Ids
 * are opaque, so lengths and patterns are left out. Requests stay strict; their unions of JSON types become `oneOf`.
 *
 * The known values of a list stay in `x-extensible-enum` (docs/decisions/0034-open-replies.md).
 */
export const openReplies: ZodOpenApiOverride = ({ jsonSchema, io }) => {
  const schema = jsonSchema as JsonSchema;
  if (io === 'input') {
    separateTypes(schema);
    return;
  }
  if (schema.additionalProperties === false) delete schema.additionalProperties;
  delete schema.pattern;
  delete schema.maxLength;
  delete schema.maxItems;
  delete schema.uniqueItems;
  const known = schema.enum ?? (typeof schema.const === 'string' ? [schema.const] : undefined);
  if (!Array.isArray(known) || typeof known[0] !== 'string') return;
  schema['x-extensible-enum'] = known;
  delete schema.enum;
  delete schema.const;
};

/**
 * Replaces a list of integers by its bounds, and names the values in the description. Generated Kotlin clients send the members of
 * such a list as strings, or do not compile.
 */
function describeListOfIntegers(schema: JsonSchema): void {
  const { type, enum: values, description } = schema;
  if (type !== 'integer' || !Array.isArray(values)) return;
  const list = `One of ${values.join(', ')}`;
  Object.assign(schema, {
    minimum: Math.min(...values),
    maximum: Math.max(...values),
    description: typeof description === 'string' ? `${list}. ${description}` : list,
  });
  delete schema.enum;
}

/** Integers without bounds of their own, or beyond 32 bits, have 64 bits. */
function describeInteger(schema: JsonSchema): void {
  if (schema.type !== 'integer') return;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  const { minimum, maximum } = schema;
  const isBounded = typeof minimum === 'number' && typeof maximum === 'number' && maximum <= MAX_INT32;
  if (!isBounded && schema.enum === undefined) schema.format = 'int64';
}

/** Numbers have 64 bits. Without a format, generators for Go use 32, which represent 7 digits of a user's value. */
function describeNumber(schema: JsonSchema): void {
  if ([schema.type].flat().includes('number')) schema.format = 'double';
}

/** Joins a nullable schema of a plain type to one with `null` among its types. */
function joinNull(schema: JsonSchema): void {
  const [one, other, ...rest] = (schema.anyOf ?? []) as JsonSchema[];
  if (!one || rest.length > 0 || other?.type !== 'null' || typeof one.type !== 'string') return;
  delete schema.anyOf;
  Object.assign(schema, { ...one, ...schema, type: [one.type, 'null'] });
  if (Array.isArray(one.enum)) schema.enum = [...one.enum, null];
}

/** Splits a list of types, which many generators do not know, into alternatives. */
function splitTypes(schema: JsonSchema): void {
  if (!Array.isArray(schema.type) || (schema.type.length === 2 && schema.type[1] === 'null')) return;
  schema.anyOf = schema.type.map(type => ({ type }));
  delete schema.type;
}

/** An object whose members have names of the caller's choice is described by the schema of their values only. */
function dropNoProperties(schema: JsonSchema): void {
  const { properties, additionalProperties } = schema;
  const hasNone = typeof properties === 'object' && properties !== null && Object.keys(properties).length === 0;
  if (hasNone && typeof additionalProperties === 'object') delete schema.properties;
}

/**
 * Moves the defaults of members into their descriptions. Some generators require members with a default, because a reply
 * would have them. Query parameters keep theirs.
 */
function describeDefaults({ properties = {} }: JsonSchema): void {
  for (const member of Object.values(properties as Record<string, JsonSchema>)) {
    if (!('default' in member)) continue;
    const about = typeof member.description === 'string' ? [member.description.replace(/\.$/, '')] : [];
    if (typeof member.default !== 'object')
      member.description = [...about, `Default: \`${JSON.stringify(member.default)}\``].join('. ');
    delete member.default;
  }
}

function simplify(schema: JsonSchema): void {
  if (FORMATS.has(schema.format as string)) delete schema.pattern;
  describeDefaults(schema);
  describeListOfIntegers(schema);
  describeInteger(schema);
  splitTypes(schema);
  for (const each of [schema, ...((schema.anyOf ?? []) as JsonSchema[])]) describeNumber(each);
  joinNull(schema);
  dropNoProperties(schema);
}

/** Converts each schema below a part of the document to a form that generators support. Examples stay as they are. */
export function simplifySchemas(part: unknown): void {
  if (typeof part !== 'object' || part === null) return;
  for (const [key, child] of Object.entries(part)) if (key !== 'example' && key !== 'examples') simplifySchemas(child);
  if (!Array.isArray(part)) simplify(part as JsonSchema);
}

/** Copies the description of a parameter's schema to the parameter, where linters and viewers look for it. */
export function describeParameters({ paths }: { paths?: unknown }): void {
  for (const item of Object.values((paths ?? {}) as Record<string, Record<string, { parameters?: JsonSchema[] }>>))
    for (const { parameters = [] } of Object.values(item))
      for (const parameter of parameters) {
        const { description } = (parameter.schema ?? {}) as JsonSchema;
        if (description !== undefined) parameter.description ??= description;
      }
}

function* refsIn(part: unknown): Generator<string> {
  if (typeof part !== 'object' || part === null) return;
  for (const [key, child] of Object.entries(part))
    if (key === '$ref' && typeof child === 'string') yield child;
    else if (key !== 'mapping') yield* refsIn(child);
}

type Components = Record<string, Record<string, unknown> | undefined>;

/** Removes schemas that no part of the document refers to: variants for replies of schemas used only in requests. */
export function removeUnused(document: { components?: unknown }): void {
  const components = document.components as Components;
  for (let hasMore = true; hasMore; ) {
    const used = new Set(refsIn(document));
    hasMore = false;
    for (const name of Object.keys(components.schemas ?? {})) {
      if (used.has(`#/components/schemas/${name}`)) continue;
      delete components.schemas?.[name];
      hasMore = true;
    }
  }
}
