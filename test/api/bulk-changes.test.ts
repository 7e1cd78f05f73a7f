import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApi, type TestApi } from '../support/api.ts';
import { type Body, conversationsOf, idsOf, problem } from '../support/conversations.ts';
import { makeTenant } from '../support/make.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createApi();
});
afterAll(() => api[Symbol.asyncDispose]());

const { makeParties, post, patch, start, write, read, messages, list, seed, makeMember } = conversationsOf(() => api);

const ABSENT = 'conversation_01h455vb4pex5vsknk084sn02q';
const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString();
const bulk = (as: string, ids: string[], change: Body) => post(as, '/v1/conversations/bulk', { ids, change });

describe('a change of many conversations', () => {
  test('has one result for each id in order, and an event for each change', async () => {
    const { user, team, tenant } = await makeParties();
    const foreign = (await start(await (await makeTenant(api)).sign('user|42'))).body.id;
    const ids = idsOf(await Promise.all([0, 1, 2].map(async () => (await start(user)).body)));
    const [one, two, three] = ids as [string, string, string];
    const member = await makeMember(tenant);
    await patch(team, `/v1/conversations/${two}`, { status: 'resolved', add_tags: ['vip'], assignee_id: member });
    const full = Array.from({ length: 20 }, (_, at) => `t${at}`);
    await patch(team, `/v1/conversations/${three}`, { tags: full });
    const change = { status: 'resolved', assignee_id: member, add_tags: ['vip'] };
    const reply = await bulk(team, [three, foreign, two, ABSENT, one], change);
    expect([reply.status, reply.body]).toEqual([
      200,
      {
        results: [
          { id: three, status: 'conflict', code: 'too-many-tags' },
          { id: foreign, status: 'not-found' },
          { id: two, status: 'unchanged' },
          { id: ABSENT, status: 'not-found' },
          { id: one, status: 'changed' },
        ],
      },
    ]);
    expect(await read(team, one)).toMatchObject({ status: 'resolved', assignee_id: member, tags: ['vip'] });
    expect(await read(team, three)).toMatchObject({ status: 'open', assignee_id: null, tags: full });
    expect((await messages(team, one)).slice(1).map(({ event }: Body) => (event as Body).field)).toEqual([
      'status',
      'assignee_id',
      'tags',
    ]);
    expect(await messages(team, two)).toHaveLength(4);
  });

  test('snoozes a hundred conversations at once', async () => {
    const { team, tenant } = await makeParties();
    await seed(tenant, 100);
    const ids = idsOf(await list(team, '?limit=100'));
    const until = tomorrow();
    const { body } = await bulk(team, ids, { status: 'snoozed', snoozed_until: until });
    expect(body.results).toEqual(ids.map(id => ({ id, status: 'changed' })));
    expect((await list(team, '?limit=100')).every((row: Body) => row.snoozed_until === until)).toBe(true);
    expect((await bulk(team, ids, { status: 'snoozed', snoozed_until: until })).body.results).toEqual(
      ids.map(id => ({ id, status: 'unchanged' })),
    );
  });

  test('by several at once, in any order, changes every conversation once', async () => {
    const { user, team } = await makeParties();
    const ids = idsOf(await Promise.all(Array.from({ length: 10 }, async () => (await start(user)).body)));
    const orders = [ids, ids.toReversed(), [...ids.slice(5), ...ids.slice(0, 5)]];
    const replies = await Promise.all(orders.map(order => bulk(team, order, { priority: 'high' })));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
    const changed = replies.flatMap(({ body }) => body.results).filter(({ status }: Body) => status === 'changed');
    expect(idsOf(changed).toSorted()).toEqual(ids.toSorted());
    for (const id of ids) expect(await messages(team, id)).toHaveLength(2);
  });

  test.each<[string, Body, string]>([
    ['no ids', { ids: [] }, '/ids'],
    [
      '101 ids',
      { ids: Array.from({ length: 101 }, (_, at) => `${ABSENT.slice(0, -3)}${String(at).padStart(3, '0')}`) },
      '/ids',
    ],
    ['an id twice', { ids: [ABSENT, ABSENT] }, '/ids'],
    ['an id of another kind', { ids: ['member_01h455vb4pex5vsknk084sn02q'] }, '/ids/0'],
    ['an unknown member', { change: { assignee_id: 'member_01h455vb4pex5vsknk084sn02q' } }, '/change/assignee_id'],
    ['a snooze without a time', { change: { status: 'snoozed' } }, '/change/snoozed_until'],
    [
      'a time in the past',
      { change: { status: 'snoozed', snoozed_until: '2020-01-01T00:00:00Z' } },
      '/change/snoozed_until',
    ],
    ['a subject', { change: { subject: 'x' } }, '/change/subject'],
  ])('with %s is rejected', async (_, fields, pointer) => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    const refused = await post(team, '/v1/conversations/bulk', { ids: [id], change: { priority: 'high' }, ...fields });
    expect([...problem(refused), refused.body.errors[0].pointer]).toEqual([422, 'validation-failed', pointer]);
    expect((await read(team, id)).priority).toBe('none');
  });

  test('is not for users', async () => {
    const { user } = await makeParties();
    const { id } = (await start(user)).body;
    expect(problem(await bulk(user, [id], { status: 'resolved' }))).toEqual([403, 'insufficient-scope']);
    expect(problem(await post(user, `/v1/conversations/${id}/merge`, { into: id }))).toEqual([
      403,
      'insufficient-scope',
    ]);
  });
});

