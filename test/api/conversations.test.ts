import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { conversationRoutes } from '../../src/api/routes/conversations.ts';
import { messageRoutes } from '../../src/api/routes/messages.ts';
import { createApi, type TestApi } from '../support/api.ts';
import { type Body, conversationsOf, idsOf, problem } from '../support/conversations.ts';
import { claimToken } from '../support/make.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createApi();
});
afterAll(() => api[Symbol.asyncDispose]());

const { makeParties, get, start, write, read, messages, list, teamOf } = conversationsOf(() => api);

describe('starting a conversation', () => {
  test("a user's conversation waits for the team, and shows each side its own fields", async () => {
    const { user, team } = await makeParties();
    const started = await start(user, { subject: 'Billing', message: 'Why twice?', client_message_id: 'm1' });
    expect(started.status).toBe(201);
    const { id, created_at } = started.body;
    expect(id).toMatch(/^conversation_[0-9a-z]{26}$/);
    expect(started.headers.get('Location')).toBe(`/v1/conversations/${id}`);
    const forUser = {
      id,
      identity: 'user|42',
      identity_verified: true,
      subject: 'Billing',
      status: 'open',
      source: { type: 'user' },
      last_message: { seq: 1, preview: 'Why twice?', author_type: 'user', at: created_at },
      message_count: 1,
      unread_count: 0,
      waiting_since: created_at,
      first_reply_at: null,
      resolved_at: null,
      previous_id: null,
      merged_into_id: null,
      created_at,
      updated_at: created_at,
      last_activity_at: created_at,
    };
    expect(started.body).toEqual(forUser);
    expect(await read(user, id)).toEqual(forUser);
    expect(await read(team, id)).toEqual({
      ...forUser,
      unread_count: 1,
      snoozed_until: null,
      reply_due_at: null,
      priority: 'none',
      assignee_id: null,
      tags: [],
      custom: {},
    });
    expect(await messages(user, id)).toEqual([
      {
        id: expect.stringMatching(/^message_/),
        conversation_id: id,
        seq: 1,
        author: { type: 'user', id: 'user|42', name: null },
        kind: 'reply',
        body: 'Why twice?',
        format: 'text',
        mentions: [],
        client_message_id: 'm1',
        event: null,
        created_at,
        edited_at: null,
        redacted: false,
      },
    ]);
  });

  test("the team's conversation is unread for its user, and the team does not wait", async () => {
    const { user, team, tenant } = await makeParties();
    const started = await start(team, { identity: 'user|42' });
    expect(started.body).toMatchObject({
      source: { type: 'api' },
      status: 'open',
      unread_count: 0,
      waiting_since: null,
    });
    expect(await read(user, started.body.id)).toMatchObject({ unread_count: 1, identity: 'user|42' });
    const author = async (as: string) => (await messages(as, started.body.id))[0].author;
    expect(await author(team)).toEqual({ type: 'api', id: tenant.key.id, name: null });
    expect(await author(user)).toEqual({ type: 'api', id: null, name: null });
  });

  test('a key must name the user, and a token must not', async () => {
    const { user, team } = await makeParties();
    for (const reply of [await start(team), await start(user, { identity: 'user|42' })]) {
      expect(problem(reply)).toEqual([422, 'validation-failed']);
      expect(reply.body.errors).toEqual([expect.objectContaining({ pointer: '/identity' })]);
    }
  });

  test.each<[string, Body]>([
    ['no message', { message: undefined }],
    ['an empty message', { message: '' }],
    ['a message of 10,001 characters', { message: 'x'.repeat(10_001) }],
    ['a subject of 201 characters', { subject: 'x'.repeat(201) }],
    ['U+0000', { message: 'a\u0000b' }],
    ['a lone surrogate', { subject: '\ud800' }],
    ['an unknown field', { custom_field: 1 }],
    ['a read-only field', { status: 'resolved' }],
    ['a message that is no text', { message: 5 }],
    ['an empty client_message_id', { client_message_id: '' }],
  ])('%s is rejected', async (_, fields) => {
    const { user } = await makeParties();
    expect(problem(await start(user, fields))).toEqual([422, 'validation-failed']);
    expect(await list(user)).toEqual([]);
  });

  test('texts of maximum length are accepted, and the preview is cut between characters', async () => {
    const { user } = await makeParties();
    const started = await start(user, { subject: 'x'.repeat(200), message: '😀'.repeat(5000) });
    expect(started.status).toBe(201);
    expect(started.body.last_message.preview).toBe('😀'.repeat(140));
  });

  test('the same client_message_id returns the first conversation, only to its sender', async () => {
    const { user, team, tenant } = await makeParties();
    const first = await start(user, { client_message_id: 'c1' });
    const again = await start(user, { client_message_id: 'c1' });
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('Location')).toBe(first.headers.get('Location'));
    const others = [
      await start(await tenant.sign('user|43'), { client_message_id: 'c1' }),
      await start(team, { client_message_id: 'c1', identity: 'user|42' }),
      await start(user, { client_message_id: 'c2' }),
    ];
    expect(others.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(idsOf([first, ...others].map(({ body }) => body))).size).toBe(4);
  });

  test.each(['keys', 'members'] as const)(
    'the same client_message_id of two %s starts one conversation each',
    async kind => {
      const { tenant } = await makeParties();
      const startAs = await teamOf(tenant, kind);
      const fields = { client_message_id: 'c1', identity: 'user|42', message: 'Hello' };
      const replies = [];
      for (const as of [0, 1, 0, 1]) replies.push(await startAs(as, '/v1/conversations', fields));
      expect(replies.map(({ status }) => status)).toEqual([201, 201, 200, 200]);
      const ids = idsOf(replies.map(({ body }) => body));
      expect(ids).toEqual([ids[0], ids[1], ids[0], ids[1]]);
      expect(ids[0]).not.toBe(ids[1]);
    },
  );

  test('a client_message_id of the previous version is found again, only by its author', async () => {
    const { tenant } = await makeParties();
    const startAs = await teamOf(tenant, 'keys');
    const fields = { client_message_id: 'c1', identity: 'user|42', message: 'Hello' };
    const first = await startAs(0, '/v1/conversations', fields);
    await api.database.query("update conversations set started_by = '' where tenant_id = $1", [tenant.uuid]);
    expect(await startAs(0, '/v1/conversations', fields)).toMatchObject({ status: 200, body: { id: first.body.id } });
    expect((await startAs(1, '/v1/conversations', fields)).status).toBe(201);
  });

  test('the same client_message_id sent eight times concurrently starts one conversation', async () => {
    const { user } = await makeParties();
    const replies = await Promise.all(Array.from({ length: 8 }, () => start(user, { client_message_id: 'c1' })));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([...Array(7).fill(200), 201]);
    expect(new Set(idsOf(replies.map(({ body }) => body))).size).toBe(1);
    expect(await list(user)).toHaveLength(1);
  });
});

