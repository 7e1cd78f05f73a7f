import { v7 } from 'uuid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { changeConversations } from '../../src/storage/conversations/conversation-changes.ts';
import type { TenantStorage } from '../../src/storage/database/orm.ts';
import { patchProfiles } from '../../src/storage/people/profiles.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

/** One tenant has most of the rows, so that the average tenant, for which plans are made, is small. */
const LARGE = { tenant: v7(), rows: 20_000 };
const SMALL = { tenants: 2000, rows: 2 };
/** Rows that a few look-ups by key may read, in all indexes and for all that a change does. */
const FEW = 2000;

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  const small = Array.from({ length: SMALL.tenants }, () => v7());
  for (const [tenants, rows] of [
    [[LARGE.tenant], LARGE.rows],
    [small, SMALL.rows],
  ] as const) {
    await database.query(
      `insert into conversations (tenant_id, id, identity, identity_verified, subject, status, priority, tags, source_type,
         last_seq, last_note_seq, last_preview, last_author_type, user_read_seq, team_read_seq, user_unread, team_unread,
         mentioned, created_at, updated_at, team_updated_at, last_activity_at)
       select tenant, gen_random_uuid(), 'user|' || n, true, '', 'open', 'none', '{}', 'user', 1, 0, '', 'user', 1, 0, 0, 0,
         '{}', now(), now(), now(), now()
       from unnest($1::uuid[]) as tenant, generate_series(1, $2::int) as n`,
      [tenants, rows],
    );
    await database.query(
      `insert into identities (tenant_id, identity, identity_verified, attributes, created_at, updated_at)
       select tenant, 'user|' || n, true, '{}', now(), now()
       from unnest($1::uuid[]) as tenant, generate_series(1, $2::int) as n`,
      [tenants, rows],
    );
  }
  await database.query('vacuum analyze conversations, identities');
});
afterAll(() => database[Symbol.asyncDispose]());

/** The rows that PostgreSQL has read of conversations and identities. */
async function readRows(): Promise<number> {
  const [row] = await database.query<{ rows: number }>(
    `select (select sum(idx_tup_read) from pg_stat_user_indexes where relname in ('conversations', 'identities'))::int
       + (select sum(seq_tup_read) from pg_stat_user_tables where relname in ('conversations', 'identities'))::int as rows`,
  );
  return row?.rows ?? 0;
}

const ids = async (): Promise<string[]> => {
  const rows = await database.query<{ id: string }>('select id from conversations where tenant_id = $1 limit 10', [
    LARGE.tenant,
  ]);
  return rows.map(({ id }) => id);
};

const owners = Array.from({ length: 10 }, (_, at) => ({ identity: `user|${at + 1}`, verified: true }));

const WORK: Record<string, (tenant: TenantStorage) => Promise<unknown>> = {
  'a change of ten conversations': async tenant =>
    changeConversations(
      tenant,
      await ids(),
      { author: { type: 'member', id: v7(), name: 'Ada' }, pointer: '' },
      { priority: 'high' },
    ),
  'the changes of ten profiles': tenant =>
    patchProfiles(
      tenant,
      owners.map(owner => ({ ...owner, attributes: { plan: 'pro' } })),
    ),
};

test.each(Object.entries(WORK))('%s of a large tenant read few rows', async (_, work) => {
  const storage = database.storage();
  const before = await readRows();
  await work(storage.forTenant(LARGE.tenant));
  await storage.close(); // a closed connection reports its reads
  let read = 0;
  await expect.poll(async () => (read = (await readRows()) - before)).toBeGreaterThan(0);
  expect(read).toBeLessThan(FEW);
});
