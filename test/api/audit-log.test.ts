import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPERATIONS } from '../../src/api/routes/index.ts';
import { toTypeId } from '../../src/domain/ids.ts';
import { MAX_SCANNED } from '../../src/domain/pages.ts';
import { ACTIONS, AuditEntry } from '../../src/domain/team/audit-log.ts';
import { recordAnswers } from '../../src/storage/answers/recording.ts';
import { createApi, type TestApi } from '../support/api.ts';
import { anAcceptedAnswer, aQuestion, makeTenant, type TestTenant } from '../support/make.ts';
import { joinTenant, logIn, makeMember, PASSWORD, type TestPerson } from '../support/person.ts';

/**
 * Team writes without an audit entry: answers, conversations and messages record their own author and time, a read
 * horizon is not an action, and inspecting a token, estimating a reach or previewing rules changes no data.
 */
const NOT_AUDITED = [
  'recordAnswers',
  'createConversation',
  'createMessage',
  'markConversationRead',
  'inspectToken',
  'estimateReach',
  'previewAssignmentRules',
  'issueTestToken',
];
/** Actions before the caller is authenticated, of the worker and of the command line, which write the entry themselves. */
const WITHOUT_CALLER = [
  'session.started',
  'tenant.created',
  'member.created',
  'member.joined',
  'password.reset',
  'webhook.disabled',
  'totp.removed',
] as const;

let api: TestApi;
let tenant: TestTenant;
let owner: TestPerson;
beforeAll(async () => {
  api = await createApi();
  tenant = await makeTenant(api);
  owner = await makeMember(api, tenant, 'owner');
});
afterAll(() => api[Symbol.asyncDispose]());

const read = (query = '', person = owner) => api.request('GET', `/v1/audit-log${query}`, { headers: person.headers });