describe('a merged conversation', () => {
  const merge = (as: string, id: string, into: string) => post(as, `/v1/conversations/${id}/merge`, { into });

  test('is resolved, and later messages of both sides are written to the other one', async () => {
    const { user, team } = await makeParties();
    const [old, kept] = [(await start(user)).body.id, (await start(user)).body.id];
    const merged = await merge(team, old, kept);
    expect([merged.status, merged.body]).toMatchObject([200, { id: old, status: 'resolved', merged_into_id: kept }]);
    const byMerge = { type: 'merge', id: kept };
    expect((await messages(team, old)).slice(1).map(({ event }: Body) => event)).toEqual([
      { field: 'status', from: 'open', to: 'resolved', reason: byMerge },
      { field: 'merged_into_id', from: null, to: kept, reason: byMerge },
    ]);
    for (const as of [user, team]) {
      const written = await write(as, old, { client_message_id: `m-${as.length}` });
      expect([written.status, written.body.conversation_id]).toEqual([201, kept]);
      expect(written.headers.get('Location')).toContain(kept);
      expect((await write(as, old, { client_message_id: `m-${as.length}` })).status).toBe(200);
    }
    expect(await read(user, old)).toMatchObject({ status: 'resolved', merged_into_id: kept, message_count: 1 });
    expect(await read(user, kept)).toMatchObject({ status: 'pending', message_count: 3, merged_into_id: null });
    for (const status of ['open', 'resolved']) {
      const set = await patch(team, `/v1/conversations/${old}`, { status });
      expect([...problem(set), set.body.allowed]).toEqual([409, 'invalid-transition', []]);
    }
    expect(problem(await merge(team, old, kept))).toEqual([409, 'invalid-transition']);
    expect(problem(await merge(team, kept, old))).toEqual([409, 'invalid-transition']);
    const inBulk = await bulk(team, [old], { status: 'open' });
    expect(inBulk.body.results).toEqual([{ id: old, status: 'conflict', code: 'invalid-transition' }]);
  });

  test('has the same user as the other one, which exists in the tenant', async () => {
    const { user, team, tenant } = await makeParties();
    const { id } = (await start(user)).body;
    const other = (await start(await tenant.sign('user|43'))).body.id;
    const foreign = (await start(await (await makeTenant(api)).sign('user|42'))).body.id;
    const codeOf = async (into: string) => {
      const { status, body } = await merge(team, id, into);
      return [status, body.errors[0].pointer, body.errors[0].code];
    };
    expect(await codeOf(other)).toEqual([422, '/into', 'different-user']);
    expect(await codeOf(id)).toEqual([422, '/into', 'conflicting']);
    expect(await codeOf(foreign)).toEqual([422, '/into', 'unknown-reference']);
    expect(problem(await merge(team, foreign, id))).toEqual([404, 'resource-not-found']);
    expect(await read(team, id)).toMatchObject({ status: 'open', merged_into_id: null });
  });

  test('continues on its own once the other one is deleted', async () => {
    const { user, team } = await makeParties();
    const [old, kept] = [(await start(user)).body.id, (await start(user)).body.id];
    await patch(team, `/v1/conversations/${old}`, { status: 'resolved' });
    const before = await read(user, old);
    await merge(team, old, kept);
    const merged = await read(user, old);
    expect(merged.updated_at > before.updated_at).toBe(true);
    expect((await api.request('DELETE', `/v1/conversations/${kept}`, { as: team })).status).toBe(204);
    expect(await read(user, old)).toMatchObject({ status: 'resolved', merged_into_id: null, message_count: 1 });
    const { event } = (await messages(team, old)).at(-1);
    expect(event).toMatchObject({ field: 'merged_into_id', from: kept, to: null });
    expect((await write(user, old)).body.conversation_id).toBe(old);
    expect((await patch(team, `/v1/conversations/${old}`, { status: 'pending' })).status).toBe(200);
  });

  test('hands over that its user waits, and opens the other one', async () => {
    const { user, team } = await makeParties();
    const [waiting, resolved, later] = [await start(user), await start(user), await start(user)].map(
      ({ body }) => body,
    );
    await write(team, resolved.id, { body: 'Done' });
    await patch(team, `/v1/conversations/${resolved.id}`, { status: 'resolved' });
    await merge(team, waiting.id, resolved.id);
    expect(await read(team, resolved.id)).toMatchObject({ status: 'open', waiting_since: waiting.waiting_since });
    expect((await messages(team, resolved.id)).at(-1).event).toEqual({
      ...{ field: 'status', from: 'resolved', to: 'open', reason: { type: 'merge', id: waiting.id } },
    });
    await merge(team, later.id, resolved.id); // has waited for less time
    expect(await read(team, resolved.id)).toMatchObject({ status: 'open', waiting_since: waiting.waiting_since });
  });

  test('receives no message that is written while it is merged', async () => {
    const { user, team } = await makeParties();
    const [old, kept] = [(await start(user)).body.id, (await start(user)).body.id];
    const [, ...written] = await Promise.all([
      merge(team, old, kept),
      ...Array.from({ length: 6 }, (_, at) => write(user, old, { body: String(at) })),
    ]);
    expect(written.map(({ status }) => status)).toEqual(Array(6).fill(201));
    const { message_count, status } = await read(team, old);
    expect(status).toBe('resolved');
    const inOld = written.filter(({ body }) => body.conversation_id === old).length;
    expect(message_count).toBe(1 + inOld);
    expect((await read(team, kept)).message_count).toBe(1 + 6 - inOld);
    expect((await messages(team, old)).at(-1).event.field).toBe('merged_into_id');
  });
});
