import { afterAll, describe, expect, test } from 'vitest';
import { answersOf } from '../support/answers.ts';
import { createApi, createWorker, type TestApi, waitFor } from '../support/api.ts';
import { answerTo } from '../support/make.ts';

const api = await createApi();
const worker = await createWorker(api);
afterAll(async () => {
  await worker.close();
  await api[Symbol.asyncDispose]();
});
const { sync, read, stored, make } = answersOf(api);

describe('ballot stuffing', () => {
  const resultsOf = async (key: string, id: string) =>
    (await api.request('GET', `/v1/questions/${id}/results`, { as: key })).body;

  test('has no effect: a thousand answers to one card count once, and all are kept', async () => {
    const { token, card, key, question } = await make();
    const batches = Array.from({ length: 10 }, () =>
      Array.from({ length: 100 }, () => answerTo(card, { values: { main: 10 } })),
    );
    for (const batch of batches) await sync(token, batch);
    await waitFor(async () => (await resultsOf(key, question.id)).displays === 1000);
    expect(await resultsOf(key, question.id)).toMatchObject({
      ...{ answered: 1, completed: 1, seen: 999 },
      score: { value: 100, answers: 1 },
    });
    // Batches are stored at the same time, so the one that counts may be of any of them.
    const counted = await api.request('GET', `/v1/answers?question_id=${question.id}&counted=true`, { as: key });
    expect([counted.status, counted.body.data.length]).toEqual([200, 1]);
  });

  test('has no effect with other ids, revisions or devices', async () => {
    const { tenant, card, key, question } = await make();
    const tokens = [await tenant.sign('user|42'), await tenant.sign('user|42')] as const;
    const open = answerTo(card, { state: 'partial', values: { main: 10 } });
    await sync(tokens[0], [open]);
    await stored(key, open.id);
    const done = answerTo(card, { values: { main: 0 } });
    await sync(tokens[1], [done]);
    await stored(key, done.id);
    await sync(tokens[0], [{ ...open, revision: 2, state: 'completed' }]);
    await stored(key, open.id, 2);
    expect(await resultsOf(key, question.id)).toMatchObject({ displays: 2, answered: 1, score: { value: -100 } });
  });

  test('does not apply to API keys and to questions with `always`, whose answers are all counted', async () => {
    const { token, card, key, question, answer } = await make();
    const own = answerTo(card);
    await sync(token, [own]);
    await stored(key, own.id);
    const imported = [answer(), answer(), answer()];
    await sync(key, imported);
    for (const { id } of imported) expect(await stored(key, id)).toMatchObject({ counted: true });
    expect(await resultsOf(key, question.id)).toMatchObject({ displays: 4, answered: 4 });

    const always = await make({ frequency: { repeat: 'always' } });
    const many = [answerTo(always.card), answerTo(always.card)];
    await sync(always.token, many);
    for (const { id } of many) expect(await stored(always.key, id)).toMatchObject({ counted: true });
  });
});

describe('a repeated id', () => {
  test('is a duplicate, superseded or conflicting, within a request and across requests', async () => {
    const { token, card, key } = await make();
    const partial = answerTo(card, { state: 'partial', revision: 2 });
    const statuses = async (...answers: unknown[]) =>
      (await sync(token, answers)).map((receipt: { status: string; code?: string }) => receipt.code ?? receipt.status);
    expect(
      await statuses(
        partial,
        partial,
        { ...partial, revision: 1 },
        { ...partial, comment: 'x' },
        { ...partial, revision: 3 },
      ),
    ).toEqual(['accepted', 'duplicate', 'superseded', 'revision-conflict', 'accepted']);
    const last = { ...partial, revision: 4, state: 'completed' };
    expect(await statuses({ ...partial, revision: 3 }, last)).toEqual(['duplicate', 'accepted']);
    expect(await statuses({ ...last, revision: 5 }, last, { ...last, values: { main: 1 } })).toEqual([
      'superseded',
      'duplicate',
      'revision-conflict',
    ]);
    expect(await stored(token, partial.id, 4)).toMatchObject({ state: 'completed' });
    expect((await read(key, partial.id)).body.revision).toBe(4);
  });

  test('is the same with its fields in another order', async () => {
    const { key, answer } = await make({
      type: 'single_choice',
      config: {
        options: [
          { id: 'a', label: 'A' },
          { id: 'b', label: 'B' },
        ],
        allow_other: true,
      },
    });
    const first = answer({ values: { main: { option_id: 'other', other_text: 'x' } }, metadata: { a: 1, b: 2 } });
    const again = { ...first, values: { main: { other_text: 'x', option_id: 'other' } }, metadata: { b: 2, a: 1 } };
    expect(await sync(key, [first, again])).toMatchObject([{ status: 'accepted' }, { status: 'duplicate' }]);
  });

  test('keeps the content digest of earlier versions, with which stored answers are compared', async () => {
    const { key, answer } = await make();
    const sent = answer({
      comment: 'Grüße',
      displayed_at: '2026-11-21T08:00:00+01:00',
      duration_ms: 4250,
      metadata: { platform: 'ios', beta: true },
    });
    await sync(key, [sent]);
    await stored(key, sent.id);
    expect(await api.database.query('select content_hash from answers where id = $1', [sent.id])).toEqual([
      { content_hash: 'Up7AD8wuEhoE56AQO_rW1U' },
    ]);
  });

  test('of another user is a conflict; of another tenant it is independent', async () => {
    const [{ key, answer }, other] = [await make(), await make()];
    const first = answer();
    const [accepted, foreign] = await sync(key, [first, { ...first, identity: 'user|43', revision: 2 }]);
    expect(accepted).toMatchObject({ status: 'accepted' });
    expect(foreign).toMatchObject({ status: 'rejected', code: 'revision-conflict' });
    const theirs = other.answer({ id: first.id, values: { main: 1 } });
    expect(await sync(other.key, [theirs])).toMatchObject([{ status: 'accepted' }]);
    expect(await stored(key, first.id)).toMatchObject({ values: { main: 9 } });
    expect(await stored(other.key, first.id)).toMatchObject({ values: { main: 1 } });
  });

  test('from twenty concurrent clients, repeatedly and through another process, is stored once', async () => {
    const { key, answer, tenant } = await make();
    await using second: TestApi = await createApi({ sharing: api });
    const answers = Array.from({ length: 100 }, (_, index) => answer({ identity: `user|${index}` }));
    const sendAll = (to: TestApi) => to.request('POST', '/v1/answers', { as: key, body: { answers } });
    const replies = await Promise.all(Array.from({ length: 20 }, (_, index) => sendAll(index % 2 ? api : second)));
    const again = await sendAll(api);
    for (const { status, body } of [...replies, again]) {
      expect(status).toBe(202);
      for (const receipt of body.results) expect(['accepted', 'duplicate']).toContain(receipt.status);
    }
    for (const receipt of again.body.results) expect(receipt.status).toBe('duplicate');
    const ingestion = await waitFor(async () => {
      const { body } = await api.request('GET', '/v1/ingestion', { as: key });
      return body.queued === 0 && body.stored === 100 && body;
    });
    expect(ingestion).toMatchObject({ quarantined: 0, rejected: 0, accepted: 100 + ingestion.repeated });
    const rows = await api.database.query('select id from answers where tenant_id = $1', [tenant.uuid]);
    expect(rows).toHaveLength(100);
  });
});
