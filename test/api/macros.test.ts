import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApi, type TestApi } from '../support/api.ts';
import { type Body, conversationsOf, idsOf, problem } from '../support/conversations.ts';
import { makeTenant } from '../support/make.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createApi();
});
afterAll(() => api[Symbol.asyncDispose]());

const { makeParties, get, post, patch, start, write, read, messages, readPages, makeMember } = conversationsOf(
  () => api,
);

const make = (as: string, fields: Body) => post(as, '/v1/macros', { name: 'Export', ...fields });
const apply = (as: string, id: string, macro: string, body?: Body) =>
  api.request('POST', `/v1/conversations/${id}/macros/${macro}`, { as, ...(body ? { body } : {}) });

describe('a macro', () => {
  test('is created, changed under its ETag, listed and deleted', async () => {
    const { team, tenant } = await makeParties();
    const member = await makeMember(tenant);
    const fields = { name: 'Export', shortcut: 'export', kind: 'note', body: 'See Reports.' };
    const changes = { status: 'snoozed', snooze_for_s: 3600, assignee_id: member, add_tags: ['export'] };
    const made = await make(team, { ...fields, changes });
    const { id, created_at } = made.body;
    expect([made.status, made.body]).toEqual([
      201,
      { id: expect.stringMatching(/^macro_/), ...fields, changes, created_at, updated_at: created_at },
    ]);
    const path = `/v1/macros/${id}`;
    expect(made.headers.get('Location')).toBe(path);
    const found = await get(team, path);
    expect(found.body).toEqual(made.body);
    expect(found.headers.get('ETag')).toBe(made.headers.get('ETag'));
    const etag = found.headers.get('ETag') as string;
    expect((await patch(team, path, { name: 'Renamed' }, { 'If-Match': etag })).body.name).toBe('Renamed');
    expect(problem(await patch(team, path, { name: 'Again' }, { 'If-Match': etag }))).toEqual([
      412,
      'precondition-failed',
    ]);
    const reply = (await make(team, { body: 'Hello' })).body;
    expect(reply).toMatchObject({ shortcut: null, kind: 'reply', changes: {} });
    expect(idsOf((await readPages(team, '/v1/macros?limit=1')) as never)).toEqual([id, reply.id]);
    expect((await api.request('DELETE', path, { as: team })).status).toBe(204);
    expect((await get(team, path)).status).toBe(404);
  });

  test.each<[string, Body, string, string]>([
    ['neither body nor changes', {}, '/body', 'required'],
    ['an unknown variable', { body: 'Hello {{member.name|you}}' }, '/body', 'invalid-format'],
    ['a variable without a fallback', { body: 'Hello {{identity.attributes.name}}' }, '/body', 'fallback-missing'],
    ['a snooze without its length', { changes: { status: 'snoozed' } }, '/changes/snooze_for_s', 'required'],
    ['a length without a snooze', { changes: { snooze_for_s: 60 } }, '/changes/snooze_for_s', 'not-allowed'],
    [
      'a snooze of a second',
      { changes: { status: 'snoozed', snooze_for_s: 1 } },
      '/changes/snooze_for_s',
      'out-of-range',
    ],
    [
      'a tag to add and to remove',
      { changes: { add_tags: ['a'], remove_tags: ['a'] } },
      '/changes/remove_tags',
      'conflicting',
    ],
    [
      'an unknown member',
      { changes: { assignee_id: 'member_01h455vb4pex5vsknk084sn02q' } },
      '/changes/assignee_id',
      'unknown-reference',
    ],
    ['a shortcut with a space', { body: 'x', shortcut: 'my export' }, '/shortcut', 'invalid-format'],
    ['an unknown kind', { body: 'x', kind: 'event' }, '/kind', 'unknown-value'],
  ])('with %s is rejected', async (_, fields, pointer, code) => {
    const { team } = await makeParties();
    const refused = await make(team, fields);
    expect([refused.status, refused.body.errors?.[0]]).toMatchObject([422, { pointer, code }]);
    expect((await get(team, '/v1/macros')).body.data).toEqual([]);
  });

  test('of another tenant does not exist, and users cannot see macros', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    const foreign = (await make((await makeTenant(api)).key.apiKey, { body: 'x' })).body.id;
    for (const reply of [await get(team, `/v1/macros/${foreign}`), await apply(team, id, foreign)])
      expect(problem(reply)).toEqual([404, 'resource-not-found']);
    for (const reply of [await get(user, '/v1/macros'), await apply(user, id, foreign)])
      expect(problem(reply)).toEqual([403, 'insufficient-scope']);
    expect(await messages(team, id)).toHaveLength(1);
  });

  test('stays within the maximum of a tenant', async () => {
    const { team, tenant } = await makeParties();
    await api.database.query(
      `insert into macros select $1, gen_random_uuid(), 'm', null, 'x', 'reply', '{}', now(), now() from generate_series(1, 500)`,
      [tenant.uuid],
    );
    expect(problem(await make(team, { body: 'x' }))).toEqual([409, 'limit-reached']);
  });
});

