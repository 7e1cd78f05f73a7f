import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');

/** Written next to package.json when an image is built, because an image contains no repository. */
const COMMIT_FILE = '.commit';

const readLine = (...path: string[]): string => readFileSync(join(...path), 'utf8').trim();

/** The folder of a checkout's repository. In a linked worktree, `.git` is a file with its path. */
function repositoryOf(checkout: string): string {
  const path = join(checkout, '.git');
  return statSync(path).isFile() ? resolve(checkout, readLine(path).replace(/^gitdir: /, '')) : path;
}

/** Resolves a branch to its commit, from its own file or from the packed ones. Worktrees share them (`commondir`). */
function commitOfBranch(repository: string, ref: string): string | undefined {
  const shared = existsSync(join(repository, 'commondir'))
    ? resolve(repository, readLine(repository, 'commondir'))
    : repository;
  if (existsSync(join(shared, ref))) return readLine(shared, ref);
  const packed = readLine(shared, 'packed-refs').split('\n');
  return packed.find(line => line.endsWith(` ${ref}`))?.split(' ')[0];
}

/**
 * Returns the commit that a folder was built from or has checked out, or `unknown`.
 *
 * Reads the repository's files instead of running git, which neither images nor all servers have. Changes that are not
 * committed do not show.
 */
export function findCommit(folder: string): string {
  try {
    if (existsSync(join(folder, COMMIT_FILE))) return readLine(folder, COMMIT_FILE);
    const repository = repositoryOf(folder);
    const head = readLine(repository, 'HEAD');
    const commit = head.startsWith('ref: ') ? commitOfBranch(repository, head.slice('ref: '.length)) : head;
    return /^[0-9a-f]{40,64}$/.test(commit ?? '') ? (commit as string) : 'unknown';
  } catch {
    return 'unknown'; // an archive of the source, or a repository in a format of a later git
  }
}

const manifest = JSON.parse(readLine(ROOT, 'package.json')) as { version: string };

/** The running build. */
export const BUILD = { version: manifest.version, commit: findCommit(ROOT), node: process.versions.node } as const;
