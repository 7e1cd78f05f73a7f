import fc from 'fast-check';
import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseTypeId } from '../../src/domain/ids.ts';
import { recordAnswers } from '../../src/storage/answers/recording.ts';
import { answersOf } from '../support/answers.ts';
import { createApi, createWorker, type TestApi, waitFor } from '../support/api.ts';
import { anAcceptedAnswer, answerTo, claimToken, publishQuestion } from '../support/make.ts';
import { makeMember } from '../support/person.ts';

const api = await createApi();
const worker = await createWorker(api);
afterAll(async () => {
  await worker.close();
  await api[Symbol.asyncDispose]();
});
const { sync, stored, make, firstCard } = answersOf(api);

const WHY = { key: 'why', type: 'text', title: 'Why?', config: {}, required: false };
const ENDS = ['seen', 'dismissed', 'partial', 'completed'] as const;
type End = (typeof ENDS)[number];

const resultsOf = async (key: string, id: string, query = '') =>
  (await api.request('GET', `/v1/questions/${id}/results${query}`, { as: key })).body;
const statusesOf = (receipts: { status: string; code?: string }[]) =>
  receipts.map(({ status, code }) => code ?? status);

describe('a card that ends with a value of its question', () => {
  test.each(['an access token', 'a public token', 'an API key'])('is counted, sent by %s', async sender => {
    const { tenant, question, token, key, answer } = await make({ follow_ups: [WHY] });
    const as =
      sender === 'an API key' ? key : sender === 'an access token' ? token : await claimToken(api, tenant, 'user|42');
    const left = { state: 'dismissed', values: { main: 2 } };
    const sent = as === key ? answer(left) : answerTo(await firstCard(as), left);
    expect(await sync(as, [sent])).toMatchObject([{ status: 'accepted' }]);
    expect(await stored(key, sent.id)).toMatchObject({ state: 'partial', values: { main: 2 }, counted: true });
    const results = await resultsOf(key, question.id);
    expect(results).toMatchObject({ dismissed: 0, partial: 1, displays: 1, answered: 1, response_rate: 1 });
    expect(results.score).toMatchObject({ value: -100, answers: 1 });
    expect(results.steps[1]).toMatchObject({ key: 'why', shown: 1, left: 1 });
    const list = (state: string) =>
      api.request('GET', `/v1/answers?question_id=${question.id}&state=${state}`, { as: key });
    expect([(await list('partial')).body.data.length, (await list('dismissed')).body.data.length]).toEqual([1, 0]);
  });

  test('is answered: the card does not return after the snooze of a dismissed one, and audiences match its value', async () => {
    const { tenant, question, token, card, key } = await make({
      frequency: { repeat: 'until_answered', snooze_after_dismiss_days: 0 },
    });
    const next = await publishQuestion(api, tenant, {
      ...{ type: 'thumbs', priority: 90, frequency: { ignore_cooldown: true } },
      audience: { all: [{ answered: { question: question.id, op: 'lte', value: 6, within_days: 30 } }] },
    });
    const sent = answerTo(card, { state: 'dismissed', values: { main: 2 } });
    await sync(token, [sent]);
    await stored(key, sent.id);
    const ids = await waitFor(async () => {
      const { data } = (await api.request('GET', '/v1/cards', { as: token })).body;
      const questions = data.map((each: { question_id: string }) => each.question_id);
      return questions.includes(next.id) && questions;
    });
    expect(ids).toEqual([next.id]);
  });

  test('is compared as it was sent, in every process and after it is stored', async () => {
    const { token, card, key } = await make();
    await using second: TestApi = await createApi({ sharing: api });
    const other = answersOf(second);
    const first = answerTo(card, { state: 'partial', values: { main: 2 } });
    const ended = { ...first, revision: 2, state: 'dismissed' };
    expect(statusesOf(await sync(token, [first, ended, ended]))).toEqual(['accepted', 'accepted', 'duplicate']);
    expect(await stored(key, first.id, 2)).toMatchObject({ state: 'partial' });
    expect(statusesOf(await sync(token, [ended, first, { ...ended, state: 'partial' }]))).toEqual([
      'duplicate',
      'superseded',
      'revision-conflict',
    ]);
    expect(statusesOf(await other.sync(token, [ended]))).toEqual(['accepted']); // it has not seen this sync: the worker decides
    const settled = await waitFor(async () => {
      const { body } = await api.request('GET', '/v1/ingestion', { as: key });
      return body.queued === 0 && body.repeated === 1 && body;
    });
    expect(settled).toMatchObject({ stored: 2, quarantined: 0 });
    const done = { ...first, revision: 3, state: 'completed' };
    expect(statusesOf(await other.sync(token, [done]))).toEqual(['accepted']);
    expect(await stored(key, first.id, 3)).toMatchObject({ state: 'completed' });
  });

  test('is counted if an earlier version queued it as it was sent', async () => {
    const { tenant, question, key } = await make();
    const queued = anAcceptedAnswer({
      ...{ tenant_id: tenant.uuid, question_id: parseTypeId('question', question.id) as string, card_id: tenant.uuid },
      ...{ state: 'dismissed', values: { main: 10 } },
    });
    await recordAnswers(api.database.storage('parley_worker'), [{ flush: v7(), answers: [queued] }]);
    expect(await stored(key, queued.id)).toMatchObject({ state: 'partial' });
    expect(await resultsOf(key, question.id)).toMatchObject({ answered: 1, score: { value: 100 } });
  });

  test('is counted in the results of a test', async () => {
    const { tenant, question, key } = await make();
    const ada = await makeMember(api, tenant, 'admin');
    const { body } = await api.request('POST', `/v1/questions/${question.id}/test-token`, { headers: ada.headers });
    const sent = answerTo(await firstCard(body.access_token), { state: 'dismissed', values: { main: 9 } });
    expect(await sync(body.access_token, [sent])).toMatchObject([{ status: 'accepted' }]);
    expect(await resultsOf(key, question.id, '?test=true')).toMatchObject({ answered: 1, dismissed: 0 });
  });

  test('with an invalid value is refused, as before: an absent value is no value', async () => {
    const { token, card } = await make();
    const ended = (values: object) => answerTo(card, { state: 'dismissed', values });
    const receipts = await sync(token, [ended({ main: 11 }), ended({ main: null }), ended({ why: 'x' })]);
    expect(statusesOf(receipts)).toEqual(['invalid-value', 'validation-failed', 'invalid-value']);
  });
});

