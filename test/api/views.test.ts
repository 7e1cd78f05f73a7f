import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseTypeId } from '../../src/domain/ids.ts';
import { createApi, type TestApi, type TestReply } from '../support/api.ts';
import { type Body, conversationsOf, idsOf, problem } from '../support/conversations.ts';
import { makeTenant, type TestTenant } from '../support/make.ts';
import { makeMember, type TestPerson } from '../support/person.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createApi();
});
afterAll(() => api[Symbol.asyncDispose]());

const { start, write, patch, seed } = conversationsOf(() => api);

const ask = ({ headers }: TestPerson, method: string, path: string, body?: Body) =>
  api.request(method, path, { headers, ...(body ? { body } : {}) });
const save = (person: TestPerson, fields: Body) => ask(person, 'POST', '/v1/views', { name: 'Urgent', ...fields });
const namesOf = async (person: TestPerson) =>
  (await ask(person, 'GET', '/v1/views?limit=100')).body.data.map(({ name }: { name: string }) => name);
const countsOf = async (person: TestPerson) => (await ask(person, 'GET', '/v1/conversations/counts')).body.views;

async function makeTeam(): Promise<{ tenant: TestTenant; ada: TestPerson; bob: TestPerson }> {
  const tenant = await makeTenant(api);
  return { tenant, ada: await makeMember(api, tenant, 'agent'), bob: await makeMember(api, tenant, 'agent') };
}

describe('a view', () => {
  test('is created, changed and deleted by its member, whom others do not see it of', async () => {
    const { ada, bob } = await makeTeam();
    const filter = { status: 'open', assignee: ada.memberId, unread: true, tag: 'vip' };
    const { status, body } = await save(ada, { filter, sort: 'reply_due_at' });
    const { id, created_at } = body;
    expect([status, body]).toEqual([
      201,
      {
        ...{ id: expect.stringMatching(/^view_/), name: 'Urgent', filter, sort: 'reply_due_at', shared: false },
        ...{ created_at, updated_at: created_at },
      },
    ]);
    expect(await namesOf(bob)).toEqual([]);
    for (const method of ['PATCH', 'DELETE']) {
      const refused = await ask(bob, method, `/v1/views/${id}`, method === 'PATCH' ? { name: 'Mine' } : undefined);
      expect(problem(refused)).toEqual([404, 'resource-not-found']);
    }
    const changed = await ask(ada, 'PATCH', `/v1/views/${id}`, { filter: { assignee: 'none' } });
    expect(changed.body).toMatchObject({ name: 'Urgent', filter: { assignee: 'none' }, sort: 'reply_due_at' });
    expect((await ask(ada, 'DELETE', `/v1/views/${id}`)).status).toBe(204);
    expect(await namesOf(ada)).toEqual([]);
  });

  test('that is shared is seen and changed by all; whoever stops sharing it keeps it', async () => {
    const { tenant, ada, bob } = await makeTeam();
    const { id } = (await save(ada, { shared: true })).body;
    expect((await ask(bob, 'PATCH', `/v1/views/${id}`, { name: 'Ours' })).body).toMatchObject({ shared: true });
    expect(await namesOf(ada)).toEqual(['Ours']);
    expect((await ask(bob, 'PATCH', `/v1/views/${id}`, { shared: false })).status).toBe(200);
    expect([await namesOf(ada), await namesOf(bob)]).toEqual([[], ['Ours']]);
    const foreign = await makeMember(api, await makeTenant(api), 'owner');
    expect(problem(await ask(foreign, 'DELETE', `/v1/views/${id}`))).toEqual([404, 'resource-not-found']);
    const analyst = await makeMember(api, tenant, 'analyst');
    expect(problem(await save(analyst, {}))).toEqual([403, 'insufficient-scope']);
  });

  test('goes with its member unless it is shared', async () => {
    const { tenant, ada, bob } = await makeTeam();
    await save(ada, { name: 'Own' });
    await save(ada, { name: 'Shared', shared: true });
    const owner = await makeMember(api, tenant, 'owner');
    expect((await ask(owner, 'DELETE', `/v1/members/${ada.memberId}`)).status).toBe(204);
    expect(await api.database.query('select name from views where tenant_id = $1', [tenant.uuid])).toEqual([
      { name: 'Shared' },
    ]);
    expect(await namesOf(bob)).toEqual(['Shared']);
  });

  test('is refused beyond 50 of a member and 50 shared ones, also when it becomes one of them', async () => {
    const { tenant, ada, bob } = await makeTeam();
    const seedViews = (member: TestPerson, shared: boolean) =>
      api.database.query(
        `insert into views (tenant_id, member_id, id, name, filter, sort, shared, created_at, updated_at)
         select $1, $2, gen_random_uuid(), n::text, '{}', '-last_activity_at', $3, now(), now() from generate_series(1, 49) as n`,
        [tenant.uuid, parseTypeId('member', member.memberId), shared],
      );
    const refused = [409, 'limit-reached'];
    await seedViews(ada, true);
    await seedViews(ada, false);
    const [shared, own] = [await save(ada, { shared: true }), await save(ada, {})];
    for (const fields of [{ shared: true }, {}]) expect(problem(await save(ada, fields))).toEqual(refused);
    const share = (person: TestPerson, { body }: TestReply, isShared: boolean) =>
      ask(person, 'PATCH', `/v1/views/${body.id}`, { shared: isShared, name: 'Renamed' });
    expect(problem(await share(ada, own, true))).toEqual(refused);
    expect(problem(await share(ada, shared, false))).toEqual(refused);
    expect((await share(ada, own, false)).status).toBe(200);
    // the views of one member leave room for those of another
    const ofBob = await save(bob, {});
    expect(ofBob.status).toBe(201);
    expect(problem(await share(bob, ofBob, true))).toEqual(refused);
    expect((await share(bob, shared, false)).status).toBe(200);
    expect((await share(bob, ofBob, true)).status).toBe(200);
    expect(await namesOf(ada)).toHaveLength(100);
  });

  test.each<[string, Body, string, string]>([
    ['an unknown filter', { filter: { colour: 'red' } }, '/filter/colour', 'unknown-field'],
    ['a text for a boolean', { filter: { unread: 'true' } }, '/filter/unread', 'wrong-type'],
    ['an unknown status', { filter: { status: 'lost' } }, '/filter/status', 'unknown-value'],
    ['an assignee that is no id', { filter: { assignee: 'ada' } }, '/filter/assignee', 'unknown-value'],
    ['a page', { filter: { limit: 10 } }, '/filter/limit', 'unknown-field'],
    ['an unknown order', { sort: 'subject' }, '/sort', 'unknown-value'],
    ['an empty name', { name: '' }, '/name', 'too-short'],
  ])('is refused with %s', async (_, fields, pointer, code) => {
    const { ada } = await makeTeam();
    const refused = await save(ada, fields);
    expect(refused).toMatchObject({ status: 422, body: { errors: [{ pointer, code }] } });
    expect(await namesOf(ada)).toEqual([]);
  });
});

