import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseTypeId } from '../../src/domain/ids.ts';
import { countUnread } from '../../src/storage/conversations/conversation-lists.ts';
import { createApi, type TestApi, waitFor } from '../support/api.ts';
import { type Body, conversationsOf, idsOf, problem, uuidOf } from '../support/conversations.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createApi();
});
afterAll(() => api[Symbol.asyncDispose]());

const {
  makeParties,
  get,
  patch,
  markRead,
  start,
  write,
  read,
  messages,
  list,
  teamOf,
  backdateMessages,
  makeMember,
  readPages,
  seed,
} = conversationsOf(() => api);

describe('messages', () => {
  test('are numbered without gaps, even if both sides write at once', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    const replies = await Promise.all(Array.from({ length: 16 }, (_, index) => write(index % 2 ? user : team, id)));
    expect(replies.map(({ status }) => status)).toEqual(Array(16).fill(201));
    const numbers = (await messages(user, id)).map(({ seq }: { seq: number }) => seq);
    expect(numbers).toEqual(Array.from({ length: 17 }, (_, index) => index + 1));
    expect(await read(user, id)).toMatchObject({ message_count: 17, unread_count: 8, last_message: { seq: 17 } });
    expect(await read(team, id)).toMatchObject({ unread_count: 9 });
  });

  test.each(['user', 'team'] as const)(
    'of the %s with the same client_message_id are one, twice and at once',
    async side => {
      const parties = await makeParties();
      const as = parties[side];
      const { id } = (await start(parties.user)).body;
      const first = await write(as, id, { client_message_id: 'm1' });
      const again = await write(as, id, { client_message_id: 'm1' });
      expect([first.status, again.status]).toEqual([201, 200]);
      expect(again.body).toEqual(first.body);
      expect(again.headers.get('Location')).toBe(`/v1/conversations/${id}/messages/${first.body.id}`);

      const atOnce = await Promise.all(Array.from({ length: 8 }, () => write(as, id, { client_message_id: 'm2' })));
      expect(atOnce.map(({ status }) => status).toSorted()).toEqual([...Array(7).fill(200), 201]);
      expect(new Set(idsOf(atOnce.map(({ body }) => body))).size).toBe(1);
      expect(await messages(parties.user, id)).toHaveLength(3);
    },
  );

  test.each(['keys', 'members'] as const)('of two %s with the same client_message_id are separate', async kind => {
    const { tenant, user } = await makeParties();
    const { id } = (await start(user)).body;
    const writeAs = await teamOf(tenant, kind);
    const path = `/v1/conversations/${id}/messages`;
    for (const fields of [{ kind: 'reply' }, { kind: 'note', client_message_id: 'm2' }]) {
      const replies = [];
      for (const as of [0, 1, 0, 1])
        replies.push(await writeAs(as, path, { client_message_id: 'm1', body: `By ${as}`, ...fields }));
      expect(replies.map(({ status, body }) => [status, body.body])).toEqual([
        [201, 'By 0'],
        [201, 'By 1'],
        [200, 'By 0'],
        [200, 'By 1'],
      ]);
    }
  });

  test('with the same client_message_id from the other side or in another conversation are separate', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    const elsewhere = (await start(user)).body.id;
    const replies = [
      await write(user, id, { client_message_id: 'm1' }),
      await write(team, id, { client_message_id: 'm1' }),
      await write(user, elsewhere, { client_message_id: 'm1' }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201]);
  });

  test.each<[string, Body]>([
    ['an empty body', { body: '' }],
    ['10,001 characters', { body: 'x'.repeat(10_001) }],
    ['an unknown format', { format: 'html' }],
    ['an event', { kind: 'event' }],
    ['U+0000', { body: 'a\u0000' }],
    ['an unknown field', { author: 'me' }],
  ])('%s is rejected', async (_, fields) => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    expect(problem(await write(team, id, fields))).toEqual([422, 'validation-failed']);
    expect(await messages(team, id)).toHaveLength(1);
  });

  test('are listed oldest first, page by page and from a sequence number', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    for (let count = 2; count <= 12; count++) await write(user, id, { body: String(count) });
    const path = `/v1/conversations/${id}/messages`;
    expect((await get(user, path)).body.data).toHaveLength(10);
    for (const as of [user, team]) {
      const whole = await messages(as, id);
      expect(whole).toHaveLength(12);
      expect(await readPages(as, `${path}?limit=5`)).toEqual(whole);
      expect(await readPages(as, `${path}?limit=5&after_seq=4`)).toEqual(whole.slice(4));
      expect(await messages(as, id, '?after_seq=12')).toEqual([]);
      expect(await messages(as, id, '?after_seq=2147483647')).toEqual([]);
    }
    for (const query of ['after_seq=-1', 'after_seq=x', 'after_seq=2147483648', 'after_seq=1.5', 'order=up', 'order='])
      expect((await get(user, `${path}?${query}`)).status, query).toBe(422);
  });

  test('that are notes are in order for the team, with their own sequence', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    await write(team, id, { body: 'n1', kind: 'note' });
    await write(team, id, { body: 'n2', kind: 'note' });
    await write(user, id, { body: 'r2' });
    await write(team, id, { body: 'n3', kind: 'note', client_message_id: 'm1' });
    await patch(team, `/v1/conversations/${id}`, { priority: 'low' });
    const seen = await messages(team, id);
    expect(seen.map(({ kind, seq, body }: Body) => [kind, seq, body])).toEqual([
      ['reply', 1, 'Hello'],
      ['note', 1, 'n1'],
      ['note', 2, 'n2'],
      ['reply', 2, 'r2'],
      ['note', 3, 'n3'],
      ['event', 4, 'priority: none → low'],
    ]);
    expect(await readPages(team, `/v1/conversations/${id}/messages?limit=1`)).toEqual(seen);
    expect((await messages(user, id)).map(({ body }: Body) => body)).toEqual(['Hello', 'r2']);
    expect(await readPages(user, `/v1/conversations/${id}/messages?limit=1`)).toHaveLength(2);
    const again = await write(team, id, { body: 'n3', kind: 'note', client_message_id: 'm1' });
    expect([again.status, again.body.seq]).toEqual([200, 3]);
  });

  test('of a user are always replies', async () => {
    const { user } = await makeParties();
    const { id } = (await start(user)).body;
    expect(problem(await write(user, id, { kind: 'note' }))).toEqual([422, 'validation-failed']);
    expect((await write(user, id, { kind: 'reply' })).status).toBe(201);
  });
});

