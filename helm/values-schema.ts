/**
 * Generates values.schema.json from values.yaml: `node helm/values-schema.ts`. `--check` only compares the two.
 *
 * The type of a value is that of its default; its description is the helm-docs comment. A line `# @schema {…}` above
 * that comment adds properties. Keys missing in values.yaml are rejected, except inside objects that Kubernetes
 * defines.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isMap, isScalar, isSeq, type Pair, parseDocument, type YAMLMap } from 'yaml';

type Schema = Record<string, unknown>;

const VALUES = resolve(import.meta.dirname, 'values.yaml');
const SCHEMA = resolve(import.meta.dirname, 'values.schema.json');

/** Objects defined by Kubernetes or the user. `global` is shared with parent charts. */
const OPEN = new Set(
  `affinity annotations authenticationRef behavior commonLabels fallback global labels lifecycle nodeSelector
  podAnnotations podLabels podSecurityContext resources ruleLabels securityContext settings strategy timeouts`.split(
    /\s+/,
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

function typeOf(name: string, node: unknown): Schema {
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
    const type = documented.enum ? {} : typeOf(name, pair.value);
    return [name, { ...documented, ...type, ...(documented.type ? { type: documented.type } : {}) }];
  });
  return { type: 'object', additionalProperties: false, properties: Object.fromEntries(properties) };
}

const { contents } = parseDocument(readFileSync(VALUES, 'utf8'));
const text = `${JSON.stringify({ $schema: 'http://json-schema.org/draft-07/schema#', ...objectOf(contents as YAMLMap) }, null, 2)}\n`;
if (!process.argv.includes('--check')) writeFileSync(SCHEMA, text);
else if (readFileSync(SCHEMA, 'utf8') !== text) {
  process.stderr.write('helm/values.schema.json does not match helm/values.yaml: run `node helm/values-schema.ts`\n');
  process.exitCode = 1;
}
