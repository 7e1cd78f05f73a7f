import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toTypeId } from '../../src/domain/ids.ts';
import { withClient } from '../../src/platform/postgres-client.ts';
import { createApi, type TestApi, type TestReply, type TestRequest, waitFor } from '../support/api.ts';
import { outcome } from '../support/http.ts';
import {
  anAcceptedAnswer,
  anAnswer,
  aQuestion,
  claimToken,
  makeTenant,
  publishQuestion,
  type TestTenant,
} from '../support/make.ts';
import { makeMember, PASSWORD } from '../support/person.ts';

let api: TestApi;
let owner: TestTenant;
beforeAll(async () => {
  api = await createApi();
  owner = await makeTenant(api);
});
afterAll(() => api[Symbol.asyncDispose]());

const post = (path: string, idempotencyKey: string, body?: unknown) =>
  api.request('POST', path, { as: owner.key.apiKey, body, headers: { 'idempotency-key': idempotencyKey } });
const create = (idempotencyKey: string) => post('/v1/questions', idempotencyKey, aQuestion());
const countQuestions = async () =>
  (await api.request('GET', '/v1/questions?limit=100', { as: owner.key.apiKey })).body.data.length;
const isReplayed = ({ headers }: TestReply) => headers.get('idempotency-replayed') === 'true';

test('a response that cannot be stored undoes the request, and the key is free immediately', async () => {
  const before = await countQuestions();
  await api.database.query(
    `create function refuse_response() returns trigger language plpgsql as 'begin raise exception ''no room''; end'`,
  );
  await api.database.query(
    `create trigger refuse_response before update on idempotency_keys for each row
     when (new.key = 'refused' and new.status is not null) execute function refuse_response()`,
  );
  const refused = await create('refused');
  expect(refused.status).toBeGreaterThanOrEqual(500);
  expect(refused.headers.get('location')).toBeNull();
  expect(await countQuestions()).toBe(before);
  await api.database.query('drop function refuse_response() cascade');
  const [first, again] = [await create('refused'), await create('refused')];
  expect([first.status, again.status]).toEqual([201, 201]);
  expect([isReplayed(first), isReplayed(again)]).toEqual([false, true]);
  expect(await countQuestions()).toBe(before + 1);
});

test('while a request runs its key is 409 immediately, and free immediately when its connection breaks', async () => {
  const before = await countQuestions();
  const first = await withClient(api.database.url, async client => {
    await client.query('begin; lock table audit_log in access exclusive mode');
    const running = create('broken');
    const [backend] = await waitFor(async () => {
      const waiting = await api.database.query<{ pid: number }>(
        `select pid from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock' and query like '%audit_log%'`,
      );
      return waiting.length > 0 && waiting;
    });
    const startedAt = performance.now();
    expect(outcome(await create('broken'))).toEqual([409, 'idempotency-key-in-use']);
    expect(performance.now() - startedAt).toBeLessThan(4500); // waiting for a row lock would take 5 s
    await api.database.query('select pg_terminate_backend($1)', [backend?.pid]);
    return await running;
  });
  expect(first.status).toBe(503);
  expect((await create('broken')).status).toBe(201);
  expect(await countQuestions()).toBe(before + 1);
});

test('a quarantined answer is replayed once under one key', async () => {
  const entry = v7();
  const payload = JSON.stringify({ ...anAcceptedAnswer({ tenant_id: owner.uuid }), id: v7() });
  await api.database.query(`insert into quarantined_answers select $1, $2, $2, 'unstorable', 'x', $3, now()`, [
    owner.uuid,
    entry,
    payload,
  ]);
  const accepted = async () => (await api.metrics.answersAccepted.get()).values[0]?.value ?? 0;
  const before = await accepted();
  const replay = () => post(`/v1/quarantine/${toTypeId('quarantine', entry)}/replay`, 'replay');
  const [first, again] = [await replay(), await replay()];
  expect([first.status, again.status]).toEqual([200, 200]);
  expect([isReplayed(first), isReplayed(again)]).toEqual([false, true]);
  expect(again.body).toEqual(first.body);
  expect((await accepted()) - before).toBe(1);
});