describe('internal activity of the team', () => {
  test('changes no field that the user sees', async () => {
    const { user, team, tenant } = await makeParties();
    const member = await makeMember(tenant);
    const { id, updated_at } = (await start(user)).body;
    await write(team, id);
    const path = `/v1/conversations/${id}`;
    const sight = async () => {
      const [one, all, texts, unread] = [
        await get(user, path),
        await get(user, '/v1/conversations'),
        await get(user, `${path}/messages`),
        await get(user, '/v1/conversations/unread-count'),
      ];
      const etags = [one, unread].map(({ headers }) => headers.get('ETag'));
      return { bodies: [one, all, texts, unread].map(({ body }) => body), etags };
    };
    const before = await sight();
    const forTeam = await read(team, id);

    const note = await write(team, id, { body: 'not for you', kind: 'note' });
    expect(note.status).toBe(201);
    expect((await patch(team, path, { tags: ['vip'], priority: 'high', assignee_id: member })).status).toBe(200);
    expect((await patch(team, `${path}/messages/${note.body.id}`, { body: 'still not' })).status).toBe(200);
    const redacted = await api.request('DELETE', `${path}/messages/${note.body.id}`, { as: team });
    expect(redacted.status).toBe(204);
    expect((await markRead(team, id, 1)).status).toBe(204);

    expect(await sight()).toEqual(before);
    const now = await read(team, id);
    expect(Date.parse(now.updated_at)).toBeGreaterThan(Date.parse(forTeam.updated_at));
    expect(now.last_message).toEqual(forTeam.last_message);
    expect(now.last_activity_at).toBe(forTeam.last_activity_at);

    const since = new Date(Date.parse(before.bodies[0].updated_at) + 1).toISOString();
    await waitFor(async () => (await list(team, `?updated_since=${since}`)).length === 1);
    expect(await list(user, `?updated_since=${since}`)).toEqual([]);
    expect(Date.parse(since)).toBeGreaterThan(Date.parse(updated_at));
  });
});

