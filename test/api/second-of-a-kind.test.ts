import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toTypeId } from '../../src/domain/ids.ts';
import { createApi, createWorker, type TestApi, waitFor } from '../support/api.ts';
import { answerTo, claimToken, makeTenant, publishQuestion, type TestTenant } from '../support/make.ts';
import { headersOf, joinTenant, logIn, makeMember, PASSWORD } from '../support/person.ts';

let api: TestApi;
let worker: Awaited<ReturnType<typeof createWorker>>;
beforeAll(async () => {
  api = await createApi({ settings: { TRUSTED_PROXY_HOPS: '2' } });
  worker = await createWorker(api);
});
afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});

describe('the second trusted proxy', () => {
  test.each([
    ['names the client', '203.0.113.9, 198.51.100.1', '203.0.113.9'],
    ['is not deceived by entries that the client sends', '192.0.2.1, 203.0.113.9, 198.51.100.1', '203.0.113.9'],
    ['may be missing; then the address is that of the connection', '203.0.113.9', '127.0.0.1'],
  ])('%s', async (_, forwarded, address) => {
    const person = await makeMember(api, await makeTenant(api), 'owner');
    await api.request('PATCH', '/v1/tenant', { headers: person.headers, body: { ip_mode: 'full' } });
    const body = { email: person.email, password: PASSWORD };
    const loggedIn = await api.request('POST', '/v1/session', { body, headers: { 'X-Forwarded-For': forwarded } });
    const { data } = (await api.request('GET', '/v1/sessions', { headers: headersOf(loggedIn) })).body;
    expect(data.find(({ current }: { current: boolean }) => current).ip).toBe(address);
  });
});

describe("a person's second tenant", () => {
  let first: TestTenant;
  let second: TestTenant;
  let email: string;
  let headers: Record<string, string>;
  let memberIds: string[];

  /** The actors of an action in the log of a tenant. */
  async function actorsOf(tenant: TestTenant, action: string): Promise<string[]> {
    const reader = await makeMember(api, tenant, 'admin');
    const { body } = await api.request('GET', `/v1/audit-log?action=${action}`, { headers: reader.headers });
    return body.data.map(({ actor }: { actor: { id: string } }) => actor.id);
  }

  beforeAll(async () => {
    [first, second] = [await makeTenant(api, 'First'), await makeTenant(api, 'Second')];
    const person = await makeMember(api, first, 'admin');
    memberIds = [person.memberId, toTypeId('member', await joinTenant(api, second, person, 'agent'))];
    ({ email, headers } = person);
  });

  test('has the entry of an account action as the first has, each with its own member', async () => {
    await api.request('PATCH', '/v1/me', { headers, body: { name: 'Grace' } });
    expect((await logIn(api, email)).status).toBe(200);
    for (const action of ['account.updated', 'session.started']) {
      expect([action, await actorsOf(first, action)]).toEqual([action, [memberIds[0]]]);
      expect([action, await actorsOf(second, action)]).toEqual([action, [memberIds[1]]]);
    }
  });

  test('alone has the entry of joining it', async () => {
    const third = await makeTenant(api, 'Third');
    const owner = await makeMember(api, third, 'owner');
    const invitation = { email, role: 'agent' };
    const invited = await api.request('POST', '/v1/members', { headers: owner.headers, body: invitation });
    const token = invited.body.link.split('#token=')[1];
    const body = { name: 'Grace', password: PASSWORD };
    expect((await api.request('POST', `/v1/invitations/${token}/accept`, { body })).status).toBe(200);
    expect(await actorsOf(third, 'member.joined')).toHaveLength(1);
    for (const other of [first, second]) expect(await actorsOf(other, 'member.joined')).toEqual([]);
  });
});

