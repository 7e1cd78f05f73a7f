import { v7 } from 'uuid';
import { afterAll, describe, expect, test } from 'vitest';
import { answersOf } from '../support/answers.ts';
import { createApi, createWorker, waitFor } from '../support/api.ts';
import { anAnswer, answerTo, claimToken, makeTenant, publishQuestion } from '../support/make.ts';

const api = await createApi();
const worker = await createWorker(api);
afterAll(async () => {
  await worker.close();
  await api[Symbol.asyncDispose]();
});
const { sync, read, stored, firstCard, make } = answersOf(api);

describe('a sync of a card view', () => {
  test("returns complete, with the server's fields", async () => {
    const { token, card, question } = await make();
    const deviceTime = new Date(Date.now() + 3_600_000);
    const answer = answerTo(card, {
      comment: 'Grüße 🙂',
      displayed_at: '2026-11-21T08:00:00+01:00',
      answered_at: '2026-11-21T07:00:04.250Z',
      duration_ms: 4250,
      metadata: { platform: 'ios', app_version: '4.2.0', beta: true, battery: 0.5 },
    });
    const receipts = await sync(token, [answer], { client_time: deviceTime.toISOString() });
    expect(receipts).toEqual([{ id: answer.id, revision: 1, status: 'accepted' }]);
    const body = await stored(token, answer.id);
    expect(body).toEqual({
      ...answer,
      displayed_at: '2026-11-21T07:00:00.000Z',
      question_id: question.id,
      identity: 'user|42',
      identity_verified: true,
      received_at: expect.any(String),
      stored_at: expect.any(String),
      clock_skew_ms: expect.any(Number),
      counted: true,
      over_quota: false,
      status: 'stored',
    });
    expect(Math.abs(body.clock_skew_ms - 3_600_000)).toBeLessThan(60_000);
  });

  test('is accepted for a question that was published a moment ago', async () => {
    const tenant = await makeTenant(api);
    const key = tenant.key.apiKey;
    for (let round = 0; round < 5; round++) {
      const { id } = await publishQuestion(api, tenant);
      const answer = anAnswer({ identity: 'user|42', question_id: id });
      expect(await sync(key, [answer])).toMatchObject([{ status: 'accepted' }]);
      const { body } = await api.request('PATCH', `/v1/questions/${id}`, { as: key, body: { title: `${round}` } });
      const next = anAnswer({ identity: 'user|42', question_id: id, question_version: body.version });
      expect(await sync(key, [next])).toMatchObject([{ status: 'accepted' }]);
    }
  });

  test('of a public token only returns the state, and its identity is unverified', async () => {
    const { tenant, key } = await make();
    const token = await claimToken(api, tenant, 'user|42');
    const answer = answerTo(await firstCard(token));
    expect(await sync(token, [answer])).toMatchObject([{ status: 'accepted' }]);
    expect(await stored(token, answer.id)).toEqual({ id: answer.id, state: 'completed', status: 'stored' });
    expect(await stored(key, answer.id)).toMatchObject({ identity: 'user|42', identity_verified: false });
  });

  test('names its user with an API key, but not with a token', async () => {
    const { key, token, card, answer } = await make();
    const [nameless, withCard, foreignCard] = await sync(key, [
      answer({ identity: undefined }),
      answer({ card_id: card.id }),
      answer({ card_id: card.id, identity: 'user|43' }),
    ]);
    expect(nameless).toMatchObject({ status: 'rejected', code: 'validation-failed', pointer: '/identity' });
    expect(withCard).toMatchObject({ status: 'accepted' });
    expect(foreignCard).toMatchObject({ status: 'rejected', code: 'unknown-card', pointer: '/card_id' });
    const [named, cardless] = await sync(token, [
      answerTo(card, { identity: 'user|42' }),
      answerTo(card, { card_id: undefined }),
    ]);
    expect(named).toMatchObject({ status: 'rejected', code: 'validation-failed', pointer: '/identity' });
    expect(cardless).toMatchObject({ status: 'rejected', code: 'validation-failed', pointer: '/card_id' });
  });

  test("echoes the client's spelling of the id, and stores it in lower case", async () => {
    const { key, answer } = await make();
    const id = v7().toUpperCase();
    const sent = [answer({ id }), answer({ id }), answer({ id, revision: 2 })];
    expect((await sync(key, sent)).map((receipt: { id: string }) => receipt.id)).toEqual([id, id, id]);
    expect((await stored(key, id.toLowerCase())).id).toBe(id.toLowerCase());
    expect((await read(key, id)).status).toBe(200);
  });
});

