import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FOLLOW_UP } from '../../src/storage/conversations/conversation-starts.ts';
import { REPEATED_MESSAGE } from '../../src/storage/conversations/messages.ts';
import { expireConversations, OLD_TOMBSTONES } from '../../src/storage/tenants/retention.ts';
import { deleteTenant, eraseDeletedTenant } from '../../src/storage/upkeep/deleted-tenants.ts';
import { createApi, type TestApi } from '../support/api.ts';
import { conversationsOf, problem, uuidOf } from '../support/conversations.ts';
import { makeTenant } from '../support/make.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createApi();
  await api.database.query('alter table messages set (autovacuum_enabled = off)'); // no statistics unless a test wants them
});
afterAll(() => api[Symbol.asyncDispose]());

const { makeParties, patch, start, write, messages, backdate, seed } = conversationsOf(() => api);

describe('a repeated client_message_id', () => {
  test('of a conversation is 409 with another text, unless the first text was changed', async () => {
    const { user } = await makeParties();
    const first = await start(user, { client_message_id: 'c1', message: 'One' });
    expect(problem(await start(user, { client_message_id: 'c1', message: 'Two' }))).toEqual([409, 'message-conflict']);
    const [{ id }] = await messages(user, first.body.id);
    const path = `/v1/conversations/${first.body.id}/messages/${id}`;
    expect((await api.request('DELETE', path, { as: user })).status).toBe(204);
    expect((await start(user, { client_message_id: 'c1', message: 'One' })).status).toBe(200);
  });

  test('does not start a deleted conversation again', async () => {
    const { user, team, tenant } = await makeParties();
    const first = await start(user, { client_message_id: 'c1' });
    await start(user, { client_message_id: 'kept' });
    const path = `/v1/conversations/${first.body.id}`;
    expect((await api.request('DELETE', path, { as: team })).status).toBe(204);
    for (const message of ['Hello', 'Another text'])
      expect(problem(await start(user, { client_message_id: 'c1', message }))).toEqual([410, 'conversation-deleted']);
    const others = [
      await start(user, { client_message_id: 'c2' }),
      await start(await tenant.sign('user|43'), { client_message_id: 'c1' }),
      await start(team, { client_message_id: 'c1', identity: 'user|42' }),
      await start((await makeParties()).user, { client_message_id: 'c1' }),
    ];
    expect(others.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    const rows = await api.database.query('select * from deleted_conversations where tenant_id = $1', [tenant.uuid]);
    // No column for the user, the client's id or the text: only a hash of them.
    const kept = { tenant_id: tenant.uuid, start_hash: expect.any(Buffer), deleted_at: expect.any(Date) };
    expect(rows).toEqual([kept]);
  });

  test('does not start one that its retention deleted, and a deleted tenant keeps no trace', async () => {
    const { user, tenant, team } = await makeParties();
    const { id } = (await start(user, { client_message_id: 'c1' })).body;
    await api.request('PATCH', `/v1/conversations/${id}`, { as: team, body: { status: 'resolved' } });
    for (const column of ['resolved_at', 'last_activity_at']) await backdate(id, column, '40 days');
    await api.database.query('update tenants set retention_conversations_days = 30 where id = $1', [tenant.uuid]);
    expect(await expireConversations(api.database.storage('parley_worker'), tenant.uuid, new Date())).toBe(1);
    expect(problem(await start(user, { client_message_id: 'c1' }))).toEqual([410, 'conversation-deleted']);

    await start(user, { client_message_id: 'c2' });
    const storage = api.database.storage();
    await deleteTenant(storage.forTenant(tenant.uuid));
    for await (const batch of eraseDeletedTenant(storage, tenant.uuid)) expect(batch).toBeDefined();
    const left = await api.database.query('select from deleted_conversations where tenant_id = $1', [tenant.uuid]);
    expect(left).toEqual([]);
  });

  test('of a message is 409 with another text, unless the first text was changed', async () => {
    const { user } = await makeParties();
    const { id } = (await start(user)).body;
    const first = await write(user, id, { client_message_id: 'm1', body: 'One' });
    expect(problem(await write(user, id, { client_message_id: 'm1', body: 'Two' }))).toEqual([409, 'message-conflict']);
    const path = `/v1/conversations/${id}/messages/${first.body.id}`;
    expect((await patch(user, path, { body: 'One and a half' })).status).toBe(200);
    const late = await write(user, id, { client_message_id: 'm1', body: 'One' });
    expect([late.status, late.body.body]).toEqual([200, 'One and a half']);
  });

  test('does not start the successor of a resolved conversation again', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    await patch(team, `/v1/conversations/${id}`, { status: 'resolved' });
    await backdate(id, 'resolved_at', '31 days');
    const [first] = [
      await write(user, id, { client_message_id: 'a' }),
      await write(user, id, { client_message_id: 'b' }),
    ];
    const path = `/v1/conversations/${first.body.conversation_id}`;
    expect((await api.request('DELETE', path, { as: team })).status).toBe(204);
    for (const name of ['a', 'b'])
      expect(problem(await write(user, id, { client_message_id: name }))).toEqual([410, 'conversation-deleted']);
    expect((await write(user, id, { client_message_id: 'c' })).status).toBe(201);
  });

  test('of a message does not write to a deleted conversation, which others never saw', async () => {
    const { user, team, tenant } = await makeParties();
    const { id } = (await start(user)).body;
    expect((await write(user, id, { client_message_id: 'm1' })).status).toBe(201);
    expect((await api.request('DELETE', `/v1/conversations/${id}`, { as: team })).status).toBe(204);
    for (const by of [user, team]) {
      expect(problem(await write(by, id, { client_message_id: 'm1' }))).toEqual([410, 'conversation-deleted']);
      expect(problem(await write(by, id))).toEqual([410, 'conversation-deleted']);
    }
    const foreign = await makeTenant(api);
    for (const by of [await tenant.sign('user|43'), foreign.key.apiKey])
      expect(problem(await write(by, id))).toEqual([404, 'resource-not-found']);
    await api.database.query("update conversation_tombstones set deleted_at = deleted_at - interval '31 days'");
    await OLD_TOMBSTONES.forget(api.database.storage('parley_worker'), new Date());
    expect(problem(await write(user, id, { client_message_id: 'm1' }))).toEqual([404, 'resource-not-found']);
  });

  test('of a message returns it after its conversation was merged into another one', async () => {
    const { user, team } = await makeParties();
    const [old, kept, last] = [
      (await start(user)).body.id,
      (await start(user)).body.id,
      (await start(user)).body.id,
    ] as const;
    const first = await write(user, old, { client_message_id: 'm1' });
    for (const [id, into] of [
      [old, kept],
      [kept, last],
    ]) {
      const merged = await api.request('POST', `/v1/conversations/${id}/merge`, { as: team, body: { into } });
      expect(merged.status).toBe(200);
      const again = await write(user, old, { client_message_id: 'm1' });
      expect([again.status, again.body.id]).toEqual([200, first.body.id]);
    }
    expect((await messages(user, last)).length).toBe(1);
  });
});

