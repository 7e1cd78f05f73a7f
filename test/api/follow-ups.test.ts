import { v7 } from 'uuid';
import { afterAll, describe, expect, test } from 'vitest';
import { rebuildResults } from '../../src/storage/answers/results.ts';
import { contract } from '../clients/contract.ts';
import { createApi, createWorker, waitFor } from '../support/api.ts';
import {
  anAnswer,
  answerTo,
  aQuestion,
  claimToken,
  makeTenant,
  publishQuestion,
  storageOf,
  type TestTenant,
} from '../support/make.ts';
import { expectProblem } from '../support/questions.ts';

const api = await createApi();
const worker = await createWorker(api);
afterAll(async () => {
  await worker.close();
  await api[Symbol.asyncDispose]();
});

const REASONS = [
  { id: 'price', label: 'Price' },
  { id: 'speed', label: 'Speed' },
];
const FOLLOW_UPS = [
  {
    ...{ key: 'reason', type: 'multi_choice', title: 'What should we improve?', required: true },
    config: { options: REASONS, allow_other: true },
    show_if: { step: 'main', op: 'lte', value: 6 },
  },
  {
    ...{ key: 'detail', type: 'text', title: 'What was too slow?' },
    show_if: { step: 'reason', op: 'contains_any', value: ['speed'] },
  },
];

const create = (tenant: TestTenant, fields: object) =>
  api.request('POST', '/v1/questions', { as: tenant.key.apiKey, body: aQuestion(fields as never) });
const publish = (tenant: TestTenant, id: string) =>
  api.request('POST', `/v1/questions/${id}/publish`, { as: tenant.key.apiKey });
const patch = (tenant: TestTenant, id: string, body: object) =>
  api.request('PATCH', `/v1/questions/${id}`, { as: tenant.key.apiKey, body });
const send = async (tenant: TestTenant, question: { id: string }, fields: object) =>
  (
    await api.request('POST', '/v1/answers', {
      as: tenant.key.apiKey,
      body: { answers: [anAnswer({ question_id: question.id, identity: `user|${v7()}`, ...fields })] },
    })
  ).body.results[0];
const resultsOf = async (tenant: TestTenant, question: { id: string }, query = '') =>
  (await api.request('GET', `/v1/questions/${question.id}/results${query}`, { as: tenant.key.apiKey })).body;

test('a card has the follow-ups, and its answer their values, for proven and claimed users', async () => {
  const tenant = await makeTenant(api);
  const question = await publishQuestion(api, tenant, { follow_ups: FOLLOW_UPS, allow_public: true });
  for (const token of [await tenant.sign('user|1'), await claimToken(api, tenant, 'user|1')]) {
    const card = await waitFor(async () => (await api.request('GET', '/v1/cards', { as: token })).body.data[0]);
    expect(card.steps.map(({ key, required, show_if }: never) => ({ key, required, show_if }))).toEqual([
      { key: 'main', required: true, show_if: null },
      { key: 'reason', required: true, show_if: FOLLOW_UPS[0]?.show_if },
      { key: 'detail', required: false, show_if: FOLLOW_UPS[1]?.show_if },
    ]);
    const sync = async (fields: object) =>
      (await api.request('POST', '/v1/answers', { as: token, body: { answers: [answerTo(card, fields)] } })).body
        .results[0];
    expect(await sync({ values: { main: 9, reason: { option_ids: ['price'] } } })).toMatchObject({
      ...{ status: 'rejected', code: 'invalid-value', pointer: '/values/reason' },
    });
    expect(await sync({ values: { main: 3 } })).toMatchObject({ code: 'invalid-value', pointer: '/values/reason' });
    const values = { main: 3, reason: { option_ids: ['speed'] }, detail: 'Search' };
    const receipt = await sync({ values, metadata: { card_locale: 'en' } });
    expect(receipt.status).toBe('accepted');
    const stored = await waitFor(async () => {
      const reply = await api.request('GET', `/v1/answers/${receipt.id}`, { as: tenant.key.apiKey });
      return reply.status === 200 && reply.body;
    });
    expect(stored).toMatchObject({ values, metadata: { card_locale: 'en' } });
  }
  const steps = (await resultsOf(tenant, question)).steps;
  expect(steps.map(({ key, shown, answered }: never) => ({ key, shown, answered }))).toEqual([
    { key: 'main', shown: 2, answered: 2 },
    { key: 'reason', shown: 2, answered: 2 },
    { key: 'detail', shown: 2, answered: 2 },
  ]);
});