describe('applying a macro', () => {
  test('writes its text with the attributes of the user, and makes its changes', async () => {
    const { user, team, tenant } = await makeParties();
    const member = await makeMember(tenant);
    const { id } = (await start(user)).body;
    const attributes = { plan: 'pro' };
    const saved = await api.request('PUT', '/v1/identities/user%7C42', { as: team, body: { attributes } });
    expect(saved.body.attributes).toEqual(attributes);
    const body = 'Your plan: {{identity.attributes.plan|none}}. Seats: {{identity.attributes.seats|unknown}}.';
    const changes = { status: 'pending', assignee_id: member, priority: 'low', add_tags: ['export'] };
    const macro = (await make(team, { body, changes })).body.id;
    const applied = await apply(team, id, macro);
    expect([applied.status, applied.body]).toMatchObject([
      200,
      {
        conversation: {
          id,
          status: 'pending',
          assignee_id: member,
          priority: 'low',
          tags: ['export'],
          message_count: 2,
        },
        message: { body: 'Your plan: pro. Seats: unknown.', kind: 'reply', seq: 2 },
      },
    ]);
    expect(applied.body.conversation).toEqual(await read(team, id));
    const events = (await messages(team, id)).flatMap(({ event }: Body) => (event ? [event as Body] : []));
    expect(events.map(({ field, reason }: Body) => [field, (reason as Body).type, (reason as Body).id])).toEqual([
      ['status', 'member', null],
      ['assignee_id', 'macro', macro],
      ['priority', 'macro', macro],
      ['tags', 'macro', macro],
    ]);
    expect((await messages(user, id)).map(({ body: text }: Body) => text)).toEqual([
      'Hello',
      'Your plan: pro. Seats: unknown.',
    ]);
  });

  test('snoozes from now on, and with only changes writes no message', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    const macro = (await make(team, { changes: { status: 'snoozed', snooze_for_s: 7200 } })).body.id;
    const before = Date.now();
    const { body } = await apply(team, id, macro);
    expect(body.message).toBeNull();
    expect(Date.parse(body.conversation.snoozed_until)).toBeGreaterThanOrEqual(before + 7_200_000);
    expect(body.conversation).toMatchObject({ status: 'snoozed', message_count: 1 });
  });

  test('with a text does nothing if somebody has written after what its member has seen, unless it is forced', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    const macro = (await make(team, { body: 'Try again, please.', changes: { status: 'resolved' } })).body.id;
    const added = await write(user, id, { body: 'One more thing' });
    const before = await messages(team, id);
    const after = { seq: 1, note_seq: 0 };
    const refused = await apply(team, id, macro, { after });
    expect([...problem(refused), idsOf(refused.body.missed)]).toEqual([409, 'conversation-moved', [added.body.id]]);
    expect([await messages(team, id), (await read(team, id)).status]).toEqual([before, 'open']);
    expect((await apply(team, id, macro, { after, force: true })).body.message.seq).toBe(3);
    const present = { seq: 3, note_seq: before.length };
    expect((await apply(team, id, macro, { after: present })).body.message.seq).toBe(4);
  });

  test('without a text makes its changes whoever has written meanwhile', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    const macro = (await make(team, { changes: { priority: 'high' } })).body.id;
    await write(user, id);
    const applied = await apply(team, id, macro, { after: { seq: 1, note_seq: 0 } });
    expect([applied.status, applied.body.conversation.priority]).toEqual([200, 'high']);
  });

  test.each<[string, Body, string]>([
    ['a position without notes', { after: { seq: 1 } }, '/after/note_seq'],
    ['an unknown field', { seen: 1 }, '/seen'],
  ])('with %s is rejected', async (_, body, pointer) => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    const macro = (await make(team, { body: 'x' })).body.id;
    const refused = await apply(team, id, macro, body);
    expect([...problem(refused), refused.body.errors[0].pointer]).toEqual([422, 'validation-failed', pointer]);
    expect(await messages(team, id)).toHaveLength(1);
  });

  test('does nothing of it when a part does not fit', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    await patch(team, `/v1/conversations/${id}`, { tags: Array.from({ length: 20 }, (_, at) => `t${at}`) });
    const macro = (await make(team, { body: 'Hello', changes: { add_tags: ['one more'] } })).body.id;
    const before = await messages(team, id);
    expect(problem(await apply(team, id, macro))).toEqual([409, 'invalid-transition']);
    expect(await messages(team, id)).toEqual(before);
  });

  test('writes nothing if its text with the attributes of the user is too long for a message', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    const body = '{{identity.attributes.plan|none}}'.repeat(100);
    const macro = (await make(team, { body })).body.id;
    const save = (length: number) =>
      api.request('PUT', '/v1/identities/user%7C42', { as: team, body: { attributes: { plan: 'x'.repeat(length) } } });
    await save(101);
    expect(problem(await apply(team, id, macro))).toEqual([422, 'validation-failed']);
    expect(await messages(team, id)).toHaveLength(1);
    await save(100);
    expect((await apply(team, id, macro)).body.message.body).toHaveLength(10_000);
  });
});
