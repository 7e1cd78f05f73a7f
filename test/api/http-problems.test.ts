import { afterAll, describe, expect, test } from 'vitest';
import { FIELD_CODES } from '../../src/domain/field-errors.ts';
import { PROBLEMS } from '../../src/domain/problem-catalog.ts';
import { BUILD } from '../../src/platform/build-info.ts';
import { createApi, type TestReply } from '../support/api.ts';
import { createCaller, expectCommonHeaders, JSON_TYPE, outcome } from '../support/http.ts';
import { aQuestion, makeTenant } from '../support/make.ts';

const api = await createApi({ settings: { TRUSTED_PROXY_HOPS: '1' } });
afterAll(() => api[Symbol.asyncDispose]());
const { tenant, key, get, createQuestion } = await createCaller(api);
const token = await tenant.sign('user|42');

describe('a problem', () => {
  const problems: [status: number, code: string, ask: () => Promise<TestReply>][] = [
    [400, 'unknown-parameter', () => get('/v1/questions?colour=red')],
    [400, 'repeated-parameter', () => get('/v1/questions?limit=1&limit=2')],
    [400, 'invalid-cursor', () => get('/v1/questions?cursor=abc')],
    [400, 'malformed-json', () => createQuestion({ body: undefined, raw: '{', headers: JSON_TYPE })],
    [400, 'malformed-request', () => get('/v1/questions?q=%E0%A4%A')],
    [401, 'credentials-missing', () => api.request('GET', '/v1/questions')],
    [403, 'insufficient-scope', () => get('/v1/questions', { as: token })],
    [404, 'resource-not-found', () => get('/v1/nothing')],
    [404, 'resource-not-found', () => get('/v1/questions/question_unknown')],
    [405, 'method-not-allowed', () => api.request('PUT', '/v1/questions', { as: key })],
    [
      413,
      'body-too-large',
      () => createQuestion({ body: undefined, raw: `"${'x'.repeat(262_144)}"`, headers: JSON_TYPE }),
    ],
    [
      415,
      'unsupported-media-type',
      () => createQuestion({ body: undefined, raw: '{}', headers: { 'content-type': 'text/plain' } }),
    ],
    [422, 'validation-failed', () => createQuestion({ body: { type: 'nps' } })],
    [422, 'validation-failed', () => get('/v1/questions?limit=0')],
  ];

  test.each(problems)('%i %s is an RFC 9457 document with every header', async (status, code, ask) => {
    const reply = await ask();
    expect(reply.headers.get('content-type')).toBe('application/problem+json');
    expect(reply.headers.get('cache-control')).toBe('no-store');
    expectCommonHeaders(Object.fromEntries(reply.headers));
    expect(reply.body).toEqual({
      ...reply.body,
      type: `https://parley.test/problems/${code}`,
      title: PROBLEMS[code as keyof typeof PROBLEMS].title,
      status,
      detail: expect.any(String),
      instance: expect.stringMatching(/^\/v1\//),
      code,
      request_id: reply.headers.get('x-request-id'),
    });
    expect(reply.status).toBe(status);
  });

  test('names each fault with its pointer, up to fifty', async () => {
    const one = await createQuestion({
      body: { type: 'nps', title: 'a\u0000', 'a/b~c': 1, id: 'x', tenant_id: tenant.id },
    });
    expect(one.body.errors.map((error: { pointer: string; code: string }) => [error.pointer, error.code])).toEqual(
      expect.arrayContaining([
        ['/title', 'invalid-characters'],
        ['/a~1b~0c', 'unknown-field'],
        ['/id', 'unknown-field'],
        ['/tenant_id', 'unknown-field'],
      ]),
    );
    const fields = Object.fromEntries(Array.from({ length: 9_000 }, (_, index) => [`f${index}`, 1]));
    const many = await createQuestion({ body: { ...aQuestion(), ...fields } });
    expect(outcome(many)).toEqual([422, 'validation-failed']);
    expect(many.body.errors).toHaveLength(50);
  });

  test('reveals no internals, wherever the failure occurs', async () => {
    await using broken = await createApi();
    const owner = await makeTenant(broken);
    expect((await broken.request('GET', '/v1/questions', { as: owner.key.apiKey })).status).toBe(200);
    await broken.database.query('alter table questions rename column title to headline');
    const reply = await broken.request('GET', '/v1/questions', { as: owner.key.apiKey });
    expect(outcome(reply)).toEqual([500, 'internal-error']);
    expectCommonHeaders(Object.fromEntries(reply.headers));
    expect(JSON.stringify(reply.body)).not.toMatch(/title\b.*column|select|postgres|\.ts\b|node_modules/i);
  });
});

describe('a request id', () => {
  test.each([['my-id_1.2'], ['x'.repeat(128)]])('%s from the caller is kept', async id => {
    const reply = await get('/v1/nothing', { headers: { 'x-request-id': id } });
    expect(reply.headers.get('x-request-id')).toBe(id);
    expect(reply.body.request_id).toBe(id);
  });

  test.each([['x'.repeat(129)], ['a b'], ['a<b>'], ['é'], ['a\tb']])('%j is replaced', async id => {
    const reply = await get('/livez', { headers: { 'x-request-id': id } });
    expect(reply.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('the pages', () => {
  const pages = ['/docs', '/problems', ...Object.keys(PROBLEMS).map(code => `/problems/${code}`)];

  test.each(pages)('%s loads no resource from another host', async path => {
    const { status, headers, body } = await api.request('GET', path);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(body).toMatch(/^<!doctype html>\n<html lang="en">/);
    const links = [...body.matchAll(/(?:src|href|action)\s*=\s*"([^"]*)"/g)].map(match => match[1] as string);
    expect(links.filter(link => link.startsWith('data:'))).toEqual(['data:,']); // the empty icon
    const requested = links.filter(link => !link.startsWith('data:'));
    for (const link of requested) expect(link).toMatch(/^\/[^/]/);
    for (const link of requested) expect((await api.request('GET', link)).status).toBe(200);
    const policy = headers.get('content-security-policy') as string;
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval|script-src[^;]*unsafe-inline/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(body).not.toMatch(/<script>|\son\w+=/);
  });

  test('of all problems has every problem and every field code with an example', async () => {
    const { body } = await api.request('GET', '/problems');
    for (const code of Object.keys(PROBLEMS)) expect(body).toContain(`<a href="/problems/${code}">${code}</a>`);
    for (const code of Object.keys(FIELD_CODES)) expect(body).toContain(`<code>${code}</code>`);
    expect(body.match(/ Valid: /g)).toHaveLength(Object.keys(FIELD_CODES).length);
  });

  test('of a problem has its status and the remedy', async () => {
    const { body } = await api.request('GET', '/problems/rate-limit-exceeded');
    expect(body).toContain('status 429');
    expect(body).toContain('<code>Retry-After</code>');
  });

  test("of the API runs from its own files with this service's document", async () => {
    const { body } = await api.request('GET', '/docs/start.js');
    expect(body).toContain("url: '/openapi.json'");
    expect(body).toContain('validatorUrl: null');
    const bundle = await api.request('GET', '/docs/swagger-ui-bundle.js');
    expect(bundle.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  });
});

describe('probes', () => {
  test('report that the process is alive and ready', async () => {
    const { version, commit } = BUILD;
    for (const path of ['/livez', '/readyz']) {
      const { status, headers, body } = await api.request('GET', path);
      expect([status, body]).toEqual([
        200,
        { status: 'ok', degraded: [], ...(path === '/readyz' && { version, commit }) },
      ]);
      expect(headers.get('cache-control')).toBe('no-store');
    }
  });
});
