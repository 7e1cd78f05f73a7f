import { v7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { toTypeId } from '../../src/domain/ids.ts';
import { waitingFacts } from '../../src/storage/conversations/assignment-preview.ts';
import { createApi, type TestApi } from '../support/api.ts';
import { makeTenant, type TestTenant } from '../support/make.ts';
import { makeMember, type TestPerson } from '../support/person.ts';

type Body = Record<string, unknown>;

let api: TestApi;
let tenant: TestTenant;
let owner: TestPerson;
let agent: TestPerson;
beforeAll(async () => {
  api = await createApi();
});
beforeEach(async () => {
  tenant = await makeTenant(api);
  [owner, agent] = [await makeMember(api, tenant, 'owner'), await makeMember(api, tenant, 'agent')];
});
afterAll(() => api[Symbol.asyncDispose]());

const get = (by = owner) => api.request('GET', '/v1/assignment-rules', { headers: by.headers });
const put = (data: unknown, more: Record<string, string> = {}, by = owner) =>
  api.request('PUT', '/v1/assignment-rules', { headers: { ...by.headers, ...more }, body: { data } });
const toAgent = () => ({ assign: { member_id: agent.memberId } });

describe('assignment rules', () => {
  test('are empty at first, and are replaced as a whole in their order', async () => {
    expect((await get()).body).toEqual({ data: [] });
    const billing = {
      name: 'Billing',
      when: { tag: 'billing', source: 'user', attribute: { attribute: 'plan', op: 'eq', value: 'pro' } },
      then: { priority: 'high', add_tags: ['money'], assign: { round_robin: [agent.memberId, owner.memberId] } },
    };
    const rest = { name: 'Rest', then: { assign: { least_busy: [agent.memberId] } } };
    const replaced = await put([billing, rest]);
    const id = expect.stringMatching(/^rule_/);
    expect(replaced).toMatchObject({
      status: 200,
      body: {
        data: [
          { id, ...billing },
          { id, when: {}, ...rest },
        ],
      },
    });
    expect((await get()).body).toEqual(replaced.body);
    expect((await get()).headers.get('ETag')).toBe(replaced.headers.get('ETag'));
    const [first, second] = replaced.body.data;
    const turned = await put([second, { ...first, name: 'Invoices' }]);
    expect(turned.body.data.map((rule: Body) => [rule.id, rule.name])).toEqual([
      [second.id, 'Rest'],
      [first.id, 'Invoices'],
    ]);
  });

  test('are not replaced with a tag that is no longer current, and an equal list changes nothing', async () => {
    const { headers, body } = await put([{ name: 'Rest', then: toAgent() }]);
    const tag = headers.get('ETag') as string;
    const version = async () =>
      (await api.database.query('select version from assignment_rules where tenant_id = $1', [tenant.uuid]))[0];
    expect(await version()).toEqual({ version: 1 });
    expect((await put(body.data, { 'If-Match': tag })).status).toBe(200);
    expect(await version()).toEqual({ version: 1 });
    const audited = await api.request('GET', '/v1/audit-log', { headers: owner.headers });
    expect(audited.body.data.map(({ action }: Body) => action)).toEqual(['assignment_rules.replaced']);
    expect((await put([], { 'If-Match': tag })).status).toBe(200);
    expect((await put(body.data, { 'If-Match': tag })).body).toMatchObject({ status: 412 });
    expect((await get()).body).toEqual({ data: [] });
  });

  test('can be saved again after a member they name was removed, who cannot be added to a rule any more', async () => {
    const { body } = await put([{ name: 'Rest', then: { assign: { least_busy: [agent.memberId, owner.memberId] } } }]);
    await api.request('DELETE', `/v1/members/${agent.memberId}`, { headers: owner.headers });
    const renamed = await put([{ ...body.data[0], name: 'All others' }]);
    expect(renamed).toMatchObject({ status: 200, body: { data: [{ ...body.data[0], name: 'All others' }] } });
    expect((await put([])).status).toBe(200);
    expect((await put([{ name: 'Rest', then: toAgent() }])).body).toMatchObject({
      status: 422,
      errors: [{ pointer: '/data/0/then/assign/member_id', code: 'unknown-reference' }],
    });
  });

  test('name only members who may answer: those who may only read are refused, also if a present rule names them', async () => {
    const [reader, other] = [await makeMember(api, tenant, 'analyst'), await makeTenant(api)];
    const stranger = await makeMember(api, other, 'agent');
    const assigns = (id: string) => [{ member_id: id }, { round_robin: [agent.memberId, id] }, { least_busy: [id] }];
    const preview = (data: unknown) =>
      api.request('POST', '/v1/assignment-rules/preview', { headers: owner.headers, body: { data } });
    for (const [id, code] of [
      [reader.memberId, 'not-allowed'],
      [stranger.memberId, 'unknown-reference'],
    ] as const)
      for (const assign of assigns(id)) {
        const data = [{ name: 'Rest', then: { assign } }];
        for (const reply of [await put(data), await preview(data)])
          expect(reply.body).toMatchObject({ status: 422, errors: [{ code }] });
      }
    expect((await get()).body).toEqual({ data: [] });
    const { body } = await put([{ name: 'Rest', then: toAgent() }]);
    await api.request('PATCH', `/v1/members/${agent.memberId}`, { headers: owner.headers, body: { role: 'analyst' } });
    expect((await put([{ ...body.data[0], name: 'All' }])).body).toMatchObject({
      status: 422,
      errors: [{ pointer: '/data/0/then/assign/member_id', code: 'not-allowed' }],
    });
  });

  test('are previewed: how many waiting conversations they match, of this tenant only, without saving anything', async () => {
    const as = tenant.key.apiKey;
    const start = async (identity: string, by = as) =>
      (await api.request('POST', '/v1/conversations', { as: by, body: { identity, message: 'Hello' } })).body.id;
    const change = (id: string, body: Body) => api.request('PATCH', `/v1/conversations/${id}`, { as, body });
    const ids: string[] = [];
    for (const identity of ['a', 'b', 'c', 'd', 'e']) ids.push(await start(identity));
    const [tagged, , , taken, closed] = ids as [string, string, string, string, string];
    await change(tagged, { tags: ['billing'] });
    await api.request('PUT', '/v1/identities/b', { as, body: { attributes: { plan: 'pro' } } });
    await change(taken, { assignee_id: agent.memberId, tags: ['billing'] });
    await change(closed, { status: 'resolved', tags: ['billing'] });
    await start('f', (await makeTenant(api)).key.apiKey);
    const preview = async (data: unknown) =>
      (await api.request('POST', '/v1/assignment-rules/preview', { headers: owner.headers, body: { data } })).body;
    const billing = { name: 'Billing', when: { tag: 'billing' }, then: toAgent() };
    const pro = { name: 'Pro', when: { attribute: { attribute: 'plan', op: 'eq', value: 'pro' } }, then: toAgent() };
    expect(await preview([])).toEqual({ count: 0, more: false });
    expect(await preview([billing])).toEqual({ count: 1, more: false });
    expect(await preview([billing, pro])).toEqual({ count: 2, more: false });
    expect(await preview([{ name: 'All', then: toAgent() }])).toEqual({ count: 3, more: false });
    expect(await preview([{ ...billing, id: toTypeId('rule', v7()) }])).toEqual({ count: 1, more: false });
    expect((await get()).body).toEqual({ data: [] });
    for (const by of [agent.headers, undefined])
      expect(
        (
          await api.request(
            'POST',
            '/v1/assignment-rules/preview',
            by ? { headers: by, body: { data: [] } } : { as, body: { data: [] } },
          )
        ).status,
      ).toBe(403);
  });

  test('are previewed at a bounded cost', async () => {
    await api.database.query(
      `insert into conversations (tenant_id, id, identity, identity_verified, subject, status, priority, tags, source_type,
         started_by, last_seq, last_note_seq, last_preview, last_author_type, user_read_seq, team_read_seq, user_unread,
         team_unread, created_at, updated_at, team_updated_at, last_activity_at)
       select $1, gen_random_uuid(), 'u' || n, true, '', 'open', 'none', '{}', 'user', '', 1, 0, '', 'user', 1, 0, 0, 1, at, at, at, at
       from generate_series(1, 30000) as row(n) cross join lateral (select now() - n * interval '1 minute' as at) as times`,
      [tenant.uuid],
    );
    await api.database.query('analyze conversations');
    const preview = async (when: object) =>
      (
        await api.request('POST', '/v1/assignment-rules/preview', {
          headers: owner.headers,
          body: { data: [{ name: 'Rule', when, then: toAgent() }] },
        })
      ).body;
    expect(await preview({})).toEqual({ count: 1000, more: true });
    expect(await preview({ tag: 'absent' })).toEqual({ count: 0, more: true });
    for (const withAttributes of [true, false]) {
      const plan = await api.database
        .storage()
        .forTenant(tenant.uuid)
        .transaction(tx => tx.query(`explain (analyze, buffers) ${waitingFacts(withAttributes)}`, [tenant.uuid]));
      expect(JSON.stringify(plan)).toContain('using conversations_to_assign');
      expect(JSON.stringify(plan)).not.toContain('Sort');
    }
  });

  test('are for owners and admins only', async () => {
    for (const reply of [await get(agent), await put([], {}, agent)])
      expect(reply.body).toMatchObject({ status: 403, code: 'insufficient-scope' });
    const byKey = await api.request('GET', '/v1/assignment-rules', { as: tenant.key.apiKey });
    expect(byKey.body).toMatchObject({ status: 403, code: 'insufficient-scope' });
  });

  const rule = (fields: Body = {}) => ({ name: 'Rule', then: { priority: 'low' }, ...fields });
  const unknown = toTypeId('member', v7());
  const missing = toTypeId('rule', v7());
  test.each<[name: string, data: unknown, pointer: string, code: string]>([
    ['a list that is missing', undefined, '/data', 'required'],
    ['no name', [{ then: { priority: 'low' } }], '/data/0/name', 'required'],
    ['an empty effect', [rule({ then: {} })], '/data/0/then', 'required'],
    ['an unknown field', [rule({ when: { color: 'red' } })], '/data/0/when/color', 'unknown-field'],
    ['an unknown source', [rule({ when: { source: 'fax' } })], '/data/0/when/source', 'unknown-value'],
    [
      'an unknown member',
      [rule(), rule({ then: { assign: { member_id: unknown } } })],
      '/data/1/then/assign/member_id',
      'unknown-reference',
    ],
    [
      'an unknown member of a list',
      [rule({ then: { assign: { least_busy: [unknown] } } })],
      '/data/0/then/assign/least_busy/0',
      'unknown-reference',
    ],
    [
      'an empty list of members',
      [rule({ then: { assign: { round_robin: [] } } })],
      '/data/0/then/assign/round_robin',
      'too-few',
    ],
    [
      'two ways to assign',
      [rule({ then: { assign: { member_id: unknown, round_robin: [unknown] } } })],
      '/data/0/then/assign/round_robin',
      'conflicting',
    ],
    ['no way to assign', [rule({ then: { assign: {} } })], '/data/0/then/assign', 'required'],
    [
      'an unknown operator',
      [rule({ when: { attribute: { attribute: 'plan', op: 'like', value: 'x' } } })],
      '/data/0/when/attribute/op',
      'unknown-value',
    ],
    [
      'a value of another type',
      [rule({ when: { attribute: { attribute: 'plan', op: 'lt', value: 'x' } } })],
      '/data/0/when/attribute/value',
      'wrong-type',
    ],
    ['an unknown rule', [rule({ id: missing })], '/data/0/id', 'unknown-reference'],
    ['51 rules', Array.from({ length: 51 }, () => rule()), '/data', 'too-many'],
  ])('with %s are refused, and nothing changes', async (_, data, pointer, code) => {
    const before = (await put([rule()])).body;
    expect((await put(data)).body).toMatchObject({ status: 422, errors: [{ pointer, code }] });
    expect((await get()).body).toEqual(before);
  });

  test('with the same rule or member twice are refused', async () => {
    const [known] = (await put([rule()])).body.data;
    expect((await put([known, known])).body.errors).toMatchObject([{ pointer: '/data/1/id', code: 'repeated-item' }]);
    const twice = [rule({ then: { assign: { round_robin: [agent.memberId, agent.memberId] } } })];
    expect((await put(twice)).body.errors).toMatchObject([
      { pointer: '/data/0/then/assign/round_robin', code: 'repeated-item' },
    ]);
  });
});

describe('availability and capacity', () => {
  const change = (body: Body, of = agent, by = owner) =>
    api.request('PATCH', `/v1/members/${of.memberId}`, { headers: by.headers, body });

  test('are active and 20 at first, and are changed by admins', async () => {
    const list = await api.request('GET', '/v1/members', { headers: owner.headers });
    for (const member of list.body.data) expect(member).toMatchObject({ availability: 'active', capacity: 20 });
    const changed = await change({ availability: 'away', capacity: 3 });
    expect(changed).toMatchObject({ status: 200, body: { role: 'agent', availability: 'away', capacity: 3 } });
    expect((await change({ capacity: 0 })).body).toMatchObject({ availability: 'away', capacity: 0 });
  });

  test('an agent changes the own availability, nothing else', async () => {
    expect((await change({ availability: 'away' }, agent, agent)).body).toMatchObject({ availability: 'away' });
    const forbidden = { status: 403, code: 'insufficient-scope' };
    expect((await change({ availability: 'away' }, owner, agent)).body).toMatchObject(forbidden);
    expect((await change({ capacity: 500 }, agent, agent)).body).toMatchObject(forbidden);
    expect((await change({ availability: 'active', role: 'owner' }, agent, agent)).body).toMatchObject(forbidden);
    const analyst = await makeMember(api, tenant, 'analyst');
    expect((await change({ availability: 'away' }, analyst, analyst)).body).toMatchObject(forbidden);
    const [row] = await api.database.query(
      'select availability, capacity, role from members where tenant_id = $1 and role = $2',
      [tenant.uuid, 'agent'],
    );
    expect(row).toEqual({ availability: 'away', capacity: 20, role: 'agent' });
  });

  test.each([
    [{ availability: 'busy' }, '/availability', 'unknown-value'],
    [{ capacity: -1 }, '/capacity', 'out-of-range'],
    [{ capacity: 1001 }, '/capacity', 'out-of-range'],
    [{ capacity: 1.5 }, '/capacity', 'wrong-type'],
  ])('%j is refused', async (body, pointer, code) => {
    expect((await change(body)).body).toMatchObject({ status: 422, errors: [{ pointer, code }] });
  });
});
