import { expect, test } from 'vitest';
import { uuidOf } from '../../bench/skewed.ts';
import { countConversations } from '../../src/storage/conversations/conversation-counts.ts';
import type { ConversationFilter } from '../../src/storage/conversations/conversation-lists.ts';
import { preparedTexts } from '../../src/storage/database/transaction.ts';
import { callers, LISTS, openListReads, queriesOf } from '../plans/list-reads.ts';
import { createDatabase } from '../support/database.ts';

/** More than all lists have with the conditions for which there is an index, on all pages. */
const MOST_PREPARED = 80;

const SOME_FILTERS: ConversationFilter[] = [
  { side: 'team', status: 'open' },
  { side: 'team', assignee: 'none' },
  { side: 'team', tag: 'vip', priority: 'urgent' },
  { side: 'team', unread: true, source: 'api' },
  { side: 'team', overdue: true },
  { side: 'team', identity: 'user|1' },
  { side: 'team', verified: false, status: 'pending' },
];

/** Every set of these views, as the members of different tenants may have saved them. */
const setsOfViews = (): Map<string, ConversationFilter>[] =>
  Array.from(
    { length: 2 ** SOME_FILTERS.length - 1 },
    (_, set) =>
      new Map(SOME_FILTERS.flatMap((filter, index) => ((set + 1) & (1 << index) ? [[`${index}`, filter]] : []))),
  );

test('combinations of filters and of saved views prepare no statements of their own', async () => {
  await using database = await createDatabase();
  const tenantId = uuidOf('tenant');
  const reads = openListReads(database.url, false);
  const before = new Set(preparedTexts());
  const owner = callers(tenantId).session ?? {};
  let sent = 0;
  for (const list of LISTS.filter(({ id, credentials }) => credentials.includes('session') && id !== 'listMessages'))
    for (const query of queriesOf(list).filter((_, index) => index % 3 === 0)) {
      await reads.read(list, owner, query, null).catch(error => {
        if (error?.code !== 'resource-not-found') throw error;
      });
      sent++;
    }
  const tenant = database.storage().forTenant(tenantId);
  for (const views of setsOfViews()) await countConversations(tenant, views);
  await reads.close();
  const prepared = preparedTexts().filter(sql => !before.has(sql));
  expect(sent).toBeGreaterThan(400);
  expect(prepared.length).toBeLessThan(MOST_PREPARED);
});
