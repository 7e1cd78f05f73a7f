import { v7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { deleteOldTestAnswers } from '../../src/storage/questions/test-answers.ts';
import { createApi, type TestApi, type TestReply } from '../support/api.ts';
import { problem } from '../support/conversations.ts';
import { makeTenant, storageOf, type TestTenant } from '../support/make.ts';
import { makeMember, type TestPerson } from '../support/person.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createApi();
});
afterAll(() => api[Symbol.asyncDispose]());

let tenant: TestTenant;
let ada: TestPerson;
let draft: { id: string };
beforeEach(async () => {
  tenant = await makeTenant(api);
  ada = await makeMember(api, tenant, 'admin');
  draft = (await asKey('POST', '/v1/questions', { type: 'nps', title: 'How likely?' })).body;
});

const asKey = (method: string, path: string, body?: object) =>
  api.request(method, path, { as: tenant.key.apiKey, ...(body ? { body } : {}) });
const issue = (person = ada, id = draft.id) =>
  api.request('POST', `/v1/questions/${id}/test-token`, { headers: person.headers });
const tokenOf = async (person = ada, id = draft.id): Promise<string> => (await issue(person, id)).body.access_token;
const cards = async (as: string) => (await api.request('GET', '/v1/cards', { as })).body.data;
const results = async (query: string) => (await asKey('GET', `/v1/questions/${draft.id}/results${query}`)).body;

interface Card {
  id: string;
  question_id: string;
  question_version: number;
}
const answerTo = (card: Card, fields: object = {}) => ({
  id: v7(),
  card_id: card.id,
  question_id: card.question_id,
  question_version: card.question_version,
  revision: 1,
  state: 'completed',
  values: { main: 9 },
  ...fields,
});
const send = (as: string, ...answers: object[]): Promise<TestReply> =>
  api.request('POST', '/v1/answers', { as, body: { answers } });
const statuses = ({ body }: TestReply) =>
  body.results.map(({ status, code }: Record<string, string>) => code ?? status);

