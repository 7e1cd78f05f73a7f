import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApi, type TestApi } from '../support/api.ts';
import { type Body, conversationsOf, problem, uuidOf } from '../support/conversations.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createApi();
});
afterAll(() => api[Symbol.asyncDispose]());

const { makeParties, get, patch, post, markRead, start, write, read, messages, list, backdate, makeMember } =
  conversationsOf(() => api);

const DAY_MS = 86_400_000;
const ahead = (ms: number) => new Date(Date.now() + ms).toISOString();

describe('the status of a conversation', () => {
  const statusOf = async (as: string, id: string) => (await read(as, id)).status;

  test("follows replies: the team's makes it pending, the user's makes it open", async () => {
    const { user, team } = await makeParties();
    const { id, created_at } = (await start(user)).body;
    const replied = await write(team, id);
    expect(await read(user, id)).toMatchObject({
      status: 'pending',
      waiting_since: null,
      first_reply_at: replied.body.created_at,
      last_message: { seq: 2, preview: 'And more', author_type: 'api', at: replied.body.created_at },
    });
    const asked = await write(user, id);
    await write(user, id);
    await write(team, id, { kind: 'note' });
    expect(await read(user, id)).toMatchObject({
      status: 'open',
      waiting_since: asked.body.created_at,
      first_reply_at: replied.body.created_at,
      created_at,
      message_count: 4,
    });
  });

  test('can be set to any other by the team, and the user is notified', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    for (const status of ['pending', 'resolved', 'open', 'resolved', 'pending', 'open']) {
      const changed = await patch(team, `/v1/conversations/${id}`, { status });
      expect([changed.status, changed.body.status]).toEqual([200, status]);
      expect(changed.body.resolved_at === null).toBe(status !== 'resolved');
      expect(await statusOf(user, id)).toBe(status);
    }
  });

  test.each(['open', 'pending', 'resolved'])(
    'set to %s twice is a conflict that lists the allowed states',
    async status => {
      const { user, team } = await makeParties();
      const { id } = (await start(user)).body;
      if (status !== 'open') await patch(team, `/v1/conversations/${id}`, { status });
      const again = await patch(team, `/v1/conversations/${id}`, { status, subject: 'not taken' });
      expect(problem(again)).toEqual([409, 'invalid-transition']);
      expect(again.body.from).toBe(status);
      expect(again.body.allowed).toEqual(['open', 'pending', 'snoozed', 'resolved'].filter(other => other !== status));
      expect((await read(team, id)).subject).toBe('');
    },
  );

  test('can only be set to resolved by the user', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    await write(team, id);
    const path = `/v1/conversations/${id}`;
    for (const body of [
      { status: 'open' },
      { status: 'pending' },
      { subject: 'Mine' },
      { tags: [] },
      { priority: 'low' },
      { assignee_id: null },
      { status: 'resolved', subject: 'Mine' },
    ])
      expect(problem(await patch(user, path, body)), JSON.stringify(body)).toEqual([422, 'validation-failed']);
    const resolved = await patch(user, path, { status: 'resolved' });
    expect(resolved.body).toMatchObject({ status: 'resolved', resolved_at: expect.any(String), subject: '' });
    expect(resolved.body).not.toHaveProperty('priority');
    expect(problem(await patch(user, path, { status: 'resolved' }))).toEqual([409, 'invalid-transition']);
  });

  test("is reopened by a user's message within 30 days of its resolution", async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    await patch(team, `/v1/conversations/${id}`, { status: 'resolved' });
    await backdate(id, 'resolved_at', '29 days 23 hours');
    const written = await write(user, id);
    expect(written.body).toMatchObject({ conversation_id: id, seq: 2 });
    expect(await read(user, id)).toMatchObject({ status: 'open', resolved_at: null, previous_id: null });
    expect(await list(user)).toHaveLength(1);
  });

  test("stays resolved after 30 days: a user's message starts a conversation linked to the old one", async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user, { subject: 'Billing' })).body;
    await patch(team, `/v1/conversations/${id}`, { status: 'resolved' });
    await backdate(id, 'resolved_at', '30 days 1 minute');
    const old = await read(user, id);

    const written = await write(user, id, { body: '**Still** wrong', format: 'markdown', client_message_id: 'm9' });
    expect(written.status).toBe(201);
    const { conversation_id: next } = written.body;
    expect(next).not.toBe(id);
    expect(written.body).toMatchObject({ seq: 1, format: 'markdown', body: '**Still** wrong' });
    expect(written.headers.get('Location')).toBe(`/v1/conversations/${next}/messages/${written.body.id}`);
    expect(await read(user, next)).toMatchObject({
      previous_id: id,
      subject: 'Billing',
      status: 'open',
      message_count: 1,
    });
    expect(await read(user, id)).toEqual(old);

    const again = await write(user, id, { body: '**Still** wrong', format: 'markdown', client_message_id: 'm9' });
    expect([again.status, again.body]).toEqual([200, written.body]);
  });

  test('directs all messages to a long-resolved conversation into one successor', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    await patch(team, `/v1/conversations/${id}`, { status: 'resolved' });
    await backdate(id, 'resolved_at', '31 days');
    const outbox = await Promise.all(['a', 'b', 'c'].map(name => write(user, id, { client_message_id: name })));
    expect(outbox.map(({ status }) => status)).toEqual([201, 201, 201]);
    const followers = new Set(outbox.map(({ body }) => body.conversation_id));
    expect(followers.size).toBe(1);
    expect(outbox.map(({ body }) => body.seq).toSorted()).toEqual([1, 2, 3]);

    const [next] = followers;
    await patch(team, `/v1/conversations/${next}`, { status: 'resolved' });
    await backdate(next, 'resolved_at', '31 days');
    const third = await write(user, id, { client_message_id: 'd' });
    expect((await read(user, third.body.conversation_id)).previous_id).toBe(next);
  });

  test('has any number of successors, one after another', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    let latest = id;
    for (let number = 0; number < 25; number++) {
      await patch(team, `/v1/conversations/${latest}`, { status: 'resolved' });
      await backdate(latest, 'resolved_at', '31 days');
      const written = await write(user, id, { client_message_id: String(number) });
      expect([number, written.status]).toEqual([number, 201]);
      expect((await read(user, written.body.conversation_id)).previous_id).toBe(latest);
      latest = written.body.conversation_id;
    }
    expect((await write(user, id, { client_message_id: '24' })).body.conversation_id).toBe(latest);
  });

  test('starts another one when the successor was merged back into it', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    const resolve = async () => {
      await patch(team, `/v1/conversations/${id}`, { status: 'resolved' });
      await backdate(id, 'resolved_at', '31 days');
    };
    const writeTo = (to: string, name: string) => write(user, to, { client_message_id: name });
    const merge = (from: string, into: string) => post(team, `/v1/conversations/${from}/merge`, { into });
    await resolve();
    const successors: string[] = [(await writeTo(id, 'a')).body.conversation_id];
    // directly, and by way of another conversation
    for (const [name, between] of [
      ['b', []],
      ['c', [(await start(user)).body.id]],
    ] as const) {
      const way: string[] = [successors.at(-1) as string, ...between, id];
      for (const [index, into] of way.entries())
        if (index > 0) expect((await merge(way[index - 1] as string, into)).status).toBe(200);
      await resolve();
      const written = await writeTo(way[0] as string, name);
      expect([written.status, (await writeTo(id, name)).body]).toEqual([201, written.body]);
      expect(await read(user, written.body.conversation_id)).toMatchObject({ previous_id: id, status: 'open' });
      successors.push(written.body.conversation_id);
    }
    expect(new Set([id, ...successors]).size).toBe(4);
    expect((await writeTo(id, 'd')).body.conversation_id).toBe(successors.at(-1));
  });

  test('rejects a client_message_id for the successor that started another conversation', async () => {
    const { user, team } = await makeParties();
    await start(user, { client_message_id: 'm1' });
    const { id } = (await start(user, { client_message_id: 'm2' })).body;
    await patch(team, `/v1/conversations/${id}`, { status: 'resolved' });
    await backdate(id, 'resolved_at', '31 days');
    const written = await write(user, id, { client_message_id: 'm1' });
    expect(written.status).toBe(201);
    expect((await read(user, written.body.conversation_id)).previous_id).toBe(id);
  });

  test("is pending after the team's reply, however long ago it was resolved", async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    await patch(team, `/v1/conversations/${id}`, { status: 'resolved' });
    await backdate(id, 'resolved_at', '90 days');
    expect((await write(team, id)).body.conversation_id).toBe(id);
    expect(await read(user, id)).toMatchObject({ status: 'pending', resolved_at: null });
  });
});

