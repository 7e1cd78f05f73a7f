import type { ZodOpenApiOverride } from 'zod-openapi';
import { MAX_INT32 } from '../../domain/documented.ts';

type JsonSchema = Record<string, unknown>;

/** Formats that replace zod's patterns, which are long and use lookahead, which RE2 refuses. */
const FORMATS = new Set(['date-time', 'date', 'email', 'uuid', 'uri']);

/**
 * Opens the schemas of replies to additions by later versions: members, and values of a list (docs/versioning.md). Ids
 * are opaque, so lengths and patterns are left out. Requests stay strict.
 *
 * The known values of a list stay in `x-extensible-enum` (docs/decisions/0034-open-replies.md).
 */
export const openReplies: ZodOpenApiOverride = ({ jsonSchema, io }) => {
  if (io === 'input') return;
  const schema = jsonSchema as JsonSchema;
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

/** Integers without bounds of their own, or beyond 32 bits, have 64 bits. */
function describeInteger(schema: JsonSchema): void {
  if (schema.type !== 'integer') return;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  const { minimum, maximum } = schema;
  const isBounded = typeof minimum === 'number' && typeof maximum === 'number' && maximum <= MAX_INT32;
  if (!isBounded && schema.enum === undefined) schema.format = 'int64';
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
  describeInteger(schema);
  splitTypes(schema);
  joinNull(schema);
  dropNoProperties(schema);
}

/** Converts each schema below a part of the document to a form that generators support. Examples stay as they are. */
export function simplifySchemas(part: unknown): void {
  if (typeof part !== 'object' || part === null) return;
  for (const [key, child] of Object.entries(part)) if (key !== 'example' && key !== 'examples') simplifySchemas(child);
  if (!Array.isArray(part)) simplify(part as JsonSchema);
}

function* refsIn(part: unknown): Generator<string> {
  if (typeof part !== 'object' || part === null) return;
  for (const [key, child] of Object.entries(part))
    if (key === '$ref' && typeof child === 'string') yield child;
    else if (key !== 'mapping') yield* refsIn(child);
}

type Components = Record<string, Record<string, unknown> | undefined>;

/**
 * Removes schemas and examples that no part of the document refers to: variants for replies of schemas used only in
 * requests, and examples of items that occur only in pages.
 */
export function removeUnused(document: { components?: unknown }): void {
  const components = document.components as Components;
  for (let hasMore = true; hasMore; ) {
    const used = new Set(refsIn(document));
    hasMore = false;
    for (const kind of ['schemas', 'examples'])
      for (const name of Object.keys(components[kind] ?? {})) {
        if (used.has(`#/components/${kind}/${name}`)) continue;
        delete components[kind]?.[name];
        hasMore = true;
      }
  }
}
