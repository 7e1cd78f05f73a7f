import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findCommit } from '../../src/platform/build-info.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-commit-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const git = (...args: string[]): string =>
  execFileSync('git', ['-C', folder, '-c', 'user.name=T', '-c', 'user.email=t@example.com', ...args], {
    encoding: 'utf8',
    stdio: 'pipe',
  }).trim();

const commit = (): string => {
  git('commit', '--quiet', '--allow-empty', '--message', 'x');
  return git('rev-parse', 'HEAD');
};

test('the commit of a checkout is that of its branch, packed or not, or of a detached head', () => {
  git('init', '--quiet');
  expect(findCommit(folder)).toBe('unknown');
  const first = commit();
  expect(findCommit(folder)).toBe(first);
  git('pack-refs', '--all');
  expect(findCommit(folder)).toBe(first);
  const second = commit();
  expect(findCommit(folder)).toBe(second);
  git('checkout', '--quiet', '--detach', first);
  expect(findCommit(folder)).toBe(first);
});

test('a linked worktree has the commit of its own branch', () => {
  git('init', '--quiet');
  const first = commit();
  git('worktree', 'add', '--quiet', '-b', 'other', join(folder, 'tree'));
  commit();
  expect(findCommit(join(folder, 'tree'))).toBe(first);
  git('pack-refs', '--all');
  expect(findCommit(join(folder, 'tree'))).toBe(first);
});

test('the commit of an image comes first, and an archive of the source has none', () => {
  expect(findCommit(folder)).toBe('unknown');
  writeFileSync(join(folder, '.commit'), 'abc\n');
  expect(findCommit(folder)).toBe('abc');
});

test('a damaged repository does not prevent the start', () => {
  mkdirSync(join(folder, '.git'));
  writeFileSync(join(folder, '.git/HEAD'), 'ref: refs/heads/.invalid\n');
  expect(findCommit(folder)).toBe('unknown');
  writeFileSync(join(folder, '.git/HEAD'), 'what is this');
  expect(findCommit(folder)).toBe('unknown');
});