describe('the state in which an answer is stored', () => {
  /** The contract's rule: with a value of `main` at least `partial`; a statement has none, so any value counts. */
  const expected = (type: string, end: End, values: object): End => {
    const isGiven = type === 'statement' ? 'score' in values : 'main' in values;
    return isGiven && (end === 'seen' || end === 'dismissed') ? 'partial' : end;
  };
  const SCORE = {
    key: 'score',
    type: 'rating',
    title: 'How was it?',
    config: { scale: 5, style: 'number' },
    required: false,
  };
  const MAINS = { nps: 9, csat: 1, thumbs: false, text: 'x', statement: undefined } as const;
  const drawn = fc.record({
    type: fc.constantFrom(...(Object.keys(MAINS) as (keyof typeof MAINS)[])),
    end: fc.constantFrom(...ENDS),
    hasMain: fc.boolean(),
    hasScore: fc.boolean(),
    comment: fc.constantFrom(null, 'fine'),
  });
  let made: Record<string, Awaited<ReturnType<typeof make>>>;
  beforeAll(async () => {
    made = {};
    for (const type of Object.keys(MAINS))
      made[type] = await make({ type, config: {}, follow_ups: [SCORE], frequency: { repeat: 'always' } });
  });

  test('follows from what was given, whatever ended the card, and each score is in the results', async () => {
    const scores: Record<string, number> = {};
    await fc.assert(
      fc.asyncProperty(drawn, async ({ type, end, hasMain, hasScore, comment }) => {
        const { token, card, key } = made[type] as (typeof made)[string];
        const main = MAINS[type];
        const values = {
          ...(main !== undefined && (hasMain || end === 'completed') ? { main } : {}),
          ...(hasScore ? { score: 4 } : {}),
        };
        const isScored = !['text', 'statement'].includes(type);
        const sent = answerTo(card, { state: end, values, ...(isScored ? { comment } : {}) });
        expect(statusesOf(await sync(token, [sent, sent]))).toEqual(['accepted', 'duplicate']);
        const state = expected(type, end, values);
        expect(await stored(key, sent.id)).toMatchObject({ state, values });
        if (hasScore && state !== 'seen' && state !== 'dismissed') scores[type] = (scores[type] ?? 0) + 1;
      }),
      { numRuns: 60 },
    );
    for (const [type, { key, question }] of Object.entries(made)) {
      const [, step] = (await resultsOf(key, question.id)).steps;
      expect([type, step.answered]).toEqual([type, scores[type] ?? 0]);
    }
  });
});
