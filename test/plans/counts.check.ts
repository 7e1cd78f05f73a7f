import { afterAll, beforeAll, expect, test } from 'vitest';
import { uuidOf } from '../../bench/skewed.ts';
import { countConversations } from '../../src/storage/conversation-counts.ts';
import type { ConversationFilter } from '../../src/storage/conversation-lists.ts';
import type { Storage } from '../../src/storage/orm.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { type Explained, explainTo } from './explained.ts';

const SIZE = Number(process.env.PLANS_ANSWERS ?? 1_000_000);
const TENANT = uuidOf('tenant of counts');
const MEMBER = uuidOf('member 0');

/** One in 20 conversations is open, as many are pending, and the others are resolved. */
const FILL = `
  insert into conversations (tenant_id, id, identity, identity_verified, subject, status, priority, assignee_id, tags,
    source_type, last_seq, last_note_seq, last_preview, last_author_type, user_read_seq, team_read_seq, user_unread,
    team_unread, mentioned, waiting_since, reply_due_at, created_at, updated_at, team_updated_at, last_activity_at)
  select $1, gen_random_uuid(), 'user|' || n % 100000, true, 'Subject ' || n,
    (array['open', 'pending', 'resolved'])[least(1 + n % 20, 3)],
    (array['none', 'low', 'medium', 'high', 'urgent'])[1 + n / 7 % 5],
    case when n % 3 = 0 then null else ($2::uuid[])[1 + n / 11 % 10] end,
    case when n % 10 = 0 then array['vip'] else '{}' end, 'user', 1, 0, repeat('x', 100), 'user', 1, 0, 0,
    (n % 20 = 0)::int, case when n % 50 = 0 then ($2::uuid[])[1 + n / 50 % 10:1 + n / 50 % 10] else '{}' end,
    case when n % 20 = 0 then at end, case when n % 20 = 0 then at + interval '1 hour' end, at, at, at, at
  from generate_series(1, $3::int) as n, lateral (select timestamptz '2026-01-01' + n * interval '10 seconds' as at) as time`;

/** Mentions read the rows of one scan, because their index does not contain the members. */
const MOST_PAGES = 5000;

const SAVED: ConversationFilter[] = [
  { side: 'team', status: 'open', priority: 'urgent' },
  { side: 'team', status: 'open', unread: true },
  { side: 'team', status: 'open', assignee: 'none', priority: 'high' },
  { side: 'team', status: 'open', overdue: true },
  { side: 'team', status: 'pending', assignee: MEMBER },
  { side: 'team', status: 'pending', source: 'user' },
];

const mentioned = { memberId: MEMBER, isMentioned: true };
const VIEWS = new Map<string, ConversationFilter>([
  ['mine', { side: 'team', status: 'open', assignee: MEMBER }],
  ['unassigned', { side: 'team', status: 'open', assignee: 'none' }],
  ['all', { side: 'team', status: 'open' }],
  ['mentions', { side: 'team', status: 'open', mentioned }],
  ...SAVED.map((filter, number): [string, ConversationFilter] => [`saved ${number}`, filter]),
]);

let database: TestDatabase;
let storage: Storage;
beforeAll(async () => {
  database = await createDatabase();
  storage = database.storage();
  const members = Array.from({ length: 10 }, (_, number) => uuidOf(`member ${number}`));
  await database.query(FILL, [TENANT, members, SIZE]);
  await database.query('vacuum analyze conversations');
});
afterAll(() => database[Symbol.asyncDispose]());

test('the counts of an inbox are one statement that reads few pages of its indexes', async () => {
  const statements: Explained[] = [];
  const explained = explainTo(statements, storage);
  const counts = await countConversations(explained.forTenant(TENANT), VIEWS);
  expect(statements.map(({ scanned }) => scanned)).toEqual([[]]);
  expect(statements[0]?.pages, statements[0]?.plan).toBeLessThan(MOST_PAGES);
  expect(counts).toMatchObject({ all: { count: 1000, more: true }, 'saved 5': { count: 1000, more: true } });
  const times: number[] = [];
  for (let time = 0; time < 50; time++) {
    const begun = performance.now();
    await countConversations(storage.forTenant(TENANT), VIEWS);
    times.push(performance.now() - begun);
  }
  console.info(`median ${times.sort((one, other) => one - other)[25]?.toFixed(1)} ms, ${statements[0]?.pages} pages`);
});