describe('the cases for all clients', () => {
  const { cards } = contract('steps');
  const { name: _, card } = cards[0];
  test.each(cards[0].answers as { name: string; end?: string; state: string; values: object; fault: string | null }[])(
    '$name',
    async ({ end, state, values, fault }) => {
      const tenant = await makeTenant(api);
      const [{ type, title, config }, ...followUps] = card.steps;
      const question = await publishQuestion(api, tenant, { type, title, config, follow_ups: followUps });
      const receipt = await send(tenant, question, { state: end ?? state, values });
      expect(receipt.pointer ?? null).toBe(fault);
      expect(receipt.status).toBe(fault ? 'rejected' : 'accepted');
      if (end) await waitFor(async () => (await resultsOf(tenant, question))[state] === 1);
    },
  );
});

describe('a question with faults', () => {
  const step = (fields: object) => ({ key: 'a', type: 'text', title: 'Why?', ...fields });
  const showIf = (show_if: object) => ({ follow_ups: [step({ show_if })] });
  const CHOICE = { key: 'pick', type: 'single_choice', title: 'Which?', config: { options: REASONS } };
  test.each([
    ['/follow_ups/0/key', 'repeated-key', { follow_ups: [step({ key: 'main' })] }],
    ['/follow_ups/1/key', 'repeated-key', { follow_ups: [step({}), step({})] }],
    ['/follow_ups/0/show_if/step', 'unknown-step', showIf({ step: 'nowhere', op: 'answered' })],
    ['/follow_ups/0/show_if/step', 'looks-ahead', showIf({ step: 'a', op: 'answered' })],
    [
      '/follow_ups/0/show_if/all/1/step',
      'looks-ahead',
      {
        follow_ups: [
          step({
            show_if: {
              all: [
                { step: 'main', op: 'lte', value: 6 },
                { step: 'b', op: 'answered' },
              ],
            },
          }),
          step({ key: 'b' }),
        ],
      },
    ],
    ['/follow_ups/0/show_if', 'unreachable-step', showIf({ step: 'main', op: 'lt', value: 0 })],
    [
      '/follow_ups/1/show_if',
      'unreachable-step',
      {
        follow_ups: [
          step({ show_if: { step: 'main', op: 'lte', value: 6 } }),
          step({
            key: 'b',
            show_if: {
              all: [
                { step: 'a', op: 'answered' },
                { step: 'main', op: 'gte', value: 9 },
              ],
            },
          }),
        ],
      },
    ],
    ['/follow_ups/0/show_if/op', 'wrong-operator', showIf({ step: 'main', op: 'contains_any', value: ['a'] })],
    [
      '/follow_ups/1/show_if/any/0/op',
      'wrong-operator',
      {
        follow_ups: [
          step({}),
          step({
            key: 'b',
            show_if: {
              any: [
                { step: 'a', op: 'eq', value: 'x' },
                { step: 'main', op: 'eq', value: 1 },
              ],
            },
          }),
        ],
      },
    ],
    [
      '/follow_ups/1/show_if/value/1',
      'unknown-option',
      { follow_ups: [CHOICE, step({ show_if: { step: 'pick', op: 'in', value: ['price', 'other'] } })] },
    ],
    ['/follow_ups/0/show_if/value', 'out-of-range', showIf({ step: 'main', op: 'lte', value: 11 })],
    ['/follow_ups/0/show_if/value', 'wrong-type', showIf({ step: 'main', op: 'in', value: 6 })],
    ['/follow_ups/0/show_if/value', 'required', showIf({ step: 'main', op: 'lte' })],
    ['/follow_ups/0/show_if/value', 'not-allowed', showIf({ step: 'main', op: 'answered', value: 1 })],
  ])('%s is refused as %s when it is published, and stays a draft', async (pointer, code, fields) => {
    const tenant = await makeTenant(api);
    const draft = await create(tenant, fields);
    expect(draft.status).toBe(201);
    const refused = await publish(tenant, draft.body.id);
    expectProblem(refused, 422, 'validation-failed');
    expect(refused.body.errors).toEqual([{ pointer, code, detail: expect.any(String) }]);
    const live = await publishQuestion(api, tenant);
    const changed = await patch(tenant, live.id, fields);
    expect(changed.body.errors).toEqual([{ pointer, code, detail: expect.any(String) }]);
    expect((await api.request('GET', `/v1/questions/${draft.body.id}`, { as: tenant.key.apiKey })).body.status).toBe(
      'draft',
    );
  });
});

