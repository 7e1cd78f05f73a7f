import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LISTS as COMPARED, rawSql } from '../../bench/inbox-lists.ts';
import { fillInbox, INBOX_VIEWS, NEIGHBOUR } from '../../bench/inbox-world.ts';
import { uuidOf } from '../../bench/skewed.ts';
import type { Operation } from '../../src/api/operation.ts';
import { countConversations } from '../../src/storage/conversations/conversation-counts.ts';
import { listConversations } from '../../src/storage/conversations/conversation-lists.ts';
import type { Storage } from '../../src/storage/database/orm.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { type Explained, explainRaw, explainTo } from './explained.ts';
import { expectCheapWithAnyFilters, LISTS, type ListReads, openListReads, reportDearest } from './list-reads.ts';

const SIZE = Number(process.env.PLANS_CONVERSATIONS ?? process.env.PLANS_ANSWERS ?? 1_000_000);
const TENANT = uuidOf('tenant of an inbox');

/** Mentions read the rows of one scan, at most 2,000, because their index does not contain the members. */
const MOST_PAGES = 2500;

let database: TestDatabase;
let storage: Storage;
let reads: ListReads;
beforeAll(async () => {
  database = await createDatabase();
  storage = database.storage();
  await fillInbox((sql, params) => database.query(sql, params as never), TENANT, SIZE);
  reads = openListReads(database.url);
});
afterAll(async () => {
  if (process.env.PLANS_INBOX_REPORT)
    writeFileSync(process.env.PLANS_INBOX_REPORT, reportDearest(`${SIZE} conversations of one tenant`));
  await reads?.close();
  await database?.[Symbol.asyncDispose]();
});

test('the counts of an inbox are one statement that reads few pages of its indexes', async () => {
  const statements: Explained[] = [];
  const explained = explainTo(statements, storage);
  const counts = await countConversations(explained.forTenant(TENANT), INBOX_VIEWS);
  expect(statements.map(({ scanned }) => scanned)).toEqual([[]]);
  expect(statements[0]?.pages, statements[0]?.plan).toBeLessThan(MOST_PAGES);
  expect(counts).toMatchObject({ all: { count: 1000, more: true }, 'pending, by users': { count: 1000, more: true } });
  const times: number[] = [];
  for (let time = 0; time < 50; time++) {
    const begun = performance.now();
    await countConversations(storage.forTenant(TENANT), INBOX_VIEWS);
    times.push(performance.now() - begun);
  }
  console.info(`median ${times.sort((one, other) => one - other)[25]?.toFixed(1)} ms, ${statements[0]?.pages} pages`);
});

const conversations = LISTS.find(({ id }) => id === 'listConversations') as Operation;

test.each([
  ['the large tenant', TENANT],
  ['a small tenant', NEIGHBOUR],
])(
  'the conversations of %s read few pages with any filters',
  (_, tenantId) => expectCheapWithAnyFilters(reads, conversations, tenantId),
  1_200_000,
);

test.each(Object.entries(COMPARED))(
  'the list "%s" reads as many pages as a query for only this list',
  async (_, compared) => {
    const statements: Explained[] = [];
    const tenant = explainTo(statements, storage).forTenant(TENANT);
    await listConversations(tenant, { side: 'team', ...compared.filter }, 10, null);
    const raw = await explainRaw(database, rawSql(compared).replace('$1', `'${TENANT}'`));
    const pages = statements.reduce((sum, statement) => sum + statement.pages, 0);
    expect(pages, statements.map(({ plan }) => plan).join('\n')).toBeLessThanOrEqual(Math.ceil(1.2 * raw));
  },
);