describe('credentials', () => {
  test('a public token cannot call operations on conversations', async () => {
    const { tenant, user } = await makeParties();
    const { id } = (await start(user)).body;
    const token = await claimToken(api, tenant, 'user|42');
    for (const { method, path } of [...conversationRoutes, ...messageRoutes]) {
      const at = path.replace('{id}', id).replace('{message_id}', 'message_0');
      const reply = await api.request(method.toUpperCase(), at, { as: token });
      expect([at, ...problem(reply)]).toEqual([at, 403, 'public-access-restricted']);
    }
  });

  test('a key without the scope is rejected for reading and for writing', async () => {
    const { tenant, user } = await makeParties();
    const { id } = (await start(user)).body;
    const reader = (await tenant.addKey({ scopes: ['conversations:read'] })).apiKey;
    const writer = (await tenant.addKey({ scopes: ['conversations:write'] })).apiKey;
    expect((await get(reader, `/v1/conversations/${id}`)).status).toBe(200);
    expect(problem(await write(reader, id))).toEqual([403, 'insufficient-scope']);
    expect((await write(writer, id)).status).toBe(201);
    expect(problem(await get(writer, `/v1/conversations/${id}`))).toEqual([403, 'insufficient-scope']);
  });

  test('a user cannot delete a conversation, and a key cannot count unread ones', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    const deleted = await api.request('DELETE', `/v1/conversations/${id}`, { as: user });
    expect(problem(deleted)).toEqual([403, 'insufficient-scope']);
    expect(problem(await get(team, '/v1/conversations/unread-count'))).toEqual([403, 'insufficient-scope']);
    expect((await read(user, id)).id).toBe(id);
  });
});

describe('reading one conversation', () => {
  test('has a strong ETag, with which it is not sent again', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    const path = `/v1/conversations/${id}`;
    const etag = (await get(user, path)).headers.get('ETag') as string;
    expect(etag).toMatch(/^"[\w-]+"$/);
    const unchanged = await get(user, path, { 'If-None-Match': etag });
    expect([unchanged.status, unchanged.body, unchanged.headers.get('ETag')]).toEqual([304, '', etag]);
    await write(team, id);
    expect((await get(user, path, { 'If-None-Match': etag })).status).toBe(200);
  });

  test.each(['conversation_x', 'message_01h455vb4pex5vsknk084sn02q', 'CONVERSATION_01h455vb4pex5vsknk084sn02q', '%00'])(
    'the malformed id %s is 404',
    async id => {
      const { team } = await makeParties();
      expect(problem(await get(team, `/v1/conversations/${id}`))).toEqual([404, 'resource-not-found']);
    },
  );
});