test('every write by a key, a member or a person has an audit entry, or a reason for none', () => {
  const writes = OPERATIONS.filter(
    ({ method, credentials }) =>
      method !== 'get' && credentials.some(kind => ['api-key', 'session', 'person'].includes(kind)),
  );
  expect(writes.length).toBeGreaterThan(35);
  expect(
    writes
      .filter(({ audit }) => audit === undefined)
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(NOT_AUDITED.toSorted());
  const named = writes.flatMap(({ audit }) => (audit ? [audit] : []));
  expect(new Set([...named, ...WITHOUT_CALLER])).toEqual(new Set(ACTIONS));
});

describe('an entry', () => {
  test('has actor, action, target, time, request id and the sent fields', async () => {
    const made = await api.request('POST', '/v1/questions', { as: tenant.key.apiKey, body: aQuestion({ name: 'Q1' }) });
    const renamed = await api.request('PATCH', `/v1/questions/${made.body.id}`, {
      headers: { ...owner.headers, 'X-Request-Id': 'the-request' },
      body: { name: 'Q2', title: 'A secret title?' },
    });
    expect(renamed.status).toBe(200);
    const [second, first] = (await read('?limit=2')).body.data;
    expect(AuditEntry.parse(first)).toMatchObject({
      actor: { type: 'api_key', id: tenant.key.id, name: 'backend' },
      action: 'question.created',
      target: { id: made.body.id, name: 'Q1' },
      fields: ['type', 'title', 'name'],
    });
    expect(second).toMatchObject({
      actor: { type: 'member', id: owner.memberId, name: 'The owner' },
      action: 'question.updated',
      target: { id: made.body.id, name: 'Q2' },
      fields: ['name', 'title'],
      request_id: 'the-request',
      ip: null,
    });
    expect(JSON.stringify(second)).not.toContain('A secret title?');
  });

  test('is not written by failed actions, and once by actions repeated with an Idempotency-Key', async () => {
    const before = (await read('?limit=100')).body.data.length;
    await api.request('POST', '/v1/questions', { headers: owner.headers, body: {} });
    await api.request('POST', '/v1/questions', {
      headers: { ...owner.headers, 'X-CSRF-Token': 'x' },
      body: aQuestion(),
    });
    const missing = '/v1/questions/question_01h455vb4pex5vsknk084sn02q';
    await api.request('DELETE', missing, { headers: owner.headers });
    expect((await read('?limit=100')).body.data).toHaveLength(before);
    const headers = { ...owner.headers, 'Idempotency-Key': 'once' };
    for (const _ of [1, 2]) await api.request('POST', '/v1/questions', { headers, body: aQuestion() });
    expect((await read('?limit=100')).body.data).toHaveLength(before + 1);
  });

  test('of a test or a replay of a webhook names the webhook, not the delivery', async () => {
    const send = (path: string, body?: object) =>
      api.request('POST', `/v1/webhooks${path}`, { headers: owner.headers, ...(body && { body }) });
    const { id } = (await send('', { url: 'https://93.184.215.14/hook', event_types: ['message.created'] })).body;
    const delivery = (await send(`/${id}/test`)).body.id;
    expect((await send(`/${id}/deliveries/${delivery}/replay`)).body.id).toBe(delivery);
    const entries = (await read('?limit=2')).body.data.map((entry: unknown) => AuditEntry.parse(entry));
    expect(entries).toMatchObject([
      { action: 'webhook.replayed', target: { id } },
      { action: 'webhook.tested', target: { id } },
    ]);
  });

  test('of a webhook shows its host, but not the path of its URL, which can be secret', async () => {
    const { headers } = owner;
    const body = { url: 'https://93.184.215.14:8443/hook/secret', event_types: ['message.created'] };
    const { id } = (await api.request('POST', '/v1/webhooks', { headers, body })).body;
    await api.request('DELETE', `/v1/webhooks/${id}`, { headers });
    const target = { id, name: '93.184.215.14:8443' };
    expect((await read('?limit=2')).body.data).toMatchObject([
      { action: 'webhook.deleted', target },
      { action: 'webhook.created', target },
    ]);
  });

  test('of a person is in the log of each of their tenants', async () => {
    const other = await makeTenant(api, 'Other');
    const person = await makeMember(api, tenant, 'admin');
    await joinTenant(api, other, person, 'owner');
    expect((await logIn(api, person.email)).status).toBe(200);
    for (const { id } of [tenant, other]) {
      const headers = { ...person.headers, 'Tenant-Id': id };
      const { body } = await api.request('GET', '/v1/audit-log?action=session.started', { headers });
      expect(body.data[0].actor.name).toBe('The admin');
    }
  });

  test('truncates the address as set by the tenant', async () => {
    const own = await makeTenant(api);
    const person = await makeMember(api, own, 'owner');
    for (const ip_mode of ['full', 'truncated', 'none'])
      await api.request('PATCH', '/v1/tenant', { headers: person.headers, body: { ip_mode } });
    const { data } = (await read('', person)).body;
    expect(data.map((line: { ip: string }) => line.ip)).toEqual([null, '127.0.0.0', '127.0.0.1']);
  });

  test.each([
    ['203.0.113.9:52144', '203.0.113.0'],
    ['[2001:db8:1:2:3::4]:443', '2001:db8:1::'],
    ['fe80::1%eth0', 'fe80:0:0::'],
    ['unknown', null],
  ])('has a truncated address of %s, as a proxy sends it, like the session', async (sent, stored) => {
    await using proxied = await createApi({ sharing: api, settings: { TRUSTED_PROXY_HOPS: '1' } });
    const own = await makeTenant(api);
    const person = await makeMember(api, own, 'owner');
    await api.request('PATCH', '/v1/tenant', { headers: person.headers, body: { ip_mode: 'truncated' } });
    const headers = { 'X-Forwarded-For': sent };
    const body = { email: person.email, password: PASSWORD };
    expect((await proxied.request('POST', '/v1/session', { headers, body })).status).toBe(200);
    expect((await read('?action=session.started', person)).body.data[0].ip).toBe(stored);
    const sessions = await api.request('GET', '/v1/sessions', { headers: person.headers });
    expect(sessions.body.data.map(({ ip }: { ip: string | null }) => ip)).toContain(stored);
  });
});

/** Fields of a question whose members PostgreSQL returns in another order. */
const RULES = {
  audience: { all: [{ attribute: 'plan', op: 'eq', value: 'pro' }] },
  follow_ups: [{ key: 'why', type: 'text', title: 'Why?', show_if: { step: 'main', op: 'lte', value: 6 } }],
  trigger: { event: 'order_completed', delay_s: 5 },
  frequency: { repeat: 'every_days', every_days: 90 },
};

test('a change that leaves everything as it was has no entry, no event and the same version', async () => {
  const own = await makeTenant(api);
  const { headers, ...person } = await makeMember(api, own, 'owner');
  const send = (method: string, path: string, body: object) => api.request(method, path, { headers, body });
  const create = async (path: string, body: object) => `${path}/${(await send('POST', path, body)).body.id}`;
  const conversation = await create('/v1/conversations', { identity: 'user|42', message: 'Hello', subject: 'Export' });
  const message = await create(`${conversation}/messages`, { body: 'Here.' });
  const webhook = { url: 'https://93.184.215.14/hook', event_types: ['message.created'] };
  const [answer] = [anAcceptedAnswer({ tenant_id: own.uuid })];
  await recordAnswers(api.database.storage('parley_worker'), [{ flush: v7(), answers: [answer] }]);
  const changes: [path: string, same: object, other: object][] = [
    [conversation, { subject: 'Export', priority: 'none', tags: [] }, { priority: 'low' }],
    [message, { body: 'Here.' }, { body: 'There.' }],
    [await create('/v1/macros', { name: 'M', body: 'x', changes: { priority: 'low' } }), { name: 'M' }, { name: 'N' }],
    [
      await create('/v1/views', { name: 'V', filter: { status: 'open' } }),
      { filter: { status: 'open' } },
      { name: 'W' },
    ],
    [await create('/v1/webhooks', webhook), webhook, { payload: 'thin' }],
    [await create('/v1/questions', aQuestion({ name: 'Q' })), { name: 'Q' }, { name: 'R' }],
    [await create('/v1/questions', aQuestion(RULES)), RULES, { name: 'R' }],
    [await create('/v1/api-keys', { name: 'K' }), { name: 'K' }, { name: 'L' }],
    [`/v1/answers/${answer.id}`, { tags: [] }, { tags: ['later'] }],
    ['/v1/tenant', { cooldown_days: 7, office_hours: [] }, { cooldown_days: 8 }],
    [`/v1/members/${person.memberId}`, { role: 'owner' }, { capacity: 3 }],
    ['/v1/me', { name: 'The owner' }, { name: 'Ada' }],
  ];
  const count = async (table: string) =>
    (await api.database.query(`select from ${table} where tenant_id = $1`, [own.uuid])).length;
  const traces = () => Promise.all([count('audit_log'), count('events')]);
  for (const [path, same, other] of changes) {
    const before = await traces();
    const [first, second] = [await send('PATCH', path, same), await send('PATCH', path, same)];
    expect([path, first.status, second.body]).toEqual([path, 200, first.body]);
    expect([path, await traces()]).toEqual([path, before]);
    expect((await send('PATCH', path, other)).status).toBe(200);
    expect([path, (await traces())[0]]).toEqual([path, before[0] + 1]);
  }
});

describe('an action and its entry', () => {
  /** Makes audit entries fail while `work` runs. */
  async function withoutAuditLog<T>(work: () => Promise<T>): Promise<T> {
    await api.database.query('alter table audit_log rename to audit_log_away');
    try {
      return await work();
    } finally {
      await api.database.query('alter table audit_log_away rename to audit_log');
    }
  }
  const TABLES =
    'tenants accounts sessions members invitations api_keys questions question_versions identities conversations messages audit_log';
  /** All data that an action could change, except last-used times. */
  async function everything(): Promise<string> {
    const rows = TABLES.split(' ').map(table =>
      api.database.query(
        `select (to_jsonb(t) - 'last_used_at' - 'last_seen_at')::text as row from ${table} t order by 1`,
      ),
    );
    return JSON.stringify(await Promise.all(rows));
  }

  test('are committed together or not at all, for every actor', async () => {
    const person = await makeMember(api, tenant, 'owner');
    const victim = await makeMember(api, tenant, 'agent');
    const invited = await api.request('POST', '/v1/members', {
      headers: person.headers,
      body: { email: 'late@acme.example', role: 'agent' },
    });
    const token = invited.body.link.split('#token=')[1];
    const question = await api.request('POST', '/v1/questions', { headers: person.headers, body: aQuestion() });
    const ofQuestion = `/v1/questions/${question.body.id}`;
    const as = await tenant.sign('user|42');
    const started = await api.request('POST', '/v1/conversations', { as, body: { message: 'Hello' } });
    const ofConversation = `/v1/conversations/${started.body.id}`;
    const { headers } = person;
    const acts: [string, string, Parameters<TestApi['request']>[2]][] = [
      ['PATCH', '/v1/tenant', { headers, body: { name: 'Renamed' } }],
      ['POST', '/v1/questions', { headers, body: aQuestion() }],
      ['POST', '/v1/questions', { as: tenant.key.apiKey, body: aQuestion() }],
      ['PATCH', ofQuestion, { headers, body: { title: 'Other?' } }],
      ['POST', `${ofQuestion}/publish`, { headers }],
      ['DELETE', ofQuestion, { headers }],
      ['POST', '/v1/api-keys', { headers, body: { name: 'another' } }],
      ['POST', `/v1/api-keys/${tenant.key.id}/rotate`, { headers, body: {} }],
      ['DELETE', `/v1/api-keys/${tenant.key.id}`, { headers }],
      ['POST', '/v1/members', { headers, body: { email: 'new@acme.example', role: 'agent' } }],
      ['PATCH', `/v1/members/${victim.memberId}`, { headers, body: { role: 'analyst' } }],
      ['DELETE', `/v1/members/${victim.memberId}`, { headers }],
      ['PUT', '/v1/identities/user%7C42', { headers, body: { locale: 'de' } }],
      ['PATCH', ofConversation, { headers, body: { priority: 'high' } }],
      ['DELETE', ofConversation, { headers }],
      ['PATCH', '/v1/me', { headers, body: { name: 'Renamed' } }],
      ['PUT', '/v1/me/password', { headers, body: { current_password: PASSWORD, new_password: `${PASSWORD} 2` } }],
      ['POST', '/v1/me/totp', { headers, body: { password: PASSWORD } }],
      ['DELETE', '/v1/session', { headers }],
      ['DELETE', '/v1/sessions', { headers }],
      ['POST', '/v1/session', { body: { email: person.email, password: PASSWORD } }],
      ['POST', `/v1/invitations/${token}/accept`, { body: { name: 'Late', password: PASSWORD } }],
    ];
    const before = await everything();
    const statuses = await withoutAuditLog(async () => {
      const found: [string, string, number][] = [];
      for (const [method, path, request] of acts)
        found.push([method, path, (await api.request(method, path, request)).status]);
      return found;
    });
    expect(statuses).toEqual(acts.map(([method, path]) => [method, path, 500]));
    expect(await everything()).toEqual(before);
    for (const [method, path, request] of acts.slice(0, 3))
      expect((await api.request(method, path, request)).status).toBeLessThan(300);
  });

  test('of every kind are one transaction of the database', async () => {
    const own = await makeTenant(api);
    const person = await makeMember(api, own, 'owner');
    const { headers } = person;
    const xminOf = async (table: string) =>
      (
        await api.database.query<{ xmin: string }>(
          `select xmin::text from ${table} where tenant_id = $1 order by xmin::text::bigint desc limit 1`,
          [own.uuid],
        )
      )[0]?.xmin;
    await api.request('POST', '/v1/questions', { headers, body: aQuestion() });
    expect(await xminOf('questions')).toBe(await xminOf('audit_log'));
    await api.request('POST', '/v1/api-keys', { headers, body: { name: 'another' } });
    expect(await xminOf('api_keys')).toBe(await xminOf('audit_log'));
    await api.request('POST', '/v1/members', { headers, body: { email: 'x@acme.example', role: 'agent' } });
    expect(await xminOf('invitations')).toBe(await xminOf('audit_log'));
    await logIn(api, person.email);
    const [row] = await api.database.query<{ xmin: string }>(
      'select xmin::text from sessions where account_id = $1 order by created_at desc limit 1',
      [person.accountId],
    );
    expect(row?.xmin).toBe(await xminOf('audit_log'));
  });

  test('in the queue has its entry before it runs', async () => {
    const id = '019ab000-0000-7000-8000-000000000001';
    const payload = JSON.stringify(anAcceptedAnswer({ tenant_id: tenant.uuid }));
    await api.database.query(
      "insert into quarantined_answers values ($1, $2, gen_random_uuid(), 'unstorable', '', $3, now())",
      [tenant.uuid, id, payload],
    );
    const path = `/v1/quarantine/${toTypeId('quarantine', id)}/replay`;
    expect((await api.request('POST', path, { headers: owner.headers })).status).toBe(200);
    const [line] = (await read('?limit=1')).body.data;
    expect(line).toMatchObject({ action: 'quarantine.replayed', target: { id: toTypeId('quarantine', id) } });
  });
});

describe('the list', () => {
  test('is filtered by action, actor and time, and paged without gaps', async () => {
    for (let index = 0; index < 5; index++)
      await api.request('POST', '/v1/questions', { as: tenant.key.apiKey, body: aQuestion({ name: `page ${index}` }) });
    const all = (await read(`?actor=${tenant.key.id}&limit=100`)).body.data;
    expect(new Set(all.map((line: { actor: { id: string } }) => line.actor.id))).toEqual(new Set([tenant.key.id]));
    const paged = [];
    for (let cursor = ''; ; ) {
      const page = (await read(`?actor=${tenant.key.id}&limit=2${cursor}`)).body;
      paged.push(...page.data);
      if (!page.has_more) break;
      cursor = `&cursor=${page.next_cursor}`;
    }
    expect(paged).toEqual(all);
    const since = all[1].at;
    const recent = (await read(`?actor=${tenant.key.id}&since=${since}&limit=100`)).body.data;
    expect(recent).toEqual(all.filter((line: { at: string }) => line.at >= since));
    expect((await read('?action=quarantine.discarded')).body.data).toEqual([]);
    for (const query of ['?action=nonsense', '?actor=somebody', '?since=yesterday'])
      expect((await read(query)).status).toBe(422);
  });

  test('ends a page early with `searched_to` when no entry of many matches, and goes on from there', async () => {
    const large = await makeTenant(api, 'Large');
    const person = await makeMember(api, large, 'owner');
    await api.database.query(
      `insert into audit_log (tenant_id, id, at, actor_type, actor_id, actor_name, action, fields)
       select $1, gen_random_uuid(), timestamptz '2026-01-01' + n * interval '1 second', 'member', 'member_a', 'Ada',
         case n when 1 then 'tenant.updated' else 'answer.tagged' end, '{}' from generate_series(1, $2::int) as n`,
      [large.uuid, MAX_SCANNED + 10],
    );
    const first = await read('?action=tenant.updated', person);
    expect(first.body).toEqual({
      data: [],
      has_more: true,
      next_cursor: expect.any(String),
      searched_to: expect.stringMatching(/^2026-01-01T00:00:1\d\.000Z$/),
    });
    expect(first.headers.get('Link')).toContain(first.body.next_cursor);
    const second = (await read(`?action=tenant.updated&cursor=${first.body.next_cursor}`, person)).body;
    expect(second).toMatchObject({ data: [{ at: '2026-01-01T00:00:01.000Z' }], has_more: false, next_cursor: null });
    expect(second).not.toHaveProperty('searched_to');
  });

  test('contains no entries of another tenant', async () => {
    const other = await makeTenant(api, 'Other');
    const stranger = await makeMember(api, other, 'owner');
    expect((await read('', stranger)).body.data).toEqual([]);
  });
});
