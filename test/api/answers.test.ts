import { v7 } from 'uuid';
import { afterAll, describe, expect, test } from 'vitest';
import { createApi, createWorker, type TestApi, type TestReply, waitFor } from '../support/api.ts';
import { anAnswer, answerTo, claimToken, makeTenant, publishQuestion } from '../support/make.ts';

const api = await createApi();
const worker = await createWorker(api);
afterAll(async () => {
  await worker.close();
  await api[Symbol.asyncDispose]();
});

interface TestCard {
  id: string;
  question_id: string;
  question_version: number;
}

const send = (as: string, answers: unknown[], envelope: Record<string, unknown> = {}): Promise<TestReply> =>
  api.request('POST', '/v1/answers', { as, body: { answers, ...envelope } });

/** The results of a sync that returned 202. */
async function results(as: string, answers: unknown[], envelope: Record<string, unknown> = {}) {
  const reply = await send(as, answers, envelope);
  expect(reply.status).toBe(202);
  return reply.body.results;
}

const read = (as: string, id: string) => api.request('GET', `/v1/answers/${id}`, { as });

/** The answer, once this revision is stored. */
const stored = (as: string, id: string, revision = 1): Promise<TestReply['body']> =>
  waitFor(async () => {
    const { status, body } = await read(as, id);
    return status === 200 && (body.revision ?? revision) === revision && body;
  });

const firstCard = (token: string): Promise<TestCard> =>
  waitFor(async () => (await api.request('GET', '/v1/cards', { as: token })).body.data[0]);

/** A tenant with one live question, its key, and a user with a card. */
async function make(fields: Record<string, unknown> = {}) {
  const tenant = await makeTenant(api);
  const question = await publishQuestion(api, tenant, { allow_public: true, ...fields });
  const token = await tenant.sign('user|42');
  const card = await firstCard(token);
  const key = tenant.key.apiKey;
  /** An answer as the tenant's server sends it. */
  const answer = (more: Record<string, unknown> = {}) =>
    anAnswer({ identity: 'user|42', question_id: question.id, ...more });
  return { tenant, question, token, card, key, answer };
}