test('a step cannot have the name that values of answers cannot have', async () => {
  const tenant = await makeTenant(api);
  const step = { key: '__proto__', type: 'text', title: 'Why?' };
  expect((await create(tenant, { follow_ups: [step] })).body.errors).toEqual([
    { pointer: '/follow_ups/0/key', code: 'not-allowed', detail: expect.stringContaining('__proto__') },
  ]);
  const question = await publishQuestion(api, tenant, { follow_ups: [{ ...step, key: 'constructor' }] });
  const receipt = await send(tenant, question, { state: 'completed', values: { main: 3, constructor: 'Slow' } });
  expect(receipt.status).toBe('accepted');
});

test('steps of a published question are added and removed in new versions, but keep their meaning', async () => {
  const tenant = await makeTenant(api);
  const { id } = await publishQuestion(api, tenant, { follow_ups: FOLLOW_UPS });
  const [reason, detail] = FOLLOW_UPS;
  const removed = await patch(tenant, id, { follow_ups: [reason] });
  expect([removed.status, removed.body.version]).toEqual([200, 2]);
  const changed = await patch(tenant, id, { follow_ups: [reason, { ...detail, type: 'date' }] });
  expectProblem(changed, 409, 'immutable-field');
  expect(changed.body.errors[0].pointer).toBe('/follow_ups/1/type');
  const options = [...REASONS, { id: 'help', label: 'Help' }];
  const widened = await patch(tenant, id, { follow_ups: [{ ...reason, config: { options, allow_other: true } }] });
  expect(widened.body.errors[0].pointer).toBe('/follow_ups/0/config/options');
  expect((await patch(tenant, id, { follow_ups: [{ ...reason, title: 'Why?' }, detail] })).body.version).toBe(3);
  const { data } = (await api.request('GET', `/v1/questions/${id}/versions`, { as: tenant.key.apiKey })).body;
  expect(data[0].changes.map(({ pointer }: { pointer: string }) => pointer)).toEqual(
    expect.arrayContaining(['/follow_ups', '/follow_ups/reason/title', '/follow_ups/detail/title']),
  );
  expect(data[0].changes.every(({ pointer }: { pointer: string }) => pointer !== '/title')).toBe(true);

  const late = { question_version: 1, values: { main: 2, reason: { option_ids: ['speed'] }, detail: 'Search' } };
  expect((await send(tenant, { id }, late)).status).toBe('accepted');
  expect(await send(tenant, { id }, { ...late, question_version: 2 })).toMatchObject({ pointer: '/values/detail' });
});