describe('changing a conversation', () => {
  test('sets subject, tags, priority and assignee, and returns the result', async () => {
    const { user, team, tenant } = await makeParties();
    const member = await makeMember(tenant);
    const path = `/v1/conversations/${(await start(user)).body.id}`;
    const change = { subject: 'Refund', tags: ['vip', 'billing'], priority: 'urgent', assignee_id: member };
    const changed = await patch(team, path, change);
    expect(changed.status).toBe(200);
    expect(changed.body).toMatchObject(change);
    expect((await get(team, path)).body).toEqual(changed.body);
    const cleared = await patch(team, path, { tags: [], priority: 'none', assignee_id: null, subject: '' });
    expect(cleared.body).toMatchObject({ tags: [], priority: 'none', assignee_id: null, subject: '' });
  });

  test.each<[string, Body]>([
    ['an unknown status', { status: 'closed' }],
    ['snoozed without a time', { status: 'snoozed' }],
    ['snoozed until a time in the past', { status: 'snoozed', snoozed_until: '2020-01-01T00:00:00.000Z' }],
    ['snoozed for half a minute', { status: 'snoozed', snoozed_until: ahead(30_000) }],
    ['snoozed for more than a year', { status: 'snoozed', snoozed_until: ahead(367 * DAY_MS) }],
    ['a time with another status', { status: 'pending', snoozed_until: ahead(DAY_MS) }],
    ['a time without a status', { snoozed_until: ahead(DAY_MS) }],
    ['tags and tags to add', { tags: ['a'], add_tags: ['b'] }],
    ['a tag to add and to remove', { add_tags: ['a'], remove_tags: ['a'] }],
    ['a value seen of an unknown field', { was: { tags: [] } }],
    ['21 tags', { tags: Array.from({ length: 21 }, (_, index) => `t${index}`) }],
    ['a tag twice', { tags: ['a', 'a'] }],
    ['an unknown priority', { priority: 'top' }],
    ['an unknown assignee', { assignee_id: 'member_01h455vb4pex5vsknk084sn02q' }],
    ['an assignee that is no member', { assignee_id: 'key_01h455vb4pex5vsknk084sn02q' }],
    ['a long subject', { subject: 'x'.repeat(201) }],
    ['a read-only field', { message_count: 5 }],
  ])('%s is rejected without changes', async (_, change) => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    const before = await read(team, id);
    expect(problem(await patch(team, `/v1/conversations/${id}`, change))).toEqual([422, 'validation-failed']);
    expect(await read(team, id)).toEqual(before);
  });

  test('to its current values has no effect', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user, { subject: 'Billing' })).body;
    const before = await read(team, id);
    for (const change of [{}, { subject: 'Billing', tags: [], priority: 'none', assignee_id: null }])
      expect((await patch(team, `/v1/conversations/${id}`, change)).body).toEqual(before);
    expect(await messages(team, id)).toHaveLength(1);
  });

  test('needs the current version in If-Match', async () => {
    const { user, team } = await makeParties();
    const path = `/v1/conversations/${(await start(user)).body.id}`;
    const etag = (await get(team, path)).headers.get('ETag') as string;
    const first = await patch(team, path, { subject: 'one' }, { 'If-Match': etag });
    expect(first.status).toBe(200);
    const stale = await patch(team, path, { subject: 'two' }, { 'If-Match': etag });
    expect(problem(stale)).toEqual([412, 'precondition-failed']);
    expect(stale.body.etag).toBe((await get(team, path)).headers.get('ETag'));
    expect((await patch(team, path, { subject: 'two' }, { 'If-Match': `"x", ${stale.body.etag}` })).status).toBe(200);
    expect((await patch(team, path, { subject: 'three' }, { 'If-Match': '*' })).status).toBe(200);

    const deletion = (tag: string) => api.request('DELETE', path, { as: team, headers: { 'If-Match': tag } });
    expect(problem(await deletion(etag))).toEqual([412, 'precondition-failed']);
    expect((await deletion((await get(team, path)).headers.get('ETag') as string)).status).toBe(204);
  });

  test('with If-Match is not refused because somebody read or wrote meanwhile', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    const path = `/v1/conversations/${id}`;
    const tagOf = async (as: string) => (await get(as, path)).headers.get('ETag') as string;
    const change = async (subject: string, etag: string) =>
      (await patch(team, path, { subject }, { 'If-Match': etag })).status;
    const first = await tagOf(team);
    await markRead(team, id, 1);
    expect(await change('after a read', first)).toBe(200);
    const second = await tagOf(team);
    await write(team, id);
    await write(user, id);
    await markRead(user, id, 2);
    expect(await change('after messages', second)).toBe(200);
    expect(await change('after a change', second)).toBe(412);
    const third = await tagOf(user);
    await write(team, id);
    expect((await patch(user, path, { status: 'resolved' }, { 'If-Match': third })).status).toBe(200);
    const [resolved] = [await tagOf(team)];
    await write(user, id); // opens it again
    expect(await change('after a transition', resolved)).toBe(412);
  });

  test('by deleting it with If-Match is refused after a message or note, but not because somebody has read', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    const path = `/v1/conversations/${id}`;
    const tagOf = async () => (await get(team, path)).headers.get('ETag') as string;
    const deletion = (tag: string) => api.request('DELETE', path, { as: team, headers: { 'If-Match': tag } });
    for (const fields of [{}, { kind: 'note' }]) {
      const before = await tagOf();
      await write(team, id, fields);
      expect(problem(await deletion(before))).toEqual([412, 'precondition-failed']);
    }
    const before = await tagOf();
    await markRead(user, id, 2);
    await markRead(team, id, 2);
    expect(await tagOf()).not.toBe(before);
    expect((await get(team, path, { 'If-None-Match': before })).body.unread_count).toBe(0);
    expect((await deletion(before)).status).toBe(204);
  });

  test('merges with the changes of others, unless a value that the caller has seen is gone', async () => {
    const { user, team, tenant } = await makeParties();
    const member = await makeMember(tenant);
    const path = `/v1/conversations/${(await start(user, { subject: 'Billing' })).body.id}`;
    const was = { status: 'open', assignee_id: null, priority: 'none', subject: 'Billing' };
    await patch(team, path, { assignee_id: member, tags: ['a', 'b'] });
    const refused = await patch(team, path, { priority: 'high', add_tags: ['c'], was });
    expect(problem(refused)).toEqual([409, 'conversation-changed']);
    expect(refused.body.now).toEqual({ assignee_id: member });
    const merged = await patch(team, path, {
      priority: 'high',
      add_tags: ['c', 'a'],
      remove_tags: ['b', 'absent'],
      was: { priority: 'none' },
    });
    expect(merged.body).toMatchObject({ assignee_id: member, priority: 'high', tags: ['a', 'c'], subject: 'Billing' });
  });

  test('adds no 21st tag, and tags added at once by many are all kept', async () => {
    const { user, team } = await makeParties();
    const path = `/v1/conversations/${(await start(user)).body.id}`;
    const names = Array.from({ length: 20 }, (_, index) => `t${index}`);
    await Promise.all(names.map(name => patch(team, path, { add_tags: [name] })));
    expect((await get(team, path)).body.tags.toSorted()).toEqual(names.toSorted());
    const refused = await patch(team, path, { add_tags: ['t20'], priority: 'high' });
    expect([...problem(refused), refused.body.errors[0].pointer]).toEqual([422, 'validation-failed', '/add_tags']);
    expect((await get(team, path)).body.priority).toBe('none');
    expect((await patch(team, path, { add_tags: ['t20'], remove_tags: ['t0'] })).status).toBe(200);
  });

  test('with the same If-Match twice at once rejects one', async () => {
    const { user, team } = await makeParties();
    const path = `/v1/conversations/${(await start(user)).body.id}`;
    const etag = (await get(team, path)).headers.get('ETag') as string;
    const replies = await Promise.all(
      ['one', 'two'].map(subject => patch(team, path, { subject }, { 'If-Match': etag })),
    );
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 412]);
  });

  test('by deleting it removes it for both sides, with its messages', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    await write(team, id);
    const deleted = await api.request('DELETE', `/v1/conversations/${id}`, { as: team });
    expect([deleted.status, deleted.body]).toEqual([204, '']);
    for (const as of [team, user])
      for (const path of ['', '/messages']) expect((await get(as, `/v1/conversations/${id}${path}`)).status).toBe(404);
    expect((await write(user, id)).status).toBe(410);
    expect(await list(team)).toEqual([]);
    expect(await api.database.query('select from messages where conversation_id = $1', [uuidOf(id)])).toEqual([]);
  });
});