describe('an invalid item', () => {
  test('is rejected on its own, at its index, for any fault', async () => {
    const { key, answer, question } = await make();
    const good = [answer(), answer()];
    const bad: [unknown, string, string?][] = [
      [null, 'validation-failed'],
      ['text', 'validation-failed'],
      [[], 'validation-failed'],
      [{}, 'validation-failed'],
      [answer({ id: 'x' }), 'validation-failed', '/id'],
      [answer({ revision: 0 }), 'validation-failed', '/revision'],
      [answer({ surprise: 1 }), 'validation-failed', '/surprise'],
      [answer({ comment: 'a\u0000b' }), 'validation-failed', '/comment'],
      [answer({ comment: '\ud800' }), 'validation-failed', '/comment'],
      [answer({ identity: 'a\u0000' }), 'validation-failed', '/identity'],
      [answer({ identity: 42 }), 'validation-failed', '/identity'],
      [answer({ displayed_at: '0000-01-01T00:00:00Z' }), 'validation-failed', '/displayed_at'],
      [answer({ values: JSON.parse('{"main":9,"__proto__":1}') }), 'validation-failed', '/values/__proto__'],
      [answer({ metadata: JSON.parse('{"__proto__":1}') }), 'validation-failed', '/metadata/__proto__'],
      [answer({ values: { main: 11 } }), 'invalid-value', '/values/main'],
      [answer({ values: { main: '9' } }), 'invalid-value', '/values/main'],
      [answer({ values: {} }), 'invalid-value', '/values/main'],
      [answer({ values: { main: 9, second: 1 } }), 'invalid-value', '/values/second'],
      [answer({ question_version: 99 }), 'unknown-version', '/question_version'],
      [answer({ question_id: 'question_01jdps6h00e008000000000000' }), 'unknown-card', '/question_id'],
      [answer({ card_id: 'card_01jdps6h00e008000000000000' }), 'unknown-card', '/card_id'],
    ];
    const receipts = await sync(key, [good[0], ...bad.map(([item]) => item), good[1]]);
    expect(receipts).toHaveLength(bad.length + 2);
    for (const [index, [item, code, pointer]] of bad.entries()) {
      const receipt = receipts[index + 1];
      expect(receipt).toMatchObject({ status: 'rejected', code, ...(pointer ? { pointer } : {}) });
      expect(receipt.detail).toEqual(expect.any(String));
      expect(receipt.id).toBe((item as { id?: string } | null)?.id ?? null);
    }
    for (const answered of good) expect(await stored(key, answered.id)).toMatchObject({ question_id: question.id });
  });

  test('among a hundred leaves ninety-nine accepted', async () => {
    const { key, answer } = await make();
    const answers = Array.from({ length: 100 }, (_, index) => answer({ identity: `user|${index}` }));
    answers[36] = answer({ values: { main: 37 } });
    const statuses = (await sync(key, answers)).map((receipt: { status: string }) => receipt.status);
    expect(statuses).toEqual(answers.map((_, index) => (index === 36 ? 'rejected' : 'accepted')));
  });

  test("about a draft or another tenant's question has an unknown card", async () => {
    const [{ key, answer, tenant }, other] = [await make(), await make()];
    const { body } = await api.request('POST', `/v1/questions/${other.question.id}/clone`, { as: other.key });
    const codes = (await sync(key, [answer({ question_id: other.question.id }), answer({ question_id: body.id })])).map(
      (receipt: { code: string }) => receipt.code,
    );
    expect(codes).toEqual(['unknown-card', 'unknown-card']);
    const token = await tenant.sign('user|43');
    expect(await sync(token, [answerTo(other.card)])).toMatchObject([{ code: 'unknown-card' }]);
  });

  test('about a question is late only seven days after the question closed', async () => {
    const { key, answer, question, tenant } = await make();
    await api.request('POST', `/v1/questions/${question.id}/close`, { as: key });
    expect(await sync(key, [answer()])).toMatchObject([{ status: 'accepted' }]);
    const close = (at: string) =>
      api.database.query(`update questions set closed_at = now() - $2::interval where tenant_id = $1`, [
        tenant.uuid,
        at,
      ]);
    await close('6 days 23 hours 59 minutes');
    expect(await sync(key, [answer()])).toMatchObject([{ status: 'accepted' }]);
    await close('7 days 1 second');
    await waitFor(async () => (await sync(key, [answer()]))[0].code === 'question-closed');
  });
});

describe('an invalid envelope', () => {
  const ITEM = anAnswer();
  test.each([
    [{}, 422],
    [{ answers: [] }, 422],
    [{ answers: {} }, 422],
    [{ answers: Array.from({ length: 101 }, () => ITEM) }, 422],
    [{ answers: [ITEM], surprise: 1 }, 422],
    [{ answers: [ITEM], client_time: 'now' }, 422],
    [[ITEM], 422],
    [null, 422],
    ['text', 422],
  ])('is rejected as a whole: %j', async (body, status) => {
    const { token } = await make();
    const refused = await api.request('POST', '/v1/answers', { as: token, body });
    expect([refused.status, refused.body.code]).toEqual([status, 'validation-failed']);
  });

  test('is rejected above 256 KB, or 16 KB with a public token', async () => {
    const { tenant, token, key, card } = await make();
    const sized = (bytes: number) => {
      const body = JSON.stringify({ answers: [answerTo(card, { surprise: '' })] });
      return body.replace('"surprise":""', `"surprise":"${'x'.repeat(bytes - body.length)}"`);
    };
    const post = (as: string, raw: string) =>
      api.request('POST', '/v1/answers', { as, raw, headers: { 'Content-Type': 'application/json' } });
    const publicToken = await claimToken(api, tenant, 'user|42');
    for (const as of [token, key]) {
      expect((await post(as, sized(256 * 1024))).status).toBe(202);
      expect((await post(as, sized(256 * 1024 + 1))).status).toBe(413);
    }
    expect((await post(publicToken, sized(16 * 1024))).status).toBe(202);
    expect((await post(publicToken, sized(16 * 1024 + 1))).status).toBe(413);
  });
});