test('results by step show the drop-off, and equal a recount after revisions and deletions', async () => {
  const tenant = await makeTenant(api);
  const question = await publishQuestion(api, tenant, { follow_ups: FOLLOW_UPS });
  const complete = { main: 2, reason: { option_ids: ['speed'] }, detail: 'Search' };
  const left = { id: v7(), identity: 'user|left' };
  const finished = { id: v7(), identity: 'user|finished' };
  await send(tenant, question, { values: { main: 10 } });
  await send(tenant, question, { state: 'seen', values: {} });
  await send(tenant, question, { ...left, state: 'partial', values: { main: 1 } });
  await send(tenant, question, { ...finished, state: 'partial', values: { main: 2 } });
  await send(tenant, question, { values: { main: 0, reason: { option_ids: ['speed', 'price'] } } });
  const gone = await send(tenant, question, { values: complete });
  await send(tenant, question, { ...finished, revision: 2, values: complete });
  await waitFor(async () => (await resultsOf(tenant, question)).completed === 4);
  await api.request('DELETE', `/v1/answers/${gone.id}`, { as: tenant.key.apiKey });

  const results = await resultsOf(tenant, question);
  expect(results).toMatchObject({ step: 'main', displays: 5, answered: 4, written: 1 });
  const figures = results.steps.map(({ key, shown, answered, skipped, left }: Record<string, unknown>) => ({
    ...{ key, shown, answered, skipped, left },
  }));
  expect(figures).toEqual([
    { key: 'main', shown: 5, answered: 4, skipped: 0, left: 1 },
    { key: 'reason', shown: 3, answered: 2, skipped: 0, left: 1 },
    { key: 'detail', shown: 2, answered: 1, skipped: 1, left: 0 },
  ]);
  const reason = await resultsOf(tenant, question, '?step=reason');
  expect(reason).toMatchObject({
    step: 'reason',
    type: 'multi_choice',
    displays: 3,
    answered: 2,
    response_rate: 0.6667,
  });
  expect(reason.values.map(({ value, count }: never) => [value, count])).toEqual([
    ['price', 1],
    ['speed', 2],
    ['other', 0],
  ]);
  expect(reason.over_time).toHaveLength(1);
  const unknown = await api.request('GET', `/v1/questions/${question.id}/results?step=x`, { as: tenant.key.apiKey });
  expect(unknown.body.errors).toEqual([{ parameter: 'step', code: 'unknown-step', detail: expect.any(String) }]);

  const storage = storageOf(api);
  const rows = () =>
    api.database.query(
      `select step, day, question_version, partial, completed, skipped, "left", written, scores, choices
       from question_step_results where tenant_id = $1
         and (partial, completed, skipped, "left") <> (0, 0, 0, 0) order by step`,
      [tenant.uuid],
    );
  const counted = await rows();
  expect(counted).toHaveLength(2);
  expect((await rebuildResults(storage, tenant.uuid)).corrected).toBe(0);
  await api.database.query('update question_step_results set completed = 9, "left" = 7 where tenant_id = $1', [
    tenant.uuid,
  ]);
  await rebuildResults(storage, tenant.uuid);
  expect(await rows()).toEqual(counted);
  await api.database.query('delete from question_step_results where tenant_id = $1', [tenant.uuid]);
  await rebuildResults(storage, tenant.uuid);
  expect(await rows()).toEqual(counted);
});

test('a text in a follow-up is found by its words and counts as written', async () => {
  const tenant = await makeTenant(api);
  const question = await publishQuestion(api, tenant, { follow_ups: FOLLOW_UPS });
  const values = { main: 2, reason: { option_ids: ['speed'] }, detail: 'Fahrradkette quietscht' };
  const { id } = await send(tenant, question, { values });
  const list = (query: string) => api.request('GET', `/v1/answers?${query}`, { as: tenant.key.apiKey });
  await waitFor(async () => (await list('q=quietsch')).body.data.length === 1);
  expect((await list('written=true')).body.data.map((answer: { id: string }) => answer.id)).toEqual([id]);
});

test('a clone has the follow-ups', async () => {
  const tenant = await makeTenant(api);
  const question = await publishQuestion(api, tenant, { follow_ups: FOLLOW_UPS });
  const clone = await api.request('POST', `/v1/questions/${question.id}/clone`, { as: tenant.key.apiKey });
  expect(clone.body).toMatchObject({ status: 'draft', follow_ups: question.follow_ups });
});

test('an option cannot have the name that translations cannot have', async () => {
  const tenant = await makeTenant(api);
  const options = [
    { id: '__proto__', label: 'A' },
    { id: 'b', label: 'B' },
  ];
  expect((await create(tenant, { type: 'single_choice', config: { options } })).body.errors).toEqual([
    { pointer: '/config/options/0/id', code: 'not-allowed', detail: expect.stringContaining('__proto__') },
  ]);
});
