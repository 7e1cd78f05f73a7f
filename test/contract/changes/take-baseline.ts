/** Takes `docs/openapi.json` as the document of the last release. To be run when a release is made. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DOCUMENT, HERE } from '../installed.ts';

const document: unknown = JSON.parse(await readFile(DOCUMENT, 'utf8'));
await writeFile(join(HERE, 'changes/baseline.json'), `${JSON.stringify(document)}\n`);
const accepted = join(HERE, 'changes/accepted.txt');
const lines = (await readFile(accepted, 'utf8')).split('\n');
await writeFile(accepted, `${lines.slice(0, 3).join('\n')}\n`);
