import { afterAll, describe, expect, test } from 'vitest';
import { createApi, createWorker, waitFor } from '../support/api.ts';
import { answerTo, claimToken, makeTenant, publishQuestion, type TestTenant } from '../support/make.ts';

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

const fetchCards = (token: string, query = '', headers: Record<string, string> = {}) =>
  api.request('GET', `/v1/cards${query}`, { as: token, headers });
const idsOf = (cards: TestCard[]): string[] => cards.map(card => card.question_id);

/** The cards of a token, once they are those of exactly these questions, in order. */
const cardsOf = (token: string, questions: { id: string }[]): Promise<TestCard[]> =>
  waitFor(async () => {
    const { data } = (await fetchCards(token)).body;
    return JSON.stringify(idsOf(data)) === JSON.stringify(questions.map(({ id }) => id)) && data;
  });

/** Syncs the record of a card view and waits until it is stored. */
async function sync(token: string, card: TestCard, fields: Record<string, unknown> = {}) {
  const answer = answerTo(card, fields);
  const { body } = await api.request('POST', '/v1/answers', { as: token, body: { answers: [answer] } });
  expect(body.results).toEqual([{ id: answer.id, revision: answer.revision, status: 'accepted' }]);
  await waitFor(async () => (await api.request('GET', `/v1/answers/${answer.id}`, { as: token })).status === 200);
}

const moveBack = (tenant: TestTenant, days: number) =>
  api.database.query(
    `update card_records set shown_at = shown_at - $2::interval, dismissed_at = dismissed_at - $2::interval
     where tenant_id = $1`,
    [tenant.uuid, `${days} days`],
  );

const free = { ignore_cooldown: true };
const seen = { state: 'seen', values: {} };
const dismissed = { state: 'dismissed', values: {} };

describe('a card', () => {
  test('shows the last published version of the question to any app', async () => {
    const tenant = await makeTenant(api);
    const question = await publishQuestion(api, tenant, { title: 'How likely?', description: 'Honestly', priority: 7 });
    const token = await tenant.sign('user|42');
    await cardsOf(token, [question]);
    const reply = await fetchCards(token, '?locale=de-CH&platform=ios&app_version=4.2.0&limit=5');
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      data: [
        {
          id: expect.stringMatching(/^card_[0-9a-z]{26}$/),
          question_id: question.id,
          question_version: 1,
          kind: 'question',
          steps: [
            {
              key: 'main',
              type: 'nps',
              title: 'How likely?',
              description: 'Honestly',
              config: {},
              required: true,
              show_if: null,
            },
          ],
          locale: 'en',
          trigger: null,
          in_cooldown: true,
          priority: 7,
          expires_at: null,
          thanks: null,
          placement: null,
          reply: null,
        },
      ],
      poll_after_s: expect.any(Number),
      appearance: expect.objectContaining({ theme: 'auto', placement: 'inline' }),
    });
    await api.request('PATCH', `/v1/questions/${question.id}`, { as: tenant.key.apiKey, body: { title: 'And now?' } });
    const changed = await waitFor(async () => {
      const { data } = (await fetchCards(token)).body;
      return data[0].question_version === 2 && data[0];
    });
    expect(changed).toMatchObject({ id: reply.body.data[0].id, steps: [{ title: 'And now?' }] });
  });

  test('is the same with `triggers`, which is accepted and ignored', async () => {
    const tenant = await makeTenant(api);
    await publishQuestion(api, tenant);
    const token = await tenant.sign('user|42');
    const plain = await waitFor(async () => {
      const reply = await fetchCards(token);
      return reply.body.data.length === 1 && reply;
    });
    for (const value of ['true', 'false'])
      expect(await fetchCards(token, `?triggers=${value}`)).toMatchObject({ status: 200, body: plain.body });
    expect((await fetchCards(token, '?triggers=yes')).status).toBe(422);
  });

  test('keeps its id across fetches, and differs per user, kind of user and question', async () => {
    const tenant = await makeTenant(api);
    const questions = [
      await publishQuestion(api, tenant, { frequency: free, allow_public: true, priority: 2 }),
      await publishQuestion(api, tenant, { frequency: free, allow_public: true, priority: 1 }),
    ];
    const tokens = [
      await tenant.sign('user|42'),
      await tenant.sign('user|43'),
      await claimToken(api, tenant, 'user|42'),
    ];
    const ids: string[] = [];
    for (const token of tokens) {
      const cards = await cardsOf(token, questions);
      ids.push(...cards.map(card => card.id));
      expect((await fetchCards(token)).body.data).toEqual(cards);
    }
    expect(new Set(ids).size).toBe(6);
    expect((await fetchCards(await tenant.sign('user|42'))).body.data.map((card: TestCard) => card.id)).toEqual(
      ids.slice(0, 2),
    );
  });

  test('exists only for live questions', async () => {
    const tenant = await makeTenant(api);
    const token = await tenant.sign('user|42');
    const question = await publishQuestion(api, tenant);
    const act = (action: string) =>
      api.request('POST', `/v1/questions/${question.id}/${action}`, { as: tenant.key.apiKey });
    await cardsOf(token, [question]);
    await act('pause');
    await cardsOf(token, []);
    await act('resume');
    await cardsOf(token, [question]);
    await act('close');
    await cardsOf(token, []);
  });

  test('is shown to a public token only if the question allows it', async () => {
    const tenant = await makeTenant(api);
    const open = await publishQuestion(api, tenant, { allow_public: true, frequency: free });
    const closed = await publishQuestion(api, tenant, { frequency: free, priority: 9 });
    await cardsOf(await tenant.sign('user|42'), [closed, open]);
    await cardsOf(await claimToken(api, tenant, 'user|42'), [open]);
  });
});

