/**
 * Generates values.schema.json from values.yaml: `node helm/values-schema.ts`. `--check` only compares the two.
 *
 * The type of a value is that of its default, or the schema of its name in object-schemas.ts; its description is the
 * helm-docs comment, which every value must have. A line `# @schema {…}` above that comment adds properties. Keys missing
 * in values.yaml are rejected, except inside objects that Kubernetes defines.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isMap, isScalar, isSeq, type Pair, parseDocument, type YAMLMap } from 'yaml';
import { SECRET_SETTINGS, settingSchemas } from '../src/platform/config.ts';
import { GLOBAL, OBJECT_SCHEMAS } from './object-schemas.ts';

/** Settings that the chart makes itself: for ports and folders in the pod. */
const SET_BY_CHART = new Set(['PORT', 'HOST', 'METRICS_PORT', 'DATA_DIR']);

type Schema = Record<string, unknown>;

const VALUES = resolve(import.meta.dirname, 'values.yaml');
const SCHEMA = resolve(import.meta.dirname, 'values.schema.json');

/** Objects defined by Kubernetes whose fields are not checked. */
const OPEN = new Set(
  `affinity authenticationRef behavior fallback lifecycle podSecurityContext securityContext settings strategy timeouts`.split(
    ' ',
  ),
);
/** Probes that null disables. */
const PROBES = new Set(['startup', 'liveness', 'readiness']);

const commentOf = (pair: Pair, first: boolean, map: YAMLMap): string =>
  (pair.key as { commentBefore?: string }).commentBefore ?? (first ? map.commentBefore : undefined) ?? '';

/** Parses the comment of a value: its description and the properties from `@schema`. */
function readComment(comment: string): Schema {
  const lines = comment.split('\n').map(line => line.trim());
  const description = lines.find(line => line.startsWith('-- '))?.slice(3);
  const added = lines.find(line => line.startsWith('@schema '))?.slice('@schema '.length);
  return { ...(description && { description }), ...(added && (JSON.parse(added) as Schema)) };
}

/** Accepts numbers also as text, as `--set-string` and quoted values pass them. */
const orText = (form: Schema): Schema =>
  form.type === 'integer' || form.type === 'number'
    ? { ...form, type: [form.type, 'string'], pattern: form.type === 'integer' ? '^[0-9]+$' : '^[0-9]+([.][0-9]+)?$' }
    : { type: 'string', ...form };

/** The settings that are not secret. Unknown names are refused, as they would be by the process. */
const settingsSchema = (): Schema => {
  const secret: readonly string[] = SECRET_SETTINGS;
  const entries = Object.entries(settingSchemas()).filter(
    ([name]) => !secret.includes(name) && !SET_BY_CHART.has(name),
  );
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(entries.map(([name, form]) => [name, orText(form)])),
  };
};

function typeOf(name: string, node: unknown): Schema {
  // `allOf`, because draft 7 ignores a description next to `$ref`.
  if ((isMap(node) || isSeq(node)) && OBJECT_SCHEMAS[name]) return { allOf: [{ $ref: `#/definitions/${name}` }] };
  if (name === 'global') return { ...objectOf(node as YAMLMap), ...GLOBAL };
  if (PROBES.has(name)) return { type: ['object', 'null'] };
  if (isMap(node)) return node.items.length === 0 || OPEN.has(name) ? { type: 'object' } : objectOf(node);
  if (isSeq(node)) return { type: 'array' };
  const value = isScalar(node) ? node.value : undefined;
  if (typeof value === 'number') return { type: 'integer' };
  return value === null || value === undefined ? {} : { type: typeof value };
}

function objectOf(map: YAMLMap): Schema {
  const properties = map.items.map((pair, index) => {
    const name = String((pair.key as { value: unknown }).value);
    const documented = readComment(commentOf(pair, index === 0, map));
    if (documented.$settings) return [name, { description: documented.description, ...settingsSchema() }];
    const type = documented.enum ? {} : typeOf(name, pair.value);
    if (!documented.description && !type.properties && !PROBES.has(name)) throw new Error(`${name} has no description`);
    return [name, { ...documented, ...type, ...(documented.type ? { type: documented.type } : {}) }];
  });
  return { type: 'object', additionalProperties: false, properties: Object.fromEntries(properties) };
}

const { contents } = parseDocument(readFileSync(VALUES, 'utf8'));
const schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  definitions: OBJECT_SCHEMAS,
  ...objectOf(contents as YAMLMap),
};
const text = `${JSON.stringify(schema, null, 2)}\n`;
if (!process.argv.includes('--check')) writeFileSync(SCHEMA, text);
else if (readFileSync(SCHEMA, 'utf8') !== text) {
  process.stderr.write('helm/values.schema.json does not match helm/values.yaml: run `node helm/values-schema.ts`\n');
  process.exitCode = 1;
}
