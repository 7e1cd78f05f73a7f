import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApi } from '../support/api.ts';
import { createCaller, expectCommonHeaders, outcome } from '../support/http.ts';
import { makeTenant, type TestTenant } from '../support/make.ts';

const api = await createApi({ settings: { TRUSTED_PROXY_HOPS: '1' } });
afterAll(() => api[Symbol.asyncDispose]());
const { key, get, createQuestion } = await createCaller(api);

describe('a cursor', () => {
  let owner: TestTenant;
  let path: string;
  beforeAll(async () => {
    owner = await makeTenant(api);
    for (let index = 0; index < 12; index++) await createQuestion({ as: owner.key.apiKey });
    path = '/v1/questions?type=nps';
  });
  const page = async (query = '', as = owner.key.apiKey) => api.request('GET', `${path}${query}`, { as });
  const cursorOf = async (query = '') => encodeURIComponent((await page(query)).body.next_cursor);

  test('returns the whole list, each item once, by body and by Link', async () => {
    const seen: string[] = [];
    let next: string | null = `https://parley.test${path}&limit=5`;
    for (let pages = 0; next && pages < 5; pages++) {
      const { pathname, search } = new URL(next);
      const { body, headers } = await api.request('GET', `${pathname}${search}`, { as: owner.key.apiKey });
      seen.push(...body.data.map((question: { id: string }) => question.id));
      next = /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1] ?? null;
      expect(body.has_more).toBe(next !== null);
      expect(next && new URL(next).searchParams.get('cursor')).toBe(body.next_cursor);
    }
    expect(seen).toHaveLength(12);
    expect(new Set(seen).size).toBe(12);
  });

  test('has ten items per page by default', async () => {
    const { body } = await page();
    expect([body.data.length, body.has_more]).toEqual([10, true]);
  });

  test('that was modified anywhere is rejected', async () => {
    const cursor = (await page('&limit=1')).body.next_cursor as string;
    const other = (character: string) => (character === 'A' ? 'B' : 'A');
    const changed = [...cursor].map(
      (character, index) => cursor.slice(0, index) + other(character) + cursor.slice(index + 1),
    );
    const odd = ['', 'A', cursor.slice(0, -1), `${cursor}A`, `${cursor}=`, ` ${cursor}`, cursor.slice(0, 22)];
    for (const forged of [...changed.filter((_, index) => index % 4 === 0), ...odd])
      expect(outcome(await page(`&limit=1&cursor=${encodeURIComponent(forged)}`))).toEqual([400, 'invalid-cursor']);
  });

  test('works with another page length and another key of the tenant', async () => {
    const cursor = await cursorOf('&limit=1');
    expect((await page(`&limit=3&cursor=${cursor}`)).body.data).toHaveLength(3);
    expect((await page(`&cursor=${cursor}`, (await owner.addKey()).apiKey)).status).toBe(200);
  });

  test('does not work for another list, other filters or another tenant', async () => {
    const cursor = await cursorOf('&limit=1');
    const ask = (target: string, as = owner.key.apiKey) => api.request('GET', `${target}cursor=${cursor}`, { as });
    for (const target of [
      '/v1/questions?',
      '/v1/questions?type=csat&',
      '/v1/questions?type=nps&status=draft&',
      '/v1/answers?',
      '/v1/conversations?',
    ])
      expect([target, ...outcome(await ask(target))]).toEqual([target, 400, 'invalid-cursor']);
    expect(outcome(await ask(`${path}&`, key))).toEqual([400, 'invalid-cursor']);
  });

  test("of one user's list works neither for another user nor for the team", async () => {
    const tokens = [await owner.sign('user|1'), await owner.sign('user|2')] as const;
    for (const body of [{ message: 'a' }, { message: 'b' }])
      await api.request('POST', '/v1/conversations', { as: tokens[0], body });
    const first = await api.request('GET', '/v1/conversations?limit=1', { as: tokens[0] });
    const target = `/v1/conversations?limit=1&cursor=${first.body.next_cursor}`;
    expect((await api.request('GET', target, { as: tokens[0] })).status).toBe(200);
    for (const as of [tokens[1], owner.key.apiKey])
      expect(outcome(await api.request('GET', target, { as }))).toEqual([400, 'invalid-cursor']);
  });
});

describe('an ETag', () => {
  test('saves unchanged replies', async () => {
    const { body } = await createQuestion();
    const path = `/v1/questions/${body.id}`;
    const first = await get(path);
    const etag = first.headers.get('etag') as string;
    expect(etag).toMatch(/^"[\w-]{27}"$/);
    expect(first.headers.get('cache-control')).toBe('private, max-age=0, must-revalidate');
    for (const tags of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const again = await get(path, { headers: { 'if-none-match': tags } });
      expect([tags, again.status, again.body, again.headers.get('etag')]).toEqual([tags, 304, '', etag]);
      expectCommonHeaders(Object.fromEntries(again.headers));
    }
    expect((await get(path, { headers: { 'if-none-match': '"x"' } })).status).toBe(200);
  });

  test('protects an update against a concurrent one', async () => {
    const { body } = await createQuestion();
    const path = `/v1/questions/${body.id}`;
    const etag = (await get(path)).headers.get('etag') as string;
    const change = (title: string, match: string) =>
      api.request('PATCH', path, { as: key, body: { title }, headers: { 'if-match': match } });
    expect((await change('one', etag)).status).toBe(200);
    const late = await change('two', etag);
    expect(outcome(late)).toEqual([412, 'precondition-failed']);
    expect((await get(path)).body.title).toBe('one');
    expect((await change('three', '*')).status).toBe(200);
  });
});
