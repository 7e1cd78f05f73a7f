/**
 * Prints the chart's values in an example: `node .ci/example-values.ts <file>`. They are the file itself, or those in an
 * Application of Argo CD or a HelmRelease of Flux. They get an existing Secret, because Flux renders with access to the
 * cluster and the check without.
 */
import { readFileSync } from 'node:fs';
import { parseAllDocuments, stringify } from 'yaml';

interface Example {
  kind?: string;
  spec?: { values?: object; source?: { helm?: { valuesObject?: object } } };
}

const [file] = process.argv.slice(2);
if (!file) throw new Error('usage: example-values.ts <file>');
const documents = parseAllDocuments(readFileSync(file, 'utf8')).map(document => document.toJS() as Example);
const values = documents.flatMap(example => {
  if (!example.kind) return [example];
  return example.spec?.values ?? example.spec?.source?.helm?.valuesObject ?? [];
});
if (values.length !== 1) throw new Error(`${file} has ${values.length} sets of values instead of one`);
process.stdout.write(stringify({ secrets: { existingSecret: 'parley-secrets' }, ...values[0] }));
