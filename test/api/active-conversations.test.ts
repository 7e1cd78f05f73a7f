import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAX_ACTIVE_OF_USER } from '../../src/domain/conversations/conversations.ts';
import { ACTIVE_OF_USER } from '../../src/storage/conversations/active-conversations.ts';
import { createApi, type TestApi } from '../support/api.ts';
import { uuidOf } from '../support/conversations.ts';
import { makeTenant, type TestTenant } from '../support/make.ts';

let api: TestApi;
let tenant: TestTenant;
beforeAll(async () => {
  api = await createApi();
  await api.database.query('alter table conversations set (autovacuum_enabled = off)'); // statistics only where a test makes them
  tenant = await makeTenant(api);
});
afterAll(() => api[Symbol.asyncDispose]());

/** A user with `count` open conversations, which the team began, and requests by both. */
async function makeUser(count = MAX_ACTIVE_OF_USER) {
  const identity = `user|${v7()}`;
  const user = await tenant.sign(identity);
  const asUser = (method: string, path: string, body?: object) => api.request(method, path, { as: user, body });
  const asTeam = (method: string, path: string, body?: object) =>
    api.request(method, path, { as: tenant.key.apiKey, body });
  const begin = async () => (await asTeam('POST', '/v1/conversations', { identity, message: 'Hello' })).body.id;
  const ids: string[] = [];
  for (let n = 0; n < count; n++) ids.push(await begin());
  const active = async () => {
    const lists = await Promise.all(
      ['open', 'pending'].map(status =>
        asTeam('GET', `/v1/conversations?identity=${encodeURIComponent(identity)}&status=${status}&limit=100`),
      ),
    );
    return lists.flatMap(({ body }) => body.data).length;
  };
  return { identity, asUser, asTeam, ids, active, begin };
}

const tooMany = { status: 409, code: 'limit-reached' };

describe(`a user with ${MAX_ACTIVE_OF_USER} open and pending conversations`, () => {
  test('starts no other one until one is resolved; the team does', async () => {
    const { asUser, ids, begin, active } = await makeUser();
    expect((await asUser('POST', '/v1/conversations', { message: 'One more' })).body).toMatchObject(tooMany);
    expect(await active()).toBe(MAX_ACTIVE_OF_USER);
    await asUser('PATCH', `/v1/conversations/${ids[0]}`, { status: 'resolved' });
    expect((await asUser('POST', '/v1/conversations', { message: 'One more' })).status).toBe(201);
    expect(await begin()).toMatch(/^conversation_/);
    expect((await asUser('POST', `/v1/conversations/${ids[1]}/messages`, { body: 'And this' })).status).toBe(201);
  });

  test('has a limit of their own: other users, and the claimed one of the same name, are not counted', async () => {
    await makeUser();
    const other = await makeUser(0);
    expect((await other.asUser('POST', '/v1/conversations', { message: 'Hello' })).status).toBe(201);
  });

  test('gets the first conversation for a repeated client_message_id, also beyond the limit', async () => {
    const { asUser } = await makeUser(MAX_ACTIVE_OF_USER - 1);
    const start = { message: 'The last one', client_message_id: v7() };
    const replies = await Promise.all(Array.from({ length: 5 }, () => asUser('POST', '/v1/conversations', start)));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 200, 201]);
    expect(new Set(replies.map(({ body }) => body.id)).size).toBe(1);
    expect((await asUser('POST', '/v1/conversations', start)).status).toBe(200);
    expect((await asUser('POST', '/v1/conversations', { ...start, client_message_id: v7() })).body).toMatchObject(
      tooMany,
    );
  });

  test('does not exceed it by concurrent requests', async () => {
    const { asUser, active } = await makeUser(MAX_ACTIVE_OF_USER - 3);
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, n) => asUser('POST', '/v1/conversations', { message: `Hello ${n}` })),
    );
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(3);
    expect(replies.filter(({ body }) => body.code === 'limit-reached')).toHaveLength(9);
    expect(await active()).toBe(MAX_ACTIVE_OF_USER);
  });

  test('reopens and continues no resolved one, concurrently either, and no word is written', async () => {
    const { asUser, asTeam, ids, begin, active } = await makeUser();
    const [recent, old] = [ids[0] as string, ids[1] as string];
    for (const id of [recent, old]) await asUser('PATCH', `/v1/conversations/${id}`, { status: 'resolved' });
    await api.database.query("update conversations set resolved_at = now() - interval '31 days' where id = $1", [
      uuidOf(old),
    ]);
    await begin();
    const write = (id: string) => asUser('POST', `/v1/conversations/${id}/messages`, { body: 'Still broken' });
    const replies = await Promise.all([write(recent), write(old)]);
    expect(replies.map(({ status }) => status).toSorted()).toEqual([201, 409]); // there is one place
    expect(replies.find(({ status }) => status === 409)?.body).toMatchObject(tooMany);
    expect(await active()).toBe(MAX_ACTIVE_OF_USER);
    const refused = replies[0]?.status === 409 ? recent : old;
    expect((await asTeam('GET', `/v1/conversations/${refused}`)).body).toMatchObject({
      status: 'resolved',
      message_count: 1,
    });
    await asUser('PATCH', `/v1/conversations/${ids[2]}`, { status: 'resolved' });
    expect((await write(refused)).status).toBe(201);
    expect((await write(refused)).status).toBe(201); // in the conversation that is open now
  });
});

test('the count reads the active conversations of the user, not the resolved ones', async () => {
  const { identity } = await makeUser(1);
  await api.database.query(
    `insert into conversations (tenant_id, id, identity, identity_verified, subject, status, priority, tags, source_type,
       started_by, last_seq, last_note_seq, last_preview, last_author_type, user_read_seq, team_read_seq, user_unread,
       team_unread, created_at, updated_at, team_updated_at, last_activity_at)
     select $1, gen_random_uuid(), $2, true, '', 'resolved', 'none', '{}', 'user', '', 1, 0, '', 'user', 1, 0, 0, 1, at, at, at, at
     from generate_series(1, 20000) as row(n) cross join lateral (select now() - n * interval '1 minute' as at) as times`,
    [tenant.uuid, identity],
  );
  for (const prepare of ['', 'analyze conversations']) {
    if (prepare) await api.database.query(prepare);
    const plan = await api.database
      .storage()
      .forTenant(tenant.uuid)
      .transaction(tx => tx.query(`explain ${ACTIVE_OF_USER}`, [tenant.uuid, identity, true]));
    expect(JSON.stringify(plan)).toMatch(/ (using|on) conversations_of_user_active/);
  }
});