test('the successor of a resolved conversation passes messages on once it was merged', async () => {
  const { user, team } = await makeParties();
  const { id } = (await start(user)).body;
  await patch(team, `/v1/conversations/${id}`, { status: 'resolved' });
  await backdate(id, 'resolved_at', '31 days');
  const successor = (await write(user, id, { client_message_id: 'a' })).body;
  const into = (await start(user)).body.id;
  const path = `/v1/conversations/${successor.conversation_id}`;
  expect((await api.request('POST', `${path}/merge`, { as: team, body: { into } })).status).toBe(200);
  const again = await write(user, id, { client_message_id: 'a' });
  expect([again.status, again.body.id]).toEqual([200, successor.id]);
  const later = await write(user, id, { client_message_id: 'b' });
  expect([later.status, later.body.conversation_id]).toEqual([201, into]);
  const read = await api.request('GET', path, { as: user });
  expect(read.body).toMatchObject({ status: 'resolved', merged_into_id: into, message_count: 1 });
});

test.each([0, 100, 1000, 4000])(
  'a repeated message is found by its key among %i messages without statistics',
  async count => {
    const { tenant, user } = await makeParties();
    const id = uuidOf((await start(user)).body.id);
    await api.database.query('truncate messages cascade'); // so that `count` is the size of the table
    await api.database.query(
      `insert into messages (tenant_id, id, conversation_id, seq, note_seq, kind, author_type, author_id, body, format, created_at,
       redacted, client_message_id)
     select $1, gen_random_uuid(), $2, 1 + n, 0, 'reply', 'user', 'user|42', '', 'text', now(), false, n::text
     from generate_series(1, $3::int) as n`,
      [tenant.uuid, id, count],
    );
    expect(await explainRepeated(tenant.uuid, id)).toContain(KEY_ONLY);
  },
);

