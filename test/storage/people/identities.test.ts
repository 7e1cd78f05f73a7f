import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { COUNTED_CONVERSATIONS, findIdentity } from '../../../src/storage/people/identities.ts';
import { type Explained, explainTo } from '../../plans/explained.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';

const START = '2026-01-01T00:00:00.000Z';

/** Conversations a minute apart, each with a message of the user, a reply, and a message of the user, 10 s apart. */
async function addConversations(database: TestDatabase, tenantId: string, identity: string, count: number) {
  await database.query(
    `insert into conversations (tenant_id, id, identity, identity_verified, subject, status, priority, tags, source_type,
       last_seq, last_note_seq, last_preview, last_author_type, user_read_seq, team_read_seq, user_unread, team_unread,
       created_at, updated_at, team_updated_at, last_activity_at)
     select $1, gen_random_uuid(), $2, true, '', 'open', 'none', '{}', 'user', 3, 0, '', 'user', 0, 0, 0, 0, at, at, at, at
     from (select $4::timestamptz + number * interval '1 minute' as at from generate_series(1, $3::int) as number) as made`,
    [tenantId, identity, count, START],
  );
  await database.query(
    `insert into messages (tenant_id, id, conversation_id, seq, note_seq, kind, author_type, body, format, created_at, redacted)
     select tenant_id, gen_random_uuid(), id, seq, 0, 'reply', case seq when 2 then 'member' else 'user' end, '', 'text',
       created_at + (seq - 1) * interval '10 s', false
     from conversations, generate_series(1, 3) as seq where tenant_id = $1`,
    [tenantId],
  );
  await database.query('vacuum analyze conversations, messages');
}

test('an identity with many conversations is summarized from a bounded number of them', async () => {
  await using database = await createDatabase();
  const tenantId = randomUUID();
  await addConversations(database, tenantId, 'user|1', 5000);
  const statements: Explained[] = [];
  const tenant = explainTo(statements, database.storage()).forTenant(tenantId);
  const found = await findIdentity(tenant, { identity: 'user|1', verified: true });
  expect(found).toMatchObject({
    conversation_count: COUNTED_CONVERSATIONS,
    first_seen_at: new Date('2026-01-01T00:01:00.000Z'),
    last_seen_at: new Date('2026-01-04T11:20:20.000Z'),
  });
  expect(Math.max(...statements.map(({ pages }) => pages))).toBeLessThan(500);
});
