import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fillSkewed, type Skew, skewedTenants } from '../../bench/skewed.ts';
import type { Caller } from '../../src/api/caller.ts';
import type { Operation } from '../../src/api/operation.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import {
  callers,
  expectCheapWithAnyFilters,
  filtersOf,
  LISTS,
  type ListReads,
  MOST_PAGES,
  openListReads,
  type Query,
  reportDearest,
  valuesOf,
} from './list-reads.ts';
import { fillRest } from './rest.ts';

const SIZE = Number(process.env.PLANS_ANSWERS ?? 1_000_000);
const SKEW: Skew = {
  answers: SIZE,
  conversations: Number(process.env.PLANS_CONVERSATIONS ?? SIZE / 10),
  messagesEach: 3,
  identities: SIZE / 5,
  entries: SIZE / 20,
  tenants: 400,
};
const [LARGE = '', SMALL = ''] = skewedTenants(SKEW);

let database: TestDatabase;
let reads: ListReads;

beforeAll(async () => {
  database = await createDatabase();
  await fillSkewed(database.url, SKEW);
  await fillRest(database, [
    [LARGE, SIZE / 20],
    [SMALL, 100],
  ]);
  reads = openListReads(database.url);
});
afterAll(async () => {
  if (process.env.PLANS_REPORT) writeFileSync(process.env.PLANS_REPORT, reportDearest(`${SIZE} answers`));
  await reads?.close();
  await database?.[Symbol.asyncDispose]();
});

test('the answers of one identity read few pages, and those of one with very many as many as any list', async () => {
  const list = LISTS.find(({ id }) => id === 'listAnswers') as Operation;
  const caller = callers(LARGE).session as Partial<Caller>;
  const pages = async (query: Query) => {
    const { statements, page } = await reads.read(list, caller, query, null);
    return { pages: statements.reduce((sum, statement) => sum + statement.pages, 0), rows: page.rows.length };
  };
  for (const more of [{}, { state: 'partial' }, { q: 'w' }, { updated_since: '2026-01-01T00:00:00.000Z' }] as Query[]) {
    expect((await pages({ identity: 'user|1', ...more })).pages).toBeLessThan(200);
    expect((await pages({ identity: 'nobody', ...more })).pages).toBeLessThan(50);
    expect((await pages({ identity: 'user|busy', ...more })).pages).toBeLessThan(MOST_PAGES);
  }
  expect(await pages({ identity: 'user|1' })).toMatchObject({ rows: Math.ceil(SIZE / 200_000) });
  expect((await pages({ identity: 'user|busy' })).rows).toBe(10);
});

test('there are values for each parameter of each list', () => {
  const missing = LISTS.flatMap(list =>
    filtersOf(list)
      .filter(name => !valuesOf(list, name))
      .map(name => `${list.id} ${name}`),
  );
  expect(missing).toEqual([]);
  expect(LISTS.length).toBeGreaterThan(8);
});

describe.each(LISTS.map(list => [list.id, list] as const))('%s', (_, list) => {
  test.each([
    ['of the large tenant', LARGE],
    ['of a small tenant', SMALL],
  ])(
    '%s reads few pages with any filters',
    (__, tenantId) => expectCheapWithAnyFilters(reads, list, tenantId),
    1_200_000,
  );
});