/** Returns the generic plan of a statement, which a connection keeps until a table is analyzed. */
const explain = (tenantId: string, statement: string, params: string): Promise<string> =>
  api.database
    .storage()
    .forTenant(tenantId)
    .transaction(async tx => {
      await tx.query(`prepare explained as ${statement}`);
      const plan = await tx.query<{ 'QUERY PLAN': string }>(`explain execute explained ('${tenantId}', ${params})`);
      await tx.query('deallocate explained');
      return plan.map(row => row['QUERY PLAN']).join('\n');
    });

/** The part of its plan that finds a repeated message, whose columns are all in the index of its key. */
const KEY_ONLY = 'Index Only Scan using messages_author_client_id';

const explainRepeated = (tenantId: string, conversationId: string): Promise<string> =>
  explain(tenantId, REPEATED_MESSAGE, `'{${conversationId}}', 'user', 'c1', 'user|42', true, 'user|42'`);

test('a repeated message is found by its key also where most conversations have one message', async () => {
  const { tenant, user } = await makeParties();
  const id = uuidOf((await start(user)).body.id);
  await seed(tenant, 20_000);
  await api.database.query('truncate messages cascade');
  await api.database.query(
    `insert into messages (tenant_id, id, conversation_id, seq, note_seq, kind, author_type, author_id, body, format, created_at,
       redacted, client_message_id)
     select tenant_id, gen_random_uuid(), id, 1, 0, 'reply', 'user', identity, '', 'text', now(), false, gen_random_uuid()::text
     from conversations where tenant_id = $1`,
    [tenant.uuid],
  );
  await api.database.query('vacuum analyze messages');
  await api.database.query('vacuum analyze conversations');
  const plan = await explainRepeated(tenant.uuid, id);
  expect(plan).toContain(KEY_ONLY);
  expect(plan).not.toMatch(/Seq Scan|conversations_of_identity|_pkey/);
});

test('the follow-up of a stale conversation is found by its index, with and without statistics', async () => {
  const { tenant, user } = await makeParties();
  const id = uuidOf((await start(user)).body.id);
  for (const prepare of ['truncate conversations cascade', '', 'analyze conversations']) {
    if (prepare) await api.database.query(prepare);
    else await seed(tenant, 20_000);
    const plan = await explain(tenant.uuid, FOLLOW_UP, `'user|42', true, '${id}', '{}'`);
    expect(plan).toContain('using conversations_continued');
  }
});

test('a conversation that is started several times at once is started once, whatever their Idempotency-Keys', async () => {
  const { team } = await makeParties();
  const body = { identity: 'user|42', message: 'Hello', client_message_id: 'c1' };
  for (let round = 0; round < 5; round++) {
    const sent = { ...body, client_message_id: `c${round}` };
    const replies = await Promise.all(
      Array.from({ length: 6 }, (_, at) => {
        const headers: Record<string, string> = at % 2 ? { 'Idempotency-Key': `k${round}-${at}` } : {};
        return api.request('POST', '/v1/conversations', { as: team, body: sent, headers });
      }),
    );
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 200, 200, 201]);
    expect(new Set(replies.map(reply => reply.body.id)).size).toBe(1);
  }
});