describe('the list of cards', () => {
  test('has a strong ETag, and is 304 with the same headers until something changes for that user', async () => {
    const tenant = await makeTenant(api);
    const question = await publishQuestion(api, tenant);
    const token = await tenant.sign('user|42');
    const [card] = (await cardsOf(token, [question])) as [TestCard];
    const first = await fetchCards(token);
    const etag = first.headers.get('etag') as string;
    expect(etag).toMatch(/^"[^"]+"$/);
    const headers = {
      'cache-control': 'private, max-age=0, must-revalidate',
      vary: 'Authorization, Accept-Language',
      'content-language': 'en',
      etag,
    };
    const unchanged = await fetchCards(token, '', { 'If-None-Match': etag });
    expect([unchanged.status, unchanged.body]).toEqual([304, '']);
    for (const reply of [first, unchanged])
      for (const [name, value] of Object.entries(headers)) expect(reply.headers.get(name)).toBe(value);
    expect((await fetchCards(token, '', { 'If-None-Match': `"x", W/${etag}` })).status).toBe(304);
    expect((await fetchCards(token, '', { 'If-None-Match': '"x"' })).status).toBe(200);

    await sync(token, card);
    await cardsOf(token, []); // the notice of the stored answer has arrived
    const changed = await fetchCards(token, '', { 'If-None-Match': etag });
    expect([changed.status, changed.body.data]).toEqual([200, []]);
    expect((await fetchCards(await tenant.sign('user|43'))).body.data).toHaveLength(1);
  });

  test('is ordered by priority, then by time of publication, and contains at most 20', async () => {
    const tenant = await makeTenant(api);
    const questions = [];
    for (const priority of [5, 5, 9, 0, ...Array.from({ length: 18 }, () => 1)])
      questions.push(await publishQuestion(api, tenant, { priority, frequency: free }));
    const [a, b, c, last, ...rest] = questions;
    const token = await tenant.sign('user|42');
    const cards = await cardsOf(token, [c, a, b, ...rest].slice(0, 20));
    expect(cards).toHaveLength(20);
    expect(idsOf(cards)).not.toContain(last.id);
    expect(idsOf((await fetchCards(token, '?limit=2')).body.data)).toEqual([c.id, a.id]);
  });

  test.each([
    ['?limit=0', 422],
    ['?limit=21', 422],
    ['?limit=x', 422],
    ['?app_version=%00', 422],
    ['?user=42', 400],
    ['?limit=1&limit=2', 400],
  ])('rejects %s with %i', async (query, status) => {
    const tenant = await makeTenant(api);
    expect((await fetchCards(await tenant.sign('user|42'), query)).status).toBe(status);
  });

  test('is for users, not for API keys', async () => {
    const tenant = await makeTenant(api);
    const refused = await fetchCards(tenant.key.apiKey);
    expect([refused.status, refused.body.code]).toEqual([403, 'insufficient-scope']);
  });
});

