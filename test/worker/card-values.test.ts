import { v7 } from 'uuid';
import { afterAll, describe, expect, test } from 'vitest';
import type { AcceptedAnswer } from '../../src/domain/answers/answers.ts';
import { deleteAnswer } from '../../src/storage/answers/answers.ts';
import { recordAnswers } from '../../src/storage/answers/recording.ts';
import { expireAnswers } from '../../src/storage/tenants/retention.ts';
import { createApi, createWorker, waitFor } from '../support/api.ts';
import { anAcceptedAnswer, anAnswer, answerTo, makeTenant, publishQuestion, type TestTenant } from '../support/make.ts';

const api = await createApi();
const worker = await createWorker(api);
afterAll(async () => {
  await worker.close();
  await api[Symbol.asyncDispose]();
});

const recordsOf = (tenant: TestTenant) =>
  api.database.query<{ displays: number; last_value: unknown; answered_at: Date | null }>(
    'select displays, last_value, answered_at from card_records where tenant_id = $1',
    [tenant.uuid],
  );

describe('a card record', () => {
  test('counts each view once, and max_displays hides the card after the last', async () => {
    const tenant = await makeTenant(api);
    await publishQuestion(api, tenant, { frequency: { max_displays: 2, snooze_after_dismiss_days: 0 } });
    const as = await tenant.sign('ada');
    const fetchCards = async () => (await api.request('GET', '/v1/cards', { as })).body.data;
    const [card] = await fetchCards();
    for (const view of [1, 2]) {
      const seen = answerTo(card, { state: 'seen', values: {} });
      const revised = { ...seen, revision: 2, state: 'dismissed' };
      await api.request('POST', '/v1/answers', { as, body: { answers: [seen] } });
      await api.request('POST', '/v1/answers', { as, body: { answers: [revised, seen] } });
      await waitFor(async () => (await recordsOf(tenant))[0]?.displays === view);
      if (view === 1) expect(await fetchCards()).toHaveLength(1);
    }
    await waitFor(async () => (await fetchCards()).length === 0);
  });

  test('keeps the value of the last answer for audiences, and no text', async () => {
    const tenant = await makeTenant(api);
    const nps = await publishQuestion(api, tenant);
    const text = await publishQuestion(api, tenant, { type: 'text' });
    const answered = { question: nps.id, op: 'lte', value: 6 };
    await publishQuestion(api, tenant, {
      title: 'Why?',
      frequency: { ignore_cooldown: true },
      audience: { all: [{ answered }] },
    });
    const as = await tenant.sign('ada');
    const titles = async () =>
      (await api.request('GET', '/v1/cards', { as })).body.data.map(
        (card: { steps: { title: string }[] }) => card.steps[0]?.title,
      );
    expect(await titles()).not.toContain('Why?');
    const send = (question_id: string, main: unknown) =>
      api.request('POST', '/v1/answers', {
        as: tenant.key.apiKey,
        body: { answers: [anAnswer({ identity: 'ada', question_id, values: { main } })] },
      });
    await send(nps.id, 3);
    await waitFor(async () => (await titles()).includes('Why?'));
    await send(text.id, 'A secret');
    await send(nps.id, 9);
    await waitFor(async () => !(await titles()).includes('Why?'));
    await waitFor(async () => (await recordsOf(tenant)).length === 2);
    expect((await recordsOf(tenant)).map(({ last_value }) => last_value).toSorted()).toEqual([9, null]);
    const [last] = await api.database.query<{ id: string }>(
      `select id from answers where tenant_id = $1 and "values"->'main' = '9'`,
      [tenant.uuid],
    );
    await api.request('DELETE', `/v1/answers/${last?.id}`, { as: tenant.key.apiKey });
    expect((await recordsOf(tenant)).map(({ last_value }) => last_value)).toEqual([null, null]);
  });

  test('does not count what an API key sends without a card as a view', async () => {
    const tenant = await makeTenant(api);
    const question = await publishQuestion(api, tenant, { frequency: { max_displays: 2 } });
    const as = await tenant.sign('ada');
    const [card] = (await api.request('GET', '/v1/cards', { as })).body.data;
    const send = (fields: object) =>
      api.request('POST', '/v1/answers', {
        as: tenant.key.apiKey,
        body: {
          answers: [anAnswer({ identity: 'ada', question_id: question.id, state: 'seen', values: {}, ...fields })],
        },
      });
    await send({});
    await waitFor(async () => (await recordsOf(tenant))[0]?.displays === 0);
    await send({ card_id: card.id });
    await waitFor(async () => (await recordsOf(tenant))[0]?.displays === 1);
  });
});

describe('the value in a card record', () => {
  const write = (tenant: TestTenant, question_id: string, day: number, main: unknown) =>
    anAcceptedAnswer({
      ...{ tenant_id: tenant.uuid, question_id, identity: 'ada', state: 'completed', values: { main } },
      received_at: new Date(Date.now() + (day - 10) * 86_400_000).toISOString(),
    });
  const store = (...answers: AcceptedAnswer[]) =>
    recordAnswers(api.database.storage('parley_worker'), [{ flush: v7(), answers }]);
  const keptValues = async (tenant: TestTenant) => (await recordsOf(tenant)).map(({ last_value }) => last_value);

  test('stays when an older answer is deleted or expires, and goes with its own answer', async () => {
    const tenant = await makeTenant(api);
    const question = v7();
    const [old, middle, last] = [1, 2, 9].map(day => write(tenant, question, day, day)) as AcceptedAnswer[];
    await store(old as AcceptedAnswer);
    await store(last as AcceptedAnswer, middle as AcceptedAnswer);
    const own = api.database.storage().forTenant(tenant.uuid);
    await deleteAnswer(own, middle?.id as string, () => undefined);
    expect(await keptValues(tenant)).toEqual([9]);
    const expire = async (days: number) => {
      await api.database.query('update tenants set retention_answers_days = $2 where id = $1', [tenant.uuid, days]);
      await expireAnswers(api.database.storage('parley_worker'), tenant.uuid, new Date(Date.now() + 3 * 86_400_000));
    };
    await api.database.query(`update answers set received_at = received_at - interval '90 days' where id = $1`, [
      old?.id,
    ]);
    await expire(60);
    expect(await keptValues(tenant)).toEqual([9]);
    await api.database.query(`update answers set received_at = received_at - interval '90 days' where id = $1`, [
      last?.id,
    ]);
    await expire(60);
    expect(await keptValues(tenant)).toEqual([null]);
  });
});