test('a key with answers is ignored: another sync under it is accepted, and no row is written', async () => {
  const question = await publishQuestion(api, owner);
  const send = () =>
    post('/v1/answers', 'sync', { answers: [anAnswer({ question_id: question.id, identity: 'user|42' })] });
  const [first, second] = [await send(), await send()];
  expect([first.status, second.status]).toEqual([202, 202]);
  expect([isReplayed(first), isReplayed(second)]).toEqual([false, false]);
  expect(await api.database.query(`select key from idempotency_keys where key = 'sync'`)).toEqual([]);
});

describe('Idempotency-Key', () => {
  const once = (idempotencyKey: string, request: TestRequest = {}) =>
    api.request('POST', '/v1/questions', {
      ...{ as: owner.key.apiKey, body: aQuestion() },
      ...request,
      headers: { 'idempotency-key': idempotencyKey },
    });

  test('makes a repeated request return the first response', async () => {
    const before = await countQuestions();
    const [first, again] = [await once('a-1'), await once('"a-1"')];
    expect(again.body).toEqual(first.body);
    expect([first.status, again.status]).toEqual([201, 201]);
    expect([first, again].map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, 'true']);
    for (const name of ['location', 'content-type', 'cache-control'])
      expect(again.headers.get(name)).toBe(first.headers.get(name));
    expect(await countQuestions()).toBe(before + 1);
  });

  test('belongs to one request', async () => {
    const { body } = await once('b-1');
    expect(outcome(await once('b-1', { body: aQuestion({ title: 'Other' }) }))).toEqual([
      422,
      'idempotency-key-reused',
    ]);
    const other = await api.request('POST', `/v1/questions/${body.id}/publish`, {
      as: owner.key.apiKey,
      headers: { 'idempotency-key': 'b-1' },
    });
    expect(outcome(other)).toEqual([422, 'idempotency-key-reused']);
  });

  test('of another API key is independent', async () => {
    const second = await owner.addKey();
    const [one, two] = [await once('c-1'), await once('c-1', { as: second.apiKey })];
    expect(two.status).toBe(201);
    expect(two.body.id).not.toBe(one.body.id);
  });

  test('used fifty times concurrently runs the request once', async () => {
    const before = await countQuestions();
    const replies = await Promise.all(Array.from({ length: 50 }, () => once('d-1')));
    const made = replies.filter(({ status }) => status === 201);
    expect(new Set(made.map(({ body }) => body.id)).size).toBe(1);
    expect(made.filter(({ headers }) => !headers.has('idempotency-replayed'))).toHaveLength(1);
    for (const reply of replies.filter(({ status }) => status !== 201)) {
      expect(outcome(reply)).toEqual([409, 'idempotency-key-in-use']);
      expect(reply.headers.get('retry-after')).toBe('1');
    }
    expect(await countQuestions()).toBe(before + 1);
  });

  test('of a running request is 409, until the request is abandoned', async () => {
    const { body } = await once('e-1');
    const age = (interval: string) =>
      api.database.query(
        `update idempotency_keys set status = null, created_at = now() - $1::interval where key = 'e-1'`,
        [interval],
      );
    await age('1 minute');
    expect(outcome(await once('e-1'))).toEqual([409, 'idempotency-key-in-use']);
    await age('3 minutes');
    const again = await once('e-1');
    expect(again.status).toBe(201);
    expect(again.body.id).not.toBe(body.id);
  });

  test('can be used again after a problem', async () => {
    const draft = (await api.request('POST', '/v1/questions', { as: owner.key.apiKey, body: aQuestion() })).body;
    const act = (action: string) =>
      api.request('POST', `/v1/questions/${draft.id}/${action}`, {
        as: owner.key.apiKey,
        headers: { 'idempotency-key': `f-${action}` },
      });
    expect(outcome(await act('pause'))).toEqual([409, 'invalid-transition']);
    expect((await act('publish')).status).toBe(200);
    expect((await act('pause')).status).toBe(200);
  });

  test('is kept for a day', async () => {
    const first = await once('g-1');
    await api.database.query(`update idempotency_keys set created_at = now() - interval '25 hours' where key = 'g-1'`);
    const second = await once('g-1');
    expect(second.status).toBe(201);
    expect(second.body.id).not.toBe(first.body.id);
  });

  test.each([['"'], ['a b'], ['x'.repeat(256)], ['"a", "b"'], ['é']])('%j is malformed', async idempotencyKey => {
    expect(outcome(await once(idempotencyKey))).toEqual([400, 'malformed-request']);
  });
});