describe('a test token', () => {
  test('shows the card of a draft, and its answer is in the test results at once, and nowhere else', async () => {
    expect((await issue()).body).toEqual({ access_token: expect.any(String), expires_in: 900 });
    const token = await tokenOf();
    const [card, ...others] = await cards(token);
    expect(others).toEqual([]);
    expect(card).toMatchObject({ question_id: draft.id, question_version: 1, steps: [{ title: 'How likely?' }] });
    const answer = answerTo(card, { comment: 'Nice' });
    expect(statuses(await send(token, answer))).toEqual(['accepted']);
    expect(await results('?test=true')).toMatchObject({ test: true, completed: 1, written: 1, score: { answers: 1 } });
    expect(await results('')).toMatchObject({ test: false, completed: 0, displays: 0 });
    expect((await asKey('GET', '/v1/answers')).body.data).toEqual([]);
    const identity = `test|${ada.memberId}`;
    for (const as of [token, tenant.key.apiKey])
      expect((await api.request('GET', `/v1/answers/${answer.id}`, { as })).body).toMatchObject({
        ...{ identity, counted: false, values: { main: 9 }, comment: 'Nice', tags: [] },
      });
    expect((await asKey('GET', '/v1/identities')).body.data).toEqual([]);
    expect(await cards(token)).toEqual([card]); // can be answered again
  });

  test('is encrypted in the reply that is stored for an Idempotency-Key', async () => {
    const headers = { ...ada.headers, 'Idempotency-Key': 'try-it-out' };
    const ask = () => api.request('POST', `/v1/questions/${draft.id}/test-token`, { headers });
    const [first, again] = [await ask(), await ask()];
    expect(again.body).toEqual(first.body);
    const kept = await api.database.query<{ body: string }>(
      "select body from idempotency_keys where key = 'try-it-out'",
    );
    expect(kept).toEqual([{ body: expect.stringMatching(/^sealed:/) }]);
  });

  test('works for a live question without changing its results, and shows its present form', async () => {
    await asKey('POST', `/v1/questions/${draft.id}/publish`);
    const token = await tokenOf();
    const [before] = await cards(token);
    expect(statuses(await send(token, answerTo(before)))).toEqual(['accepted']);
    await asKey('PATCH', `/v1/questions/${draft.id}`, { title: 'How very likely?' });
    const [after] = await cards(token);
    expect(after).toMatchObject({ question_version: 2, steps: [{ title: 'How very likely?' }] });
    expect(statuses(await send(token, answerTo(before), answerTo(after)))).toEqual(['unknown-version', 'accepted']);
    expect(await results('?test=true')).toMatchObject({ completed: 2 });
    expect(await results('?test=true&version=2')).toMatchObject({ completed: 1 });
    expect(await results('?test=true&verified=false')).toMatchObject({ completed: 0 });
    expect(await results('')).toMatchObject({ completed: 0 });
  });

  test('keeps the highest revision of an answer, until it is completed', async () => {
    const token = await tokenOf();
    const [card] = await cards(token);
    const answer = answerTo(card, { state: 'seen', values: {} });
    for (const [revision, state, value] of [
      [1, 'seen', null],
      [3, 'partial', 7],
      [2, 'partial', 1],
      [4, 'completed', 8],
      [5, 'completed', 0],
    ] as const) {
      const values = value === null ? {} : { main: value };
      expect(statuses(await send(token, { ...answer, revision, state, values }))).toEqual(['accepted']);
    }
    const { body } = await api.request('GET', `/v1/answers/${answer.id}`, { as: token });
    expect(body).toMatchObject({ revision: 4, state: 'completed', values: { main: 8 } });
  });

  test('refuses values that the question would refuse, other questions and other cards', async () => {
    const token = await tokenOf();
    const [card] = await cards(token);
    const other = (await asKey('POST', '/v1/questions', { type: 'nps', title: 'Other' })).body;
    const reply = await send(
      token,
      answerTo(card, { values: { main: 11 } }),
      answerTo({ ...card, question_id: other.id }),
      answerTo(card, { card_id: undefined }),
      answerTo(card, { identity: 'user|42' }),
    );
    expect(statuses(reply)).toEqual(['invalid-value', 'unknown-card', 'validation-failed', 'validation-failed']);
    expect(await results('?test=true')).toMatchObject({ displays: 0 });
  });

  test('is good for nothing else', async () => {
    const token = await tokenOf();
    for (const path of ['/v1/conversations', '/v1/me', '/v1/questions', '/v1/answers', '/v1/identities'])
      expect(problem(await api.request('GET', path, { as: token })), path).toEqual([403, 'insufficient-scope']);
    const body = { message: 'Hello' };
    expect(problem(await api.request('POST', '/v1/conversations', { as: token, body }))).toEqual([
      ...[403, 'insufficient-scope'],
    ]);
  });

  test('is issued to members of the tenant only, and not for archived questions', async () => {
    const stranger = await makeMember(api, await makeTenant(api), 'owner');
    expect(problem(await issue(stranger))).toEqual([404, 'resource-not-found']);
    expect(problem(await asKey('POST', `/v1/questions/${draft.id}/test-token`))).toEqual([403, 'insufficient-scope']);
    const token = await tokenOf();
    const [card] = await cards(token);
    for (const action of ['publish', 'close', 'archive']) await asKey('POST', `/v1/questions/${draft.id}/${action}`);
    expect(problem(await issue())).toEqual([409, 'invalid-transition']);
    expect(await cards(token)).toEqual([]);
    expect(statuses(await send(token, answerTo(card)))).toEqual(['unknown-card']);
  });

  test('ends with its member, and cannot be forged or changed', async () => {
    const token = await tokenOf();
    const [header, payload, signature = ''] = token.split('.');
    const claims = JSON.parse(Buffer.from(payload ?? '', 'base64url').toString());
    const changed = Buffer.from(JSON.stringify({ ...claims, exp: claims.exp + 1e6 })).toString('base64url');
    const forged = [`${header}.${changed}.${signature}`, `${header}.${payload}.${'A'.repeat(signature.length)}`];
    for (const as of forged)
      expect(problem(await api.request('GET', '/v1/cards', { as }))).toEqual([401, 'bad-signature']);
    const elsewhere = await makeTenant(api);
    const body = { token };
    expect((await api.request('POST', '/v1/auth/inspect', { as: elsewhere.key.apiKey, body })).body.valid).toBe(false);
    const owner = await makeMember(api, tenant, 'owner');
    await api.request('DELETE', `/v1/members/${ada.memberId}`, { headers: owner.headers });
    expect(await cards(token)).toEqual([]);
  });

  test('leaves answers that are gone after 24 hours, before and after they are deleted', async () => {
    const token = await tokenOf();
    const [card] = await cards(token);
    const answer = answerTo(card);
    await send(token, answer);
    const count = async () => (await api.database.query('select from test_answers where id = $1', [answer.id])).length;
    await deleteOldTestAnswers(storageOf(api));
    expect(await count()).toBe(1);
    await api.database.query("update test_answers set received_at = received_at - interval '24 hours 1 second'");
    expect(await results('?test=true')).toMatchObject({ displays: 0 });
    expect((await api.request('GET', `/v1/answers/${answer.id}`, { as: token })).status).toBe(404);
    expect((await asKey('GET', `/v1/answers/${answer.id}`)).status).toBe(404);
    await deleteOldTestAnswers(storageOf(api));
    expect(await count()).toBe(0);
  });
});