describe('a card comes back', () => {
  const shown = async (frequency: Record<string, unknown>) => {
    const tenant = await makeTenant(api);
    const question = await publishQuestion(api, tenant, { frequency });
    const token = await tenant.sign('user|42');
    const [card] = (await cardsOf(token, [question])) as [TestCard];
    return { tenant, question, token, card };
  };
  const present = async (token: string): Promise<boolean> => (await fetchCards(token)).body.data.length > 0;

  test.each([
    ['once', seen, false],
    ['once', dismissed, false],
    ['until_answered', seen, true],
    ['until_answered', { state: 'partial' }, false],
    ['until_answered', { state: 'completed' }, false],
    ['always', { state: 'completed' }, true],
    ['always', dismissed, true],
  ])('under %s after %j: %s', async (repeat, fields, stays) => {
    const { token, card } = await shown({ repeat });
    await sync(token, card, fields);
    await expect.poll(() => present(token)).toBe(stays);
  });

  test('after the snooze of a dismissal', async () => {
    const { tenant, token, card } = await shown({ snooze_after_dismiss_days: 3 });
    await sync(token, card, dismissed);
    await expect.poll(() => present(token)).toBe(false);
    await moveBack(tenant, 2);
    await expect.poll(() => present(token)).toBe(false);
    await moveBack(tenant, 1);
    await expect.poll(() => present(token)).toBe(true);
  });

  test('never for a late or repeated answer, which is still accepted', async () => {
    const { tenant, question, token, card } = await shown({ repeat: 'until_answered' });
    await sync(token, card);
    await expect.poll(() => present(token)).toBe(false);
    await sync(token, card, { values: { main: 3 } });
    await api.request('POST', `/v1/questions/${question.id}/pause`, { as: tenant.key.apiKey });
    await sync(token, card, { values: { main: 4 } });
  });
});

describe('the cooldown', () => {
  test('shows one question at a time, and the next one after it ends', async () => {
    const tenant = await makeTenant(api);
    const first = await publishQuestion(api, tenant, { priority: 2 });
    const second = await publishQuestion(api, tenant, { priority: 1 });
    const token = await tenant.sign('user|42');
    const [card] = (await cardsOf(token, [first])) as [TestCard];
    await sync(token, card);
    await cardsOf(token, []);
    await moveBack(tenant, 6);
    expect((await fetchCards(token)).body.data).toEqual([]);
    await moveBack(tenant, 1);
    await cardsOf(token, [second]);
  });

  test('neither delays a question that ignores it, nor is started by one', async () => {
    const tenant = await makeTenant(api);
    const loud = await publishQuestion(api, tenant, { priority: 3, frequency: { ...free, repeat: 'once' } });
    const calm = await publishQuestion(api, tenant, { priority: 2 });
    const other = await publishQuestion(api, tenant, { priority: 1, frequency: free });
    const token = await tenant.sign('user|42');
    const [card, calmCard] = (await cardsOf(token, [loud, calm, other])) as [TestCard, TestCard];
    await sync(token, card, seen);
    await cardsOf(token, [calm, other]);
    await sync(token, calmCard);
    await cardsOf(token, [other]);
  });

  test('has the length set by the tenant', async () => {
    const tenant = await makeTenant(api);
    await api.database.query('update tenants set cooldown_days = 0 where id = $1', [tenant.uuid]);
    const first = await publishQuestion(api, tenant, { priority: 2 });
    const second = await publishQuestion(api, tenant, { priority: 1 });
    const token = await tenant.sign('user|42');
    const [card] = (await cardsOf(token, [first])) as [TestCard];
    await sync(token, card);
    await cardsOf(token, [second]);
  });
});
