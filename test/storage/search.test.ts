import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listAnswers } from '../../src/storage/answers.ts';
import { listConversations } from '../../src/storage/conversations.ts';
import type { Storage, TenantStorage } from '../../src/storage/orm.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

const ROWS = 100_000;
const QUESTION = v7();
const MEMBER = v7();

let database: TestDatabase;
let app: Storage;
/** A tenant with 100,000 answers and as many conversations, of which few are marked in one way or another. */
let large: TenantStorage;
let small: TenantStorage;

const seed = (tenantId: string, rows: number) => [
  database.query(
    `insert into answers (tenant_id, id, identity, identity_verified, card_id, question_id, question_version, revision,
       state, "values", comment, metadata, content_hash, tags, received_at, stored_at, updated_at)
     select $1, gen_random_uuid(), 'user|' || n, true, $2, $2, 1, 1, 'completed', '{"main": 9}',
       case when n % 10 = 0 then 'everyday words' || case when n % 10000 = 0 then ' and a needle' else '' end end,
       '{}', 'x', case when n % 9999 = 0 then array['vip'] else '{}' end, at, at, at
     from generate_series(1, $3::int) as n, lateral (select timestamptz '2026-01-01' + n * interval '1 second' as at)`,
    [tenantId, QUESTION, rows],
  ),
  database.query(
    `with made as (
       insert into conversations (tenant_id, id, identity, identity_verified, subject, status, priority, assignee_id, tags,
         source_type, last_seq, last_note_seq, last_preview, last_author_type, user_read_seq, team_read_seq, user_unread,
         team_unread, created_at, updated_at, team_updated_at, last_activity_at)
       select $1, gen_random_uuid(), 'user|' || n, true, '', 'open', 'none', case when n % 9999 = 0 then $2::uuid end,
         case when n % 9999 = 0 then array['vip'] else '{}' end, 'user', 1, 0, 'x', 'user', 1, 0, 0,
         case when n % 9999 = 0 then 1 else 0 end, at, at, at, at
       from generate_series(1, $3::int) as n, lateral (select timestamptz '2026-01-01' + n * interval '1 second' as at)
       returning *
     )
     insert into messages (tenant_id, id, conversation_id, seq, note_seq, kind, author_type, body, format, created_at, redacted)
     select tenant_id, gen_random_uuid(), id, 1, 0, 'reply', 'user',
       'everyday words' || case when tags <> '{}' then ' and a needle' else '' end, 'text', created_at, false
     from made`,
    [tenantId, MEMBER, rows],
  ),
];

beforeAll(async () => {
  database = await createDatabase();
  app = database.storage();
  [large, small] = [app.forTenant(v7()), app.forTenant(v7())];
  await Promise.all([...seed(large.tenantId, ROWS), ...seed(small.tenantId, 20_000)]);
  await database.query('vacuum analyze');
}, 120_000);
afterAll(() => database[Symbol.asyncDispose]());

/** The plan of whatever statement a list sends, as the role and tenant that send it. */
async function planOf(list: (tenant: TenantStorage) => Promise<unknown>): Promise<string> {
  let plan = '';
  await list({
    ...large,
    query: async (sql: string, params: unknown[] = []) => {
      if (!/^select (id|count)/.test(sql)) return large.query(sql, params) as Promise<never>;
      const rows = await large.query<{ 'QUERY PLAN': string }>(`explain ${sql}`, params);
      plan = rows.map(row => row['QUERY PLAN']).join('\n');
      return [];
    },
  });
  return plan;
}

const answers = (filter: Parameters<typeof listAnswers>[1]) => (tenant: TenantStorage) =>
  listAnswers(tenant, filter, 10, null);
const conversations = (filter: Omit<Parameters<typeof listConversations>[1], 'side'>) => (tenant: TenantStorage) =>
  listConversations(tenant, { side: 'team', ...filter }, 10, null);

describe('among 100,000 rows', () => {
  test.each([
    [
      'the answers in which something was written',
      answers({ question_id: QUESTION, written: true }),
      'answers_written',
    ],
    ['the answers under a tag', answers({ tag: 'vip' }), 'answers_tagged'],
    ['the answers of an identity', answers({ identity: 'user|7', verified: true }), 'answers_of_identity'],
    ['the conversations of an assignee', conversations({ assignee: MEMBER }), 'conversations_of_assignee'],
    ['what is unread', conversations({ unread: true }), 'conversations_unread'],
    ['the conversations under a tag', conversations({ tag: 'vip' }), 'conversations_tagged'],
  ])('%s are found by the index of these', async (_, list, index) => {
    const plan = await planOf(list);
    expect(plan).toMatch(new RegExp(`(using|on) ${index}\\b`));
    expect(plan).not.toContain('Seq Scan');
  });

  test.each([
    ['answers', answers({ q: 'needle' }), 10],
    ['answers', answers({ q: 'NEEDLE every', question_id: QUESTION }), 10],
    ['answers', answers({ q: 'needle nowhere', question_id: QUESTION }), 0],
    ['answers', answers({ q: 'needle', question_id: QUESTION, tag: 'vip' }), 0],
    ['conversations', conversations({ q: 'needle' }), 10],
    ['conversations', conversations({ q: 'needle', assignee: MEMBER }), 10],
    ['conversations', conversations({ q: 'needle', status: 'resolved' }), 0],
  ])('%s with a rare word are all there', async (_, list, count) => {
    expect((await list(large)).rows).toHaveLength(count);
  });

  test.each([
    ['answers', answers({ q: 'everyday' })],
    ['conversations', conversations({ q: 'everyday' })],
  ])('%s with a word that thousands have are there, the newest first', async (_, list) => {
    const { rows, next } = await list(large);
    expect(rows).toHaveLength(10);
    expect(next).not.toBeNull();
    const times = rows.map(row => ('received_at' in row ? row.received_at : row.last_activity_at).getTime());
    expect(times).toEqual(times.toSorted((a, b) => b - a));
  });

  test('a word of a conversation is looked for by the index of words', async () => {
    const rows = await database.query<{ 'QUERY PLAN': string }>(
      `explain select conversation_id from messages where tenant_id = $1 and kind <> 'event'
       and tenant_words(tenant_id, body) @@ tenant_query($1, 'needle')`,
      [large.tenantId],
    );
    expect(rows.map(row => row['QUERY PLAN']).join('\n')).toContain('on messages_words');
  });
});

test('words of another tenant are not found, and without a tenant none', async () => {
  const stranger = app.forTenant(v7());
  const sql = 'select search_conversations($1, 100)';
  expect(await small.query(sql, ['needle'])).toHaveLength(2);
  for (const nobody of [stranger, app]) expect(await nobody.query(sql, ['needle'])).toEqual([]);
  expect(await stranger.query(sql, [large.tenantId])).toEqual([]);
  expect((await listAnswers(stranger, { q: 'needle' }, 10, null)).rows).toEqual([]);
});
