/**
 * values.schema.json, made from values.yaml: `node helm/values-schema.ts` writes it, with `--check` it only compares.
 *
 * A value's type is that of its default, its description the comment that helm-docs shows too. A line `# @schema {…}`
 * above that comment adds to it. A key that values.yaml does not name is refused, but where Kubernetes says what belongs.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isMap, isScalar, isSeq, type Pair, parseDocument, type YAMLMap } from 'yaml';

type Schema = Record<string, unknown>;

const VALUES = resolve(import.meta.dirname, 'values.yaml');
const SCHEMA = resolve(import.meta.dirname, 'values.schema.json');

/** Values whose content is Kubernetes' or the user's own. `global` is shared with whatever chart brings this one. */
const OPEN = new Set(
  `affinity annotations authenticationRef behavior commonLabels fallback global labels lifecycle nodeSelector
  podAnnotations podLabels podSecurityContext resources ruleLabels securityContext settings strategy timeouts`.split(/\s+/),
);
/** Of these a whole one may be taken away by null. */
const PROBES = new Set(['startup', 'liveness', 'readiness']);

const commentOf = (pair: Pair, first: boolean, map: YAMLMap): string =>
  (pair.key as { commentBefore?: string }).commentBefore ?? (first ? map.commentBefore : undefined) ?? '';

/** What the comment says of a value: its description, and what `@schema` adds. */
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
    const said = readComment(commentOf(pair, index === 0, map));
    const type = said.enum ? {} : typeOf(name, pair.value);
    return [name, { ...said, ...type, ...(said.type ? { type: said.type } : {}) }];
  });
  return { type: 'object', additionalProperties: false, properties: Object.fromEntries(properties) };
}

const { contents } = parseDocument(readFileSync(VALUES, 'utf8'));
const text = `${JSON.stringify({ $schema: 'http://json-schema.org/draft-07/schema#', ...objectOf(contents as YAMLMap) }, null, 2)}\n`;
if (!process.argv.includes('--check')) writeFileSync(SCHEMA, text);
else if (readFileSync(SCHEMA, 'utf8') !== text) {
  process.stderr.write('helm/values.schema.json does not fit helm/values.yaml: run `node helm/values-schema.ts`\n');
  process.exitCode = 1;
}