describe('the claimed user with the identity of a verified one', () => {
  interface TestCard {
    id: string;
    question_id: string;
    question_version: number;
  }
  const cardsOf = async (as: string): Promise<TestCard[]> => (await api.request('GET', '/v1/cards', { as })).body.data;
  const send = async (as: string, answer: object) =>
    (await api.request('POST', '/v1/answers', { as, body: { answers: [answer] } })).body.results[0];
  const tokens = async (tenant: TestTenant) => [await tenant.sign('user|42'), await claimToken(api, tenant, 'user|42')];

  test.each([
    ['claimed', 0],
    ['verified', 1],
  ])('keeps a card of its own: the answer of the other leaves the card of the %s user', async (_, answering) => {
    const tenant = await makeTenant(api);
    await publishQuestion(api, tenant, { allow_public: true });
    const pair = await tokens(tenant);
    const [own, others] = [pair[answering] as string, pair[1 - answering] as string];
    const [card] = (await waitFor(async () => (await cardsOf(own))[0] && cardsOf(own))) as [TestCard];
    const [other] = (await cardsOf(others)) as [TestCard];
    expect(other.id).not.toBe(card.id);
    expect(await send(others, answerTo(card))).toMatchObject({ status: 'rejected', code: 'unknown-card' });
    expect(await send(own, answerTo(card))).toMatchObject({ status: 'accepted' });
    await waitFor(async () => (await cardsOf(own)).length === 0);
    expect(await cardsOf(others)).toEqual([other]);
    expect(await send(others, answerTo(other))).toMatchObject({ status: 'accepted' });
    await waitFor(async () => (await cardsOf(others)).length === 0);
  });
});

describe('items of one sync', () => {
  test('with the same id are compared with the latest of them', async () => {
    const tenant = await makeTenant(api);
    const question = await publishQuestion(api, tenant);
    const as = tenant.key.apiKey;
    const id = v7();
    const item = (revision: number, main: number, state = 'partial') => ({
      id,
      revision,
      question_id: question.id,
      question_version: 1,
      identity: 'ada',
      state,
      values: { main },
    });
    const answers = [item(1, 5), item(2, 6), item(2, 6), item(1, 5), item(2, 7), item(3, 8, 'completed')];
    const { results } = (await api.request('POST', '/v1/answers', { as, body: { answers } })).body;
    expect(results.map(({ status, code }: { status: string; code?: string }) => code ?? status)).toEqual([
      'accepted',
      'accepted',
      'duplicate',
      'superseded',
      'revision-conflict',
      'accepted',
    ]);
    await waitFor(async () => (await api.request('GET', `/v1/answers/${id}`, { as })).status === 200);
    const { body } = await api.request('GET', `/v1/answers/${id}`, { as });
    expect(body).toMatchObject({ revision: 3, values: { main: 8 } });
    const ingestion = (await api.request('GET', '/v1/ingestion', { as })).body;
    expect(ingestion).toMatchObject({ stored: 3, repeated: 0, quarantined: 0, rejected: expect.any(Number) });
  });

  test('with the same card count in the order in which they were sent', async () => {
    const tenant = await makeTenant(api);
    const question = await publishQuestion(api, tenant);
    const as = await tenant.sign('ada');
    const [card] = (await waitFor(async () => (await api.request('GET', '/v1/cards', { as })).body.data)) as [
      Parameters<typeof answerTo>[0],
    ];
    // `first` is completed in its second revision, before `second` is.
    const first = answerTo(card, { state: 'seen', values: {} });
    const answers = [first, { ...answerTo(card, { values: { main: 2 } }), id: first.id, revision: 2 }];
    const second = answerTo(card, { values: { main: 10 } });
    const sent = await api.request('POST', '/v1/answers', { as, body: { answers: [...answers, second] } });
    expect(sent.body.results.map(({ status }: { status: string }) => status)).toEqual(Array(3).fill('accepted'));
    const team = tenant.key.apiKey;
    const rows = await waitFor(async () => {
      const { data } = (await api.request('GET', `/v1/answers?question_id=${question.id}`, { as: team })).body;
      return data.length === 2 && data;
    });
    const counted = rows.filter(({ counted }: { counted: boolean }) => counted);
    expect(counted.map(({ id }: { id: string }) => id)).toEqual([first.id]);
    const results = await api.request('GET', `/v1/questions/${question.id}/results`, { as: team });
    expect(results.body).toMatchObject({ completed: 1, displays: 2 });
  });
});