describe('the counts of views', () => {
  test('are those of the lists', async () => {
    const { tenant, ada, bob } = await makeTeam();
    const team = tenant.key.apiKey;
    const conversations = [];
    for (let number = 0; number < 6; number++)
      conversations.push((await start(await tenant.sign(`user|${number}`))).body.id);
    const [first, second, third, resolved] = conversations;
    const change = (id: string, body: Body) => patch(team, `/v1/conversations/${id}`, body);
    await change(first, { assignee_id: ada.memberId, priority: 'urgent' });
    await change(second, { assignee_id: bob.memberId, tags: ['vip'] });
    await change(third, { priority: 'urgent', tags: ['vip'] });
    await change(resolved, { assignee_id: ada.memberId, status: 'resolved' });
    await write(team, first, { kind: 'note', mentions: [ada.memberId] });
    const filters: Body[] = [
      { status: 'open', priority: 'urgent' },
      { tag: 'vip' },
      { tag: 'vip', assignee: bob.memberId },
      { assignee: ada.memberId },
      { unread: true, source: 'user' },
      { unread: false },
      { identity: 'user|1', verified: true },
      { identity: 'user|1' },
      { mentioned: true },
      { mentioned: false, overdue: false },
      { overdue: true },
      { status: 'resolved', verified: false },
      {},
    ];
    const counts: Body = {};
    for (const filter of filters) {
      const { id } = (await save(ada, { filter, sort: 'created_at' })).body;
      const query = new URLSearchParams(
        Object.entries(filter).map(([name, value]): [string, string] => [name, String(value)]),
      );
      const listed = await ask(ada, 'GET', `/v1/conversations?limit=100&${query}`);
      counts[id] = { count: listed.body.data.length, more: false };
    }
    await save(ada, { filter: { q: 'hello' } });
    expect(await countsOf(ada)).toEqual({
      mine: { count: 1, more: false },
      unassigned: { count: 3, more: false },
      all: { count: 5, more: false },
      mentions: { count: 1, more: false },
      ...counts,
    });
    expect(Object.values(counts).map(count => (count as { count: number }).count)).toEqual([
      ...[2, 2, 1, 2, 6, 0, 1, 1, 1, 5, 0, 0, 6],
    ]);
    expect(await countsOf(bob)).toMatchObject({ mine: { count: 1 }, mentions: { count: 0 } });
  });

  test('leave out what the order of a view leaves out of its list', async () => {
    const { tenant, ada } = await makeTeam();
    const team = tenant.key.apiKey;
    const owner = await makeMember(api, tenant, 'owner');
    const startOne = async () => (await start(await tenant.sign('user|1'))).body.id;
    await startOne(); // waits without a target
    expect((await ask(owner, 'PATCH', '/v1/tenant', { reply_targets: { none: 60, high: 30 } })).status).toBe(200);
    const [, pending, answered] = [await startOne(), await startOne(), await startOne()];
    await patch(team, `/v1/conversations/${pending}`, { status: 'pending', priority: 'high' });
    await write(team, answered);
    for (const [sort, filter, count] of [
      ['waiting_since', {}, 2],
      ['waiting_since', { status: 'pending' }, 0],
      ['reply_due_at', {}, 2],
      ['reply_due_at', { priority: 'high' }, 1],
      ['reply_due_at', { overdue: false }, 2],
      ['created_at', {}, 4],
    ] as const) {
      const { id } = (await save(ada, { filter, sort })).body;
      const query = Object.entries(filter).map(([name, value]) => `&${name}=${value}`);
      const listed = await ask(ada, 'GET', `/v1/conversations?sort=${sort}${query.join('')}`);
      expect([sort, filter, listed.body.data.length, (await countsOf(ada))[id].count]).toEqual([
        ...[sort, filter, count, count],
      ]);
    }
  });

  test('end at 1,000, and after looking at 2,000 conversations', async () => {
    const { tenant, ada } = await makeTeam();
    await seed(tenant, 1000);
    const { id } = (await save(ada, { filter: { status: 'open', priority: 'urgent' } })).body;
    expect(await countsOf(ada)).toMatchObject({
      all: { count: 1000, more: false },
      mine: { count: 0, more: false },
      [id]: { count: 0, more: false },
    });
    await seed(tenant, 1000);
    expect(await countsOf(ada)).toMatchObject({
      all: { count: 1000, more: true },
      unassigned: { count: 1000, more: true },
      mine: { count: 0, more: false },
      [id]: { count: 0, more: true },
    });
  });

  test('are 304 while they stay the same, and are refused to users and keys', async () => {
    const { tenant, ada } = await makeTeam();
    const { headers } = await ask(ada, 'GET', '/v1/conversations/counts');
    const again = { headers: { ...ada.headers, 'If-None-Match': headers.get('ETag') as string } };
    expect((await api.request('GET', '/v1/conversations/counts', again)).status).toBe(304);
    for (const as of [tenant.key.apiKey, await tenant.sign('user|42')])
      for (const path of ['/v1/conversations/counts', '/v1/views'])
        expect(problem(await api.request('GET', path, { as }))).toEqual([403, 'insufficient-scope']);
  });
});