describe('ballot stuffing', () => {
  const resultsOf = async (key: string, id: string) =>
    (await api.request('GET', `/v1/questions/${id}/results`, { as: key })).body;

  test('has no effect: a thousand answers to one card count once, and all are kept', async () => {
    const { token, card, key, question } = await make();
    const batches = Array.from({ length: 10 }, () =>
      Array.from({ length: 100 }, () => answerTo(card, { values: { main: 10 } })),
    );
    for (const batch of batches) await results(token, batch);
    await waitFor(async () => (await resultsOf(key, question.id)).displays === 1000);
    expect(await resultsOf(key, question.id)).toMatchObject({
      ...{ answered: 1, completed: 1, seen: 999 },
      score: { value: 100, answers: 1 },
    });
    const first = batches[0]?.[0]?.id as string;
    const counted = await Promise.all(batches.flatMap(batch => read(token, batch[0]?.id as string)));
    expect(counted.map(({ body }) => [body.id, body.counted])).toEqual(
      batches.map(batch => [batch[0]?.id, batch[0]?.id === first]),
    );
  });

  test('has no effect with other ids, revisions or devices', async () => {
    const { tenant, card, key, question } = await make();
    const tokens = [await tenant.sign('user|42'), await tenant.sign('user|42')] as const;
    const open = answerTo(card, { state: 'partial', values: { main: 10 } });
    await results(tokens[0], [open]);
    await stored(key, open.id);
    const done = answerTo(card, { values: { main: 0 } });
    await results(tokens[1], [done]);
    await stored(key, done.id);
    await results(tokens[0], [{ ...open, revision: 2, state: 'completed' }]);
    await stored(key, open.id, 2);
    expect(await resultsOf(key, question.id)).toMatchObject({ displays: 2, answered: 1, score: { value: -100 } });
  });

  test('does not apply to API keys and to questions with `always`, whose answers are all counted', async () => {
    const { token, card, key, question, answer } = await make();
    const own = answerTo(card);
    await results(token, [own]);
    await stored(key, own.id);
    const imported = [answer(), answer(), answer()];
    await results(key, imported);
    for (const { id } of imported) expect(await stored(key, id)).toMatchObject({ counted: true });
    expect(await resultsOf(key, question.id)).toMatchObject({ displays: 4, answered: 4 });

    const always = await make({ frequency: { repeat: 'always' } });
    const many = [answerTo(always.card), answerTo(always.card)];
    await results(always.token, many);
    for (const { id } of many) expect(await stored(always.key, id)).toMatchObject({ counted: true });
  });
});

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
    const receipts = await results(token, [answer], { client_time: deviceTime.toISOString() });
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
      updated_at: body.stored_at,
      clock_skew_ms: expect.any(Number),
      tags: [],
      counted: true,
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
      expect(await results(key, [answer])).toMatchObject([{ status: 'accepted' }]);
      const { body } = await api.request('PATCH', `/v1/questions/${id}`, { as: key, body: { title: `${round}` } });
      const next = anAnswer({ identity: 'user|42', question_id: id, question_version: body.version });
      expect(await results(key, [next])).toMatchObject([{ status: 'accepted' }]);
    }
  });

  test('of a public token only returns the state, and its identity is unverified', async () => {
    const { tenant, key } = await make();
    const token = await claimToken(api, tenant, 'user|42');
    const answer = answerTo(await firstCard(token));
    expect(await results(token, [answer])).toMatchObject([{ status: 'accepted' }]);
    expect(await stored(token, answer.id)).toEqual({ id: answer.id, state: 'completed', status: 'stored' });
    expect(await stored(key, answer.id)).toMatchObject({ identity: 'user|42', identity_verified: false });
  });

  test('names its user with an API key, but not with a token', async () => {
    const { key, token, card, answer } = await make();
    const [nameless, withCard, foreignCard] = await results(key, [
      answer({ identity: undefined }),
      answer({ card_id: card.id }),
      answer({ card_id: card.id, identity: 'user|43' }),
    ]);
    expect(nameless).toMatchObject({ status: 'rejected', code: 'validation-failed', pointer: '/identity' });
    expect(withCard).toMatchObject({ status: 'accepted' });
    expect(foreignCard).toMatchObject({ status: 'rejected', code: 'unknown-card', pointer: '/card_id' });
    const [named, cardless] = await results(token, [
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
    expect((await results(key, sent)).map((receipt: { id: string }) => receipt.id)).toEqual([id, id, id]);
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
      [answer({ question_version: 99 }), 'unknown-card', '/question_version'],
      [answer({ question_id: 'question_01jdps6h00e008000000000000' }), 'unknown-card', '/question_id'],
      [answer({ card_id: 'card_01jdps6h00e008000000000000' }), 'unknown-card', '/card_id'],
    ];
    const receipts = await results(key, [good[0], ...bad.map(([item]) => item), good[1]]);
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
    const statuses = (await results(key, answers)).map((receipt: { status: string }) => receipt.status);
    expect(statuses).toEqual(answers.map((_, index) => (index === 36 ? 'rejected' : 'accepted')));
  });

  test("about a draft or another tenant's question has an unknown card", async () => {
    const [{ key, answer, tenant }, other] = [await make(), await make()];
    const { body } = await api.request('POST', `/v1/questions/${other.question.id}/clone`, { as: other.key });
    const codes = (
      await results(key, [answer({ question_id: other.question.id }), answer({ question_id: body.id })])
    ).map((receipt: { code: string }) => receipt.code);
    expect(codes).toEqual(['unknown-card', 'unknown-card']);
    const token = await tenant.sign('user|43');
    expect(await results(token, [answerTo(other.card)])).toMatchObject([{ code: 'unknown-card' }]);
  });

  test('about a question is late only seven days after the question closed', async () => {
    const { key, answer, question, tenant } = await make();
    await api.request('POST', `/v1/questions/${question.id}/close`, { as: key });
    expect(await results(key, [answer()])).toMatchObject([{ status: 'accepted' }]);
    const close = (at: string) =>
      api.database.query(`update questions set closed_at = now() - $2::interval where tenant_id = $1`, [
        tenant.uuid,
        at,
      ]);
    await close('6 days 23 hours 59 minutes');
    expect(await results(key, [answer()])).toMatchObject([{ status: 'accepted' }]);
    await close('7 days 1 second');
    await waitFor(async () => (await results(key, [answer()]))[0].code === 'question-closed');
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

describe('a repeated id', () => {
  test('is a duplicate, superseded or conflicting, within a request and across requests', async () => {
    const { token, card, key } = await make();
    const partial = answerTo(card, { state: 'partial', revision: 2 });
    const statuses = async (...answers: unknown[]) =>
      (await results(token, answers)).map(
        (receipt: { status: string; code?: string }) => receipt.code ?? receipt.status,
      );
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
    expect(await results(key, [first, again])).toMatchObject([{ status: 'accepted' }, { status: 'duplicate' }]);
  });

  test('of another user is a conflict; of another tenant it is independent', async () => {
    const [{ key, answer }, other] = [await make(), await make()];
    const first = answer();
    const [accepted, foreign] = await results(key, [first, { ...first, identity: 'user|43', revision: 2 }]);
    expect(accepted).toMatchObject({ status: 'accepted' });
    expect(foreign).toMatchObject({ status: 'rejected', code: 'revision-conflict' });
    const theirs = other.answer({ id: first.id, values: { main: 1 } });
    expect(await results(other.key, [theirs])).toMatchObject([{ status: 'accepted' }]);
    expect(await stored(key, first.id)).toMatchObject({ values: { main: 9 } });
    expect(await stored(other.key, first.id)).toMatchObject({ values: { main: 1 } });
  });

  test('from twenty concurrent clients, repeatedly and through another process, is stored once', async () => {
    const { key, answer, tenant } = await make();
    await using second: TestApi = await createApi({ beside: api });
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

describe('a stored answer', () => {
  test('is visible to its user and the team only', async () => {
    const { tenant, token, card, key } = await make();
    const answer = answerTo(card);
    await results(token, [answer]);
    await stored(token, answer.id);
    const other = await makeTenant(api);
    const strangers = [await tenant.sign('user|43'), await claimToken(api, tenant, 'user|42'), other.key.apiKey];
    for (const as of strangers) {
      const [hidden, missing] = [await read(as, answer.id), await read(as, v7())];
      expect(hidden.status).toBe(404);
      const { request_id: _, instance: __, ...problem } = hidden.body;
      expect(missing.body).toMatchObject(problem);
    }
    const etag = (await read(key, answer.id)).headers.get('etag') as string;
    const unchanged = await api.request('GET', `/v1/answers/${answer.id}`, {
      as: key,
      headers: { 'If-None-Match': etag },
    });
    expect(unchanged.status).toBe(304);
    for (const id of ['x', `${answer.id}0`, '%00']) expect((await read(key, id)).status).toBe(404);
  });

  test('is listed by time of receipt, newest first, with any filter', async () => {
    const { tenant, question, key, answer } = await make();
    const second = await publishQuestion(api, tenant, { type: 'text' });
    const answers = [
      answer({ comment: '100% fine' }),
      answer({ identity: 'user|43', state: 'dismissed', values: {} }),
      answer({ question_id: second.id, values: { main: 'the quick fox' } }),
    ];
    for (const one of answers) {
      await results(key, [one]);
      await stored(key, one.id);
    }
    const token = await claimToken(api, tenant, 'user|42');
    const claimed = answerTo(await firstCard(token));
    await results(token, [claimed]);
    await stored(token, claimed.id);
    const [a, b, c] = answers.map(({ id }) => id);
    await api.request('PATCH', `/v1/answers/${b}`, { as: key, body: { tags: ['vip'] } });
    const list = async (query: string) => {
      const { status, body } = await api.request('GET', `/v1/answers${query}`, { as: key });
      expect(status).toBe(200);
      return body.data.map(({ id }: { id: string }) => id);
    };
    expect(await list('')).toEqual([claimed.id, c, b, a]);
    expect(await list(`?question_id=${question.id}`)).toEqual([claimed.id, b, a]);
    expect(await list('?state=dismissed')).toEqual([b]);
    expect(await list('?identity=user%7C42')).toEqual([claimed.id, c, a]);
    expect(await list('?identity=user%7C42&verified=true')).toEqual([c, a]);
    expect(await list('?verified=false')).toEqual([claimed.id]);
    expect(await list('?tag=vip')).toEqual([b]);
    expect(await list('?q=QUICK')).toEqual([c]);
    expect(await list('?q=fox+qui')).toEqual([c]);
    expect(await list('?q=ick')).toEqual([]); // words and prefixes, not infixes
    expect(await list('?q=quick+fine')).toEqual([]);
    expect(await list('?q=0%25')).toEqual([]);
    expect(await list('?q=100%25')).toEqual([a]);
    expect(await list('?q=_')).toEqual([]);
    expect(await list('?written=true')).toEqual([c, a]);
    expect(await list(`?written=true&question_id=${second.id}&q=fox`)).toEqual([c]);
    expect(await list('?version=1')).toEqual([claimed.id, c, b, a]);
    expect(await list('?version=2')).toEqual([]);
    const page = await api.request('GET', '/v1/answers?limit=2', { as: key });
    const rest = await api.request('GET', `/v1/answers?limit=2&cursor=${page.body.next_cursor}`, { as: key });
    expect([...page.body.data, ...rest.body.data].map(({ id }) => id)).toEqual([claimed.id, c, b, a]);
    const foreign = `/v1/answers?state=seen&cursor=${page.body.next_cursor}`;
    expect((await api.request('GET', foreign, { as: key })).body.code).toBe('invalid-cursor');
    // the latest change is last
    const since = '?updated_since=2020-01-01T00:00:00Z';
    await waitFor(async () => JSON.stringify(await list(since)) === JSON.stringify([a, c, claimed.id, b]));
    expect(await list('?updated_since=2100-01-01T00:00:00Z')).toEqual([]);
  });

  test.each([
    ['?state=gone', 422],
    ['?question_id=x', 422],
    ['?identity=', 422],
    ['?identity=%00', 422],
    ['?verified=1', 422],
    ['?tag=', 422],
    ['?q=%00', 422],
    ['?q=', 422],
    ['?q=+', 422],
    ['?written=false', 422],
    ['?version=0', 422],
    ['?updated_since=yesterday', 422],
    ['?updated_since=0000-01-01T00:00:00Z', 422],
    ['?limit=1000', 422],
    ['?sort=id', 400],
  ])('rejects the query %s', async (query, status) => {
    const tenant = await makeTenant(api);
    expect((await api.request('GET', `/v1/answers${query}`, { as: tenant.key.apiKey })).status).toBe(status);
  });

  test('accepts labels from the team and keeps them in later revisions', async () => {
    const { key, token, card } = await make();
    const answer = answerTo(card, { state: 'partial' });
    await results(token, [answer]);
    await stored(key, answer.id);
    const patch = (body: unknown, headers: Record<string, string> = {}) =>
      api.request('PATCH', `/v1/answers/${answer.id}`, { as: key, body, headers });
    const etag = (await read(key, answer.id)).headers.get('etag') as string;
    expect((await patch({ tags: ['vip', 'berlin'] }, { 'If-Match': etag })).body.tags).toEqual(['vip', 'berlin']);
    expect((await patch({ tags: [] }, { 'If-Match': etag })).status).toBe(412);
    for (const tags of [
      ['a', 'a'],
      [''],
      ['x'.repeat(51)],
      Array.from({ length: 21 }, (_, n) => `${n}`),
      'vip',
      ['\u0000'],
    ])
      expect((await patch({ tags })).status).toBe(422);
    expect((await patch({ tags: ['vip'], comment: 'x' })).status).toBe(422);
    await results(token, [{ ...answer, revision: 2, state: 'completed' }]);
    expect(await stored(key, answer.id, 2)).toMatchObject({ tags: ['vip', 'berlin'], state: 'completed' });
    expect((await api.request('PATCH', `/v1/answers/${v7()}`, { as: key, body: { tags: [] } })).status).toBe(404);
    expect((await api.request('PATCH', `/v1/answers/${answer.id}`, { as: token, body: { tags: [] } })).status).toBe(
      403,
    );
  });

  test('is deleted permanently: its id stays taken', async () => {
    const { key, token, card } = await make();
    const answer = answerTo(card, { state: 'partial' });
    await results(token, [answer]);
    await stored(key, answer.id);
    const remove = (headers: Record<string, string> = {}) =>
      api.request('DELETE', `/v1/answers/${answer.id}`, { as: key, headers });
    expect((await remove({ 'If-Match': '"stale"' })).status).toBe(412);
    expect((await remove()).status).toBe(204);
    expect((await remove()).status).toBe(404);
    expect((await read(token, answer.id)).status).toBe(404);
    const later = { ...answer, revision: 2 };
    const receipt = await waitFor(async () => {
      const [found] = await results(token, [{ ...later, revision: later.revision++ }]);
      return found.code === 'answer-deleted' && found;
    });
    expect(receipt).toMatchObject({ status: 'rejected', pointer: '/id' });
    await waitFor(async () => (await api.request('GET', '/v1/ingestion', { as: key })).body.queued === 0);
    expect((await read(key, answer.id)).status).toBe(404);
  });
});

test('writing, reading and labelling answers each need a scope', async () => {
  const { tenant, answer } = await make();
  const reader = (await tenant.addKey({ scopes: ['answers:read'] })).apiKey;
  const writer = (await tenant.addKey({ scopes: ['answers:write'] })).apiKey;
  const one = answer();
  expect((await send(reader, [one])).body.code).toBe('insufficient-scope');
  expect((await send(writer, [one])).status).toBe(202);
  expect((await read(writer, one.id)).body.code).toBe('insufficient-scope');
  await stored(reader, one.id);
  const patch = { as: reader, body: { tags: [] } };
  expect((await api.request('PATCH', `/v1/answers/${one.id}`, patch)).body.code).toBe('insufficient-scope');
  expect((await api.request('GET', '/v1/answers', { as: await tenant.sign('user|42') })).status).toBe(403);
});
