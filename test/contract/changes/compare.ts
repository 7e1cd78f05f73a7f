import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readDocument } from '../../support/openapi.ts';
import { HERE, outcomeOf } from '../installed.ts';

/** Changes that break the promise of docs/versioning.md and were accepted all the same, each with its reason. */
const ACCEPTED = join(HERE, 'changes/accepted.txt');

/** The known values of every open list of values, as `Question/properties/status: live`. */
function* knownValuesIn(part: unknown, at = ''): Generator<string> {
  if (typeof part !== 'object' || part === null) return;
  for (const [key, child] of Object.entries(part))
    if (key === 'x-extensible-enum' && Array.isArray(child)) for (const value of child) yield `${at}: ${value}`;
    else yield* knownValuesIn(child, at === '' ? key : `${at}/${key}`);
}

const schemasOf = async (path: string): Promise<unknown> =>
  ((await readDocument(path)).components as { schemas: unknown }).schemas;

/** The known values that a document no longer lists. oasdiff does not compare those of replies. */
async function removedValues(base: string, revision: string): Promise<string[]> {
  const left = new Set(knownValuesIn(await schemasOf(revision)));
  return [...knownValuesIn(await schemasOf(base))].filter(value => !left.has(value));
}

/** Returns the changes from one document to another that could break a caller, as text; empty if all are additions. */
export async function breakingChanges(
  oasdiff: string,
  base: string,
  revision: string,
  accepted = ACCEPTED,
): Promise<string> {
  const files = ['--severity-levels', join(HERE, 'changes/severity.txt')];
  const ignored = ['--err-ignore', accepted, '--warn-ignore', accepted];
  const options = ['--fail-on', 'WARN', '--format', 'singleline', '--color', 'never'];
  const { code, output } = await outcomeOf(oasdiff, ['breaking', base, revision, ...files, ...ignored, ...options]);
  const lines = (await readFile(accepted, 'utf8')).split('\n');
  const removed = (await removedValues(base, revision))
    .map(value => `known value removed: ${value}`)
    .filter(line => !lines.includes(line));
  return [...(code === 0 ? [] : [output]), ...removed].join('\n');
}
