/**
 * Generates JSON schemas from definitions of custom resources: `node .ci/crd-schemas.ts <folder> <definition.yaml>…`.
 *
 * Writes a file for each kind and version under the name that kubeconform expects. The schemas reject unknown fields, which
 * the API server would only drop.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

type Schema = { [key: string]: unknown };

interface Definition {
  kind: string;
  spec: { group: string; names: { kind: string }; versions: { name: string; schema: { openAPIV3Schema: Schema } }[] };
}

/** Rejects unknown properties of objects with declared ones; expands `int-or-string`, which is specific to Kubernetes. */
function close(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(close);
  if (typeof node !== 'object' || node === null) return node;
  const closed = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, close(value)])) as Schema;
  if (closed['x-kubernetes-int-or-string']) return { oneOf: [{ type: 'integer' }, { type: 'string' }] };
  const isOpen = closed['x-kubernetes-preserve-unknown-fields'] || 'additionalProperties' in closed;
  return closed.type === 'object' && closed.properties && !isOpen ? { ...closed, additionalProperties: false } : closed;
}

const [folder, ...files] = process.argv.slice(2);
if (!folder || files.length === 0) throw new Error('usage: crd-schemas.ts <folder> <definition.yaml>…');
for (const file of files)
  for (const document of parseAllDocuments(readFileSync(file, 'utf8'))) {
    const definition = document.toJS() as Definition | null;
    if (definition?.kind !== 'CustomResourceDefinition') continue;
    const { group, names, versions } = definition.spec;
    for (const { name, schema } of versions)
      writeFileSync(
        join(folder, `${names.kind.toLowerCase()}-${group}-${name}.json`),
        JSON.stringify({
          ...(close(schema.openAPIV3Schema) as Schema),
          properties: { ...(close(schema.openAPIV3Schema.properties) as Schema), metadata: { type: 'object' } },
        }),
      );
  }
