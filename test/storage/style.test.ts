import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { filesUnder, type Source, SRC } from '../support/modules.ts';

const sources: Source[] = filesUnder(SRC).map(path => ({ path, text: readFileSync(join(SRC, path), 'utf8') }));

/** Modules of `src/storage` that fit a pattern, without migrations. */
const storageWith = (modules: Source[], pattern: RegExp): string[] =>
  modules
    .filter(({ path, text }) => /^storage\/(?!migrations\/)/.test(path) && pattern.test(text))
    .map(({ path }) => path);

describe('the SQL of the storage', () => {
  test('takes row locks itself: MikroORM takes none', () => {
    const lockMode = /\blockMode\b|\bLockMode\b|\.lock\(/;
    expect(storageWith(sources, lockMode)).toEqual([]);
    const made = [{ path: 'storage/x.ts', text: 'em.findOne(X, {}, { lockMode: LockMode.PESSIMISTIC_WRITE })' }];
    expect(storageWith(made, lockMode)).toEqual(['storage/x.ts']);
  });

  test('reads pages of lists in one place', () => {
    const batches = ['storage/database/sealed.ts']; // the renewal of secrets reads batches of its own, not pages
    const comparison = /\([\w., ]+\) [<>] \(\$|limit \$\{\w+\.param\(limit \+ 1\)|\$\{columns\}\) \$\{/;
    expect(storageWith(sources, comparison).filter(path => !batches.includes(path))).toEqual([
      'storage/database/lists.ts',
    ]);
    const found = (text: string) => storageWith([{ path: 'storage/x.ts', text }], comparison).length;
    expect(found("where.and('(created_at, id) < ($, $)', ...after)")).toBe(1);
    expect(found(`limit $\{where.param(limit + 1)}`)).toBe(1);
    expect(found("where.and('created_at < $')")).toBe(0);
  });

  test('plans statements in one place', () => {
    const planning = /\benable_\w+|\bplan_cache_mode\b|\bdefinePlanning\b/;
    expect(storageWith(sources, planning)).toEqual(['storage/database/lists.ts', 'storage/database/settings.ts']);
    expect(
      storageWith([{ path: 'storage/x.ts', text: "set_config('enable_sort', 'off', true)" }], planning),
    ).toHaveLength(1);
  });
});