test('a repetition may write its JSON in another way, but not another value', async () => {
  const send = (raw: string) =>
    api.request('POST', '/v1/questions', {
      as: owner.key.apiKey,
      raw,
      headers: { 'content-type': 'application/json', 'idempotency-key': 'notation' },
    });
  const first = await send('{"type":"nps","title":"Caf\u00e9","priority":1}');
  const again = await send('{ "title": "Caf\\u00e9", "priority": 1.0,\n "type": "nps" }');
  expect([first.status, again.status, again.body.id]).toEqual([201, 201, first.body.id]);
  expect([isReplayed(first), isReplayed(again)]).toEqual([false, true]);
  expect(outcome(await send('{"type":"nps","title":"Cafe","priority":1}'))).toEqual([422, 'idempotency-key-reused']);
});

test('a request that the previous version received is repeated with the same bytes', async () => {
  const first = await create('upgrade');
  await api.database.query("update idempotency_keys set value_hash = null where key = 'upgrade'");
  const again = await create('upgrade');
  expect([again.status, isReplayed(again), again.body.id]).toEqual([201, true, first.body.id]);
});

describe('An Idempotency-Key is rejected where it has no effect', () => {
  const headers = { 'idempotency-key': 'h-1' };
  const rejected = async (method: string, path: string, request: TestRequest = {}) => {
    const reply = await api.request(method, path, { headers, ...request });
    expect([method, path, outcome(reply)]).toEqual([method, path, [400, 'malformed-request']]);
    expect(reply.body.errors).toMatchObject([{ parameter: 'Idempotency-Key', code: 'not-allowed' }]);
  };

  test('with other methods than POST', async () => {
    const as = owner.key.apiKey;
    const question = (await api.request('POST', '/v1/questions', { as, body: aQuestion() })).body;
    await rejected('GET', '/v1/questions', { as });
    await rejected('GET', '/v1/answers', { as });
    await rejected('PATCH', `/v1/questions/${question.id}`, { as, body: { title: 'Changed' } });
    await rejected('DELETE', `/v1/questions/${question.id}`, { as });
    await rejected('PUT', '/v1/identities/h-1', { as, body: {} });
    const now = await api.request('GET', `/v1/questions/${question.id}`, { as });
    expect([now.status, now.body.title]).toEqual([200, question.title]);
    expect((await api.request('GET', '/v1/identities/h-1', { as })).status).toBe(404);
  });

  test('from users, who generate ids', async () => {
    const as = await owner.sign('user|9');
    await rejected('POST', '/v1/conversations', { as, body: { message: 'a' } });
    await rejected('GET', '/v1/cards', { as: await claimToken(api, owner, 'user|9') });
    expect((await api.request('GET', '/v1/conversations', { as })).body.data).toEqual([]);
  });

  test('without a credential, and from a person without a tenant', async () => {
    await rejected('POST', '/v1/password-resets', { body: { email: 'a@acme.example' } });
    const basic = { authorization: `Basic ${btoa(`api_key:${(await owner.addKey({ kind: 'public' })).id}`)}` };
    const path = `/v1/tenants/${owner.id}/issuers/public/auth/token`;
    await rejected('POST', path, { body: { user_id: '9' }, headers: { ...headers, ...basic } });
    const { headers: session } = await makeMember(api, owner, 'owner');
    await rejected('POST', '/v1/me/totp', { body: { password: PASSWORD }, headers: { ...headers, ...session } });
  });

  test('when it is empty', async () => {
    for (const key of ['', '""']) expect(outcome(await create(key))).toEqual([400, 'malformed-request']);
  });

  test('but ignored with answers from every credential', async () => {
    const { id } = await publishQuestion(api, owner, { allow_public: true });
    const send = (as: string, identity?: string) =>
      api.request('POST', '/v1/answers', {
        as,
        headers,
        body: { answers: [anAnswer({ question_id: id, identity })] },
      });
    expect((await send(owner.key.apiKey, 'user|9')).status).toBe(202);
    for (const as of [await owner.sign('user|9'), await claimToken(api, owner, 'user|9')])
      expect((await send(as)).status).toBe(202);
    const empty = { 'idempotency-key': '' };
    const body = { answers: [anAnswer({ question_id: id, identity: 'user|9' })] };
    expect((await api.request('POST', '/v1/answers', { as: owner.key.apiKey, body, headers: empty })).status).toBe(202);
  });
});