describe('read horizons', () => {
  test('count for each side the unread messages of the other', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body; // 1
    await write(team, id); // 2
    await write(team, id); // 3
    await write(user, id); // 4
    await write(team, id, { kind: 'note' });
    const unread = async () => [(await read(user, id)).unread_count, (await read(team, id)).unread_count];
    expect(await unread()).toEqual([2, 2]);
    await markRead(user, id, 2);
    expect(await unread()).toEqual([1, 2]);
    await markRead(team, id, 3);
    expect(await unread()).toEqual([1, 1]);
    await markRead(user, id, 4);
    await markRead(team, id, 4);
    expect(await unread()).toEqual([0, 0]);
    await write(team, id);
    expect(await unread()).toEqual([1, 0]);
  });

  test('never move back, and not beyond the last message', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    for (let count = 0; count < 3; count++) await write(team, id);
    const unread = async () => (await read(user, id)).unread_count;
    expect((await markRead(user, id, 3)).status).toBe(204);
    expect(await unread()).toBe(1);
    const { updated_at } = await read(user, id);
    for (const seq of [0, 1, 3]) expect((await markRead(user, id, seq)).status).toBe(204);
    expect(await unread()).toBe(1);
    expect((await read(user, id)).updated_at).toBe(updated_at);
    await markRead(user, id, 2_147_483_647);
    expect(await unread()).toBe(0);
    await write(team, id);
    expect(await unread()).toBe(1); // a horizon beyond the last message would hide it
  });

  test('moved concurrently end at the highest', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    for (let count = 0; count < 6; count++) await write(team, id);
    await Promise.all([5, 2, 6, 3, 4].map(seq => markRead(user, id, seq)));
    expect((await read(user, id)).unread_count).toBe(1);
  });

  test.each([-1, 1.5, '1', null, 2_147_483_648])('%j is no horizon', async seq => {
    const { user } = await makeParties();
    const { id } = (await start(user)).body;
    const reply = await api.request('PUT', `/v1/conversations/${id}/read`, { as: user, body: { seq } });
    expect(problem(reply)).toEqual([422, 'validation-failed']);
  });

  test('the count of unread conversations is one request with an ETag', async () => {
    const { user, team, tenant } = await makeParties();
    const ask = (headers = {}) => get(user, '/v1/conversations/unread-count', headers);
    const none = await ask();
    expect(none.body).toEqual({ count: 0, more: false });
    const [one, two] = [(await start(team, { identity: 'user|42' })).body.id, (await start(user)).body.id];
    await start(team, { identity: 'user|43' });
    await write(team, one);
    await write(team, two);
    const both = await ask({ 'If-None-Match': none.headers.get('ETag') as string });
    expect([both.status, both.body]).toEqual([200, { count: 2, more: false }]);
    expect((await ask({ 'If-None-Match': both.headers.get('ETag') as string })).status).toBe(304);
    await markRead(user, one, 2);
    expect((await ask()).body).toEqual({ count: 1, more: false });
    expect((await get(await tenant.sign('user|43'), '/v1/conversations/unread-count')).body).toEqual({
      count: 1,
      more: false,
    });
    expect(problem(await get(user, '/v1/conversations/unread-count?assignee=none'))).toEqual([
      400,
      'unknown-parameter',
    ]);
  });

  test("the team's count is of all, of one member's, or of unassigned conversations", async () => {
    const { tenant, team, user } = await makeParties();
    const member = await makeMember(tenant);
    const [assigned] = [
      (await start(user)).body.id,
      await start(user),
      await start(user),
      await start(team, { identity: 'b' }),
    ];
    await patch(team, `/v1/conversations/${assigned}`, { assignee_id: member });
    const storage = api.database.storage().forTenant(tenant.uuid);
    const count = async (assignee?: string) => (await countUnread(storage, 'team', undefined, assignee)).count;
    const uuid = parseTypeId('member', member) as string;
    expect([await count(), await count(uuid), await count('none'), await count(v7())]).toEqual([3, 1, 2, 0]);
  });
});

test('the count of unread conversations stops at 1,000', async () => {
  const { tenant } = await makeParties();
  const storage = api.database.storage().forTenant(tenant.uuid);
  await seed(tenant, 1000);
  expect(await countUnread(storage, 'team', undefined)).toEqual({ count: 1000, more: false });
  await seed(tenant, 1);
  expect(await countUnread(storage, 'team', undefined)).toEqual({ count: 1000, more: true });
});

