import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, '../..');

/** The commit that added this file is the oldest one from which upgrades must work, until there is a release. */
const BASELINE = 'src/storage/migrations/20270202-baseline.ts';

/** Why tests with the previous version are left out where `findPrevious` returns none. */
export const NO_PREVIOUS =
  'left out: there is no commit after the one with the baseline of the schema, from which upgrades must work (PARLEY_PREVIOUS sets another version)';

const git = (...args: string[]): string => execFileSync('git', ['-C', ROOT, ...args], { encoding: 'utf8' }).trim();

/** Returns the previous version: `PARLEY_PREVIOUS`, or the commit with the baseline, unless that is the current one. */
export function findPrevious(): string | undefined {
  if (process.env.PARLEY_PREVIOUS) return process.env.PARLEY_PREVIOUS;
  const added = git('log', '--diff-filter=A', '--format=%H', '--', BASELINE).split('\n').at(-1);
  return added && added !== git('rev-parse', 'HEAD') ? added : undefined;
}

/** The runnable source of the previous version in its own folder. */
export interface PreviousVersion extends Disposable {
  folder: string;
  /** Path of its executable, `src/main.ts`. */
  program: string;
  /** The commit, tag or branch that was checked out. */
  ref: string;
}

/**
 * Checks out the previous version next to this one, with its own dependencies if its lock file differs.
 *
 * Rejects with git's message if the commit is not in the local clone.
 */
export async function checkOutPrevious(ref: string): Promise<PreviousVersion> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-previous-'));
  const archive = join(folder, 'source.tar');
  await run('git', ['-C', ROOT, 'archive', '--output', archive, ref]);
  await run('tar', ['-xf', archive, '-C', folder]);
  const sameLock = await run('cmp', [join(ROOT, 'package-lock.json'), join(folder, 'package-lock.json')]).then(
    () => true,
    () => false, // cmp exits with 1 when the files differ
  );
  if (sameLock) symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  else await run('npm', ['ci', '--omit=dev'], { cwd: folder });
  return {
    folder,
    program: join(folder, 'src/main.ts'),
    ref,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}
