import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, '../..');

/** The oldest commit from which upgrades must work, until there is a release. `PARLEY_PREVIOUS` overrides it. */
const PREVIOUS = '17192f9';

/** The runnable source of the previous version in its own folder. */
export interface PreviousVersion extends Disposable {
  /** Path of its executable, `src/main.ts`. */
  program: string;
  /** The commit, tag or branch that was checked out. */
  ref: string;
}

/**
 * Checks out the previous version next to this one, with its own dependencies if its lock file differs.
 *
 * Needs the commit in the local clone; a shallow clone rejects with git's message.
 */
export async function checkOutPrevious(): Promise<PreviousVersion> {
  const ref = process.env.PARLEY_PREVIOUS ?? PREVIOUS;
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
    program: join(folder, 'src/main.ts'),
    ref,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}
