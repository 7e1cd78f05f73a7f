import { v7 } from 'uuid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toTypeId } from '../../src/domain/ids.ts';
import { withClient } from '../../src/platform/postgres-client.ts';
import { createApi, type TestApi, type TestReply, waitFor } from '../support/api.ts';
import {
  anAcceptedAnswer,
  anAnswer,
  aQuestion,
  makeTenant,
  publishQuestion,
  type TestTenant,
} from '../support/make.ts';

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
const outcome = ({ status, body }: TestReply) => [status, body.code];
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
    expect(performance.now() - startedAt).toBeLessThan(2000); // waiting for a row lock would take 5 s
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