test('mentions in notes filter the list of the member, and go when the note is redacted', async () => {
  const { tenant, ada, bob } = await makeTeam();
  const [mentioned, other] = [
    (await start(await tenant.sign('user|1'))).body.id,
    (await start(await tenant.sign('user|2'))).body.id,
  ];
  const list = async (person: TestPerson, query: string) =>
    idsOf((await ask(person, 'GET', `/v1/conversations?${query}`)).body.data);
  const noted = await ask(bob, 'POST', `/v1/conversations/${mentioned}/messages`, {
    ...{ body: 'Can you look?', kind: 'note', mentions: [ada.memberId, bob.memberId] },
  });
  expect(noted.body).toMatchObject({ kind: 'note', mentions: [ada.memberId, bob.memberId] });
  await write(tenant.key.apiKey, mentioned, { kind: 'note', mentions: [bob.memberId] });
  expect(await list(ada, 'mentioned=true')).toEqual([mentioned]);
  expect(await list(ada, 'mentioned=false')).toEqual([other]);
  expect(await list(ada, 'mentioned=true&sort=created_at')).toEqual([mentioned]);
  const redacted = await ask(bob, 'DELETE', `/v1/conversations/${mentioned}/messages/${noted.body.id}`);
  expect(redacted.status).toBe(204);
  expect([await list(ada, 'mentioned=true'), await list(bob, 'mentioned=true')]).toEqual([[], [mentioned]]);
});

test.each<[string, Body, string, string]>([
  [
    'of an unknown member',
    { kind: 'note', mentions: ['member_01h455vb4pex5vsknk084sn02q'] },
    '/mentions/0',
    'unknown-reference',
  ],
  ['in a reply', { mentions: ['member_01h455vb4pex5vsknk084sn02q'] }, '/mentions', 'not-allowed'],
  ['that is no id', { kind: 'note', mentions: ['ada'] }, '/mentions/0', 'invalid-format'],
  [
    'of a member twice',
    { kind: 'note', mentions: Array(2).fill('member_01h455vb4pex5vsknk084sn02q') },
    '/mentions',
    'repeated-item',
  ],
])('a mention %s is refused', async (_, fields, pointer, code) => {
  const { tenant } = await makeTeam();
  const { id } = (await start(await tenant.sign('user|1'))).body;
  const refused = await write(tenant.key.apiKey, id, fields);
  expect(refused).toMatchObject({ status: 422, body: { errors: [{ pointer, code }] } });
});

test('the filter of mentions needs a session', async () => {
  const { tenant } = await makeTeam();
  const refused = await api.request('GET', '/v1/conversations?mentioned=true', { as: tenant.key.apiKey });
  expect(problem(refused)).toEqual([400, 'unknown-parameter']);
});