describe('editing and redacting a message', () => {
  test.each(['user', 'team'] as const)('is for its author, the %s, and updates the conversation', async side => {
    const parties = await makeParties();
    const as = parties[side];
    const { id } = (await start(as, side === 'team' ? { identity: 'user|42' } : {})).body;
    const [first] = await messages(as, id);
    const path = `/v1/conversations/${id}/messages/${first.id}`;
    const edited = await patch(as, path, { body: 'Hello *again*', format: 'markdown' });
    expect(edited.status).toBe(200);
    expect(edited.body).toEqual({ ...first, body: 'Hello *again*', format: 'markdown', edited_at: expect.any(String) });
    const again = await patch(as, path, { body: 'Hello' });
    expect(again.body).toMatchObject({ body: 'Hello', format: 'markdown' });
    for (const eyes of [parties.user, parties.team]) {
      const seen = await read(eyes, id);
      expect(seen).toMatchObject({ last_message: { seq: 1, preview: 'Hello' }, updated_at: again.body.edited_at });
      expect(seen.last_activity_at).toBe(first.created_at);
    }
  });

  test('of an earlier one keeps the preview of the last', async () => {
    const { user } = await makeParties();
    const { id } = (await start(user)).body;
    await write(user, id, { body: 'Last' });
    const [first] = await messages(user, id);
    await patch(user, `/v1/conversations/${id}/messages/${first.id}`, { body: 'Changed' });
    expect((await read(user, id)).last_message.preview).toBe('Last');
  });

  test('of another author is rejected', async () => {
    const { user, team, tenant } = await makeParties();
    const { id } = (await start(user)).body;
    await write(team, id);
    const [ofUser, ofTeam] = await messages(team, id);
    const second = (await tenant.addKey()).apiKey;
    const change = (as: string, message: Body) =>
      patch(as, `/v1/conversations/${id}/messages/${message.id}`, { body: 'Mine' });
    const redact = (as: string, message: Body) =>
      api.request('DELETE', `/v1/conversations/${id}/messages/${message.id}`, { as });
    for (const [as, message] of [
      [user, ofTeam],
      [team, ofUser],
      [second, ofTeam],
    ])
      for (const attempt of [change, redact])
        expect(problem(await attempt(as, message))).toEqual([403, 'insufficient-scope']);
    expect((await messages(team, id)).slice(0, 2)).toEqual([ofUser, ofTeam]);
  });

  test('is possible for 15 minutes', async () => {
    const { user } = await makeParties();
    const { id } = (await start(user)).body;
    const [message] = await messages(user, id);
    const path = `/v1/conversations/${id}/messages/${message.id}`;
    await backdateMessages(id, '14 minutes 30 seconds');
    expect((await patch(user, path, { body: 'In time' })).status).toBe(200);
    await backdateMessages(id, '31 seconds');
    expect(problem(await patch(user, path, { body: 'Too late' }))).toEqual([409, 'message-not-editable']);
    expect(problem(await api.request('DELETE', path, { as: user }))).toEqual([409, 'message-not-editable']);
    expect((await messages(user, id))[0].body).toBe('In time');
  });

  test('by redaction keeps the position and permanently removes the text', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user, { message: 'My password is 1234' })).body;
    const [message] = await messages(user, id);
    const path = `/v1/conversations/${id}/messages/${message.id}`;
    const redacted = await api.request('DELETE', path, { as: user });
    expect([redacted.status, redacted.body]).toEqual([204, '']);
    for (const as of [user, team]) {
      expect(await messages(as, id)).toEqual([
        expect.objectContaining({ id: message.id, seq: 1, body: '', redacted: true, edited_at: expect.any(String) }),
      ]);
      expect((await read(as, id)).last_message.preview).toBe('');
    }
    expect((await read(team, id)).message_count).toBe(1);
    expect(problem(await patch(user, path, { body: 'Back' }))).toEqual([409, 'message-not-editable']);
    const { updated_at } = await read(team, id);
    expect((await api.request('DELETE', path, { as: user })).status).toBe(204); // repeated, because its reply was lost
    expect((await read(team, id)).updated_at).toBe(updated_at);
    const [left] = await api.database.query<{ found: number }>(
      `select count(*)::int as found from conversations c join messages m on m.conversation_id = c.id
       where c.id = $1 and (c::text || m::text) like '%1234%'`,
      [uuidOf(id)],
    );
    expect(left?.found).toBe(0);
  });

  test.each<Body>([
    {},
    { body: '' },
    { body: 'x'.repeat(10_001) },
    { body: 'x', kind: 'note' },
    { body: 'x', format: 'html' },
  ])('with %j is rejected', async change => {
    const { user } = await makeParties();
    const { id } = (await start(user)).body;
    const [message] = await messages(user, id);
    const reply = await patch(user, `/v1/conversations/${id}/messages/${message.id}`, change);
    expect(problem(reply)).toEqual([422, 'validation-failed']);
  });
});
