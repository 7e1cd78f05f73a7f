import type { Socket } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPERATIONS } from '../../src/api/routes/index.ts';
import { PROBLEMS } from '../../src/domain/problem.ts';
import { createApi, type TestApi, type TestReply, type TestRequest, waitFor } from '../support/api.ts';
import { aQuestion, makeTenant, type TestTenant } from '../support/make.ts';
import { exchange, openSocket, type RawReply, readReply } from '../support/raw.ts';

let api: TestApi;
let tenant: TestTenant;
let key: string;
let token: string;
/** Connections that send too slowly. The last test checks their fate. */
let slow: Promise<{ reply: RawReply; ms: number }>;

beforeAll(async () => {
  api = await createApi({ settings: { TRUSTED_PROXY_HOPS: '1' } });
  slow = sendSlowHeaders(await openSocket(api));
  slow.catch(() => undefined); // reported by the test that awaits it
  tenant = await makeTenant(api);
  key = tenant.key.apiKey;
  token = await tenant.sign('user|42');
});
afterAll(() => api[Symbol.asyncDispose]());

/**
 * Sends a request with endless headers. Resolves with the reply and the time until it arrived. Starts before the other
 * tests.
 */
async function sendSlowHeaders(socket: Socket): Promise<{ reply: RawReply; ms: number }> {
  const startedAt = performance.now();
  socket.write('GET /livez HTTP/1.1\r\nHost: parley.test\r\nX-Slow: ');
  const drip = setInterval(() => socket.write('a'), 500);
  const reply = await readReply(socket).finally(() => clearInterval(drip));
  return { reply, ms: performance.now() - startedAt };
}

const get = (path: string, request: TestRequest = {}) => api.request('GET', path, { as: key, ...request });
const create = (request: TestRequest = {}) =>
  api.request('POST', '/v1/questions', { as: key, body: aQuestion(), ...request });
const json = { 'content-type': 'application/json' };
const outcome = ({ status, body }: TestReply) => [status, body.code];

const SECURITY = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
};

function expectManners(headers: Record<string, string>): void {
  expect(headers).toMatchObject(SECURITY);
  expect(headers['x-request-id']).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
  expect(headers).not.toHaveProperty('x-powered-by');
  expect(headers).not.toHaveProperty('server');
}

describe('a problem', () => {
  const problems: [status: number, code: string, ask: () => Promise<TestReply>][] = [
    [400, 'unknown-parameter', () => get('/v1/questions?colour=red')],
    [400, 'repeated-parameter', () => get('/v1/questions?limit=1&limit=2')],
    [400, 'invalid-cursor', () => get('/v1/questions?cursor=abc')],
    [400, 'malformed-json', () => create({ body: undefined, raw: '{', headers: json })],
    [400, 'malformed-request', () => get('/v1/questions?q=%E0%A4%A')],
    [401, 'credentials-missing', () => api.request('GET', '/v1/questions')],
    [403, 'insufficient-scope', () => get('/v1/questions', { as: token })],
    [404, 'resource-not-found', () => get('/v1/nothing')],
    [404, 'resource-not-found', () => get('/v1/questions/question_unknown')],
    [405, 'method-not-allowed', () => api.request('PUT', '/v1/questions', { as: key })],
    [413, 'body-too-large', () => create({ body: undefined, raw: `"${'x'.repeat(262_144)}"`, headers: json })],
    [
      415,
      'unsupported-media-type',
      () => create({ body: undefined, raw: '{}', headers: { 'content-type': 'text/plain' } }),
    ],
    [422, 'validation-failed', () => create({ body: { type: 'nps' } })],
    [422, 'validation-failed', () => get('/v1/questions?limit=0')],
  ];

  test.each(problems)('%i %s is an RFC 9457 document with every header', async (status, code, ask) => {
    const reply = await ask();
    expect(reply.headers.get('content-type')).toBe('application/problem+json');
    expect(reply.headers.get('cache-control')).toBe('no-store');
    expectManners(Object.fromEntries(reply.headers));
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
    const one = await create({ body: { type: 'nps', title: 'a\u0000', 'a/b~c': 1, id: 'x', tenant_id: tenant.id } });
    expect(one.body.errors.map((error: { pointer: string; code: string }) => [error.pointer, error.code])).toEqual(
      expect.arrayContaining([
        ['/title', 'custom'],
        ['/a~1b~0c', 'unknown-field'],
        ['/id', 'unknown-field'],
        ['/tenant_id', 'unknown-field'],
      ]),
    );
    const fields = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`f${index}`, 1]));
    const many = await create({ body: { ...aQuestion(), ...fields } });
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
    expectManners(Object.fromEntries(reply.headers));
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

describe('paths', () => {
  test.each([
    '/v1/questions/',
    '/V1/questions',
    '/v1/Questions',
    '/v1//questions',
    '/v1/quest%69ons',
    '/livez/',
    '/openapi.json/',
    '/v1',
    '/docs/',
    '/problems',
    '/problems/unknown',
    '/problems/__proto__',
    '/problems/Validation-Failed',
    '/.env',
    '/v1/../livez/x',
  ])('%s is 404', async path => {
    expect(outcome(await get(path))).toEqual([404, 'resource-not-found']);
  });

  test.each([
    '/v1/questions/%00',
    '/v1/questions/question_%F0%9F%98%80',
    `/v1/questions/question_${'z'.repeat(5000)}`,
    '/v1/questions/..%2F..%2Fetc%2Fpasswd',
    "/v1/questions/'%20or%201=1",
    '/v1/questions/__proto__',
    '/v1/answers/not-a-uuid',
    '/v1/conversations/question_01jdpnx3r0e008000000000001',
  ])('%s is no id', async path => {
    expect(outcome(await get(path))).toEqual([404, 'resource-not-found']);
  });

  test.each([
    '/v1/questions/%E0%A4%A',
    '/v1/questions/%',
    '/v1/questions/%ff',
    '/v1/questions?q=%ff',
    '/%c0%af',
    '/livez?%zz',
  ])('%s is malformed', async path => {
    expect(outcome(await get(path))).toEqual([400, 'malformed-request']);
  });

  test('and parameters of any form never cause a 5xx', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.constantFrom('__proto__', '../', '%00', '\u0000'),
    );
    const lists = OPERATIONS.filter(
      operation => operation.method === 'get' && operation.credentials.includes('api-key'),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...lists),
        text,
        fc.constantFrom('limit', 'cursor', 'q', 'x', 'tag'),
        async (operation, value, name) => {
          const encoded = encodeURIComponent(value.toWellFormed());
          const path = operation.path.replaceAll(/\{\w+\}/g, encoded || 'x');
          const { status } = await get(`${path}?${name}=${encoded}`);
          expect([200, 400, 404, 422]).toContain(status);
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe('query parameters', () => {
  test.each([
    ['limit=-1', 422],
    ['limit=0', 422],
    ['limit=101', 422],
    ['limit=1e2', 422],
    ['limit=%2B5', 422],
    ['limit=0x10', 422],
    ['limit=1.0', 422],
    ['limit=', 422],
    ['limit=%201', 422],
    ['limit=1;drop', 422],
    ['limit=%D9%A1', 422],
    ['limit=99999999999999999999', 422],
    ['limit=1&limit=1', 400],
    ['limit%5B%5D=1', 400],
    ['Limit=1', 400],
    ['__proto__=1', 400],
    ['constructor%5Bprototype%5D=1', 400],
    ['=', 400],
    ['limit=1', 200],
    ['limit=100', 200],
    ['', 200],
    ['q=%F0%9F%98%80', 200],
    ['q=%00', 422],
    ['status=dead', 422],
  ])('?%s is %i', async (query, status) => {
    expect((await get(`/v1/questions?${query}`)).status).toBe(status);
    expect(Object.prototype).not.toHaveProperty('polluted');
  });

  test.each([
    'updated_since=yesterday',
    'updated_since=2026-13-01T00:00:00Z',
    'updated_since=2026-01-01',
    'updated_since=0000-01-01T00:00:00Z',
    'updated_since=9999-12-31T23:59:59-23:59',
    'question_id=x',
    'question_id=key_01jdpnx3r0e008000000000001',
    'verified=yes',
    'identity=',
  ])('the filter %s, which cannot match, is 422', async query => {
    expect(outcome(await get(`/v1/answers?${query}`))).toEqual([422, 'validation-failed']);
  });

  test('are rejected by endpoints without parameters', async () => {
    for (const path of ['/livez', '/readyz', '/openapi.json', '/v1/ingestion'])
      expect(outcome(await get(`${path}?x=1`))).toEqual([400, 'unknown-parameter']);
  });
});

const nested = (depth: number): string => `${'['.repeat(depth)}1${']'.repeat(depth)}`;

describe('a body', () => {
  const post = (raw: string | Uint8Array, headers: Record<string, string> = json) =>
    api.request('POST', '/v1/questions', { as: key, raw, headers });

  test.each([
    ['cut JSON', '{"type":', 400],
    ['two documents', '{}{}', 400],
    ['a number with leading zeros', '{"type":01}', 400],
    ['a comment', '/**/{}', 400],
    ['JSON nested too deep', nested(21), 400],
    ['JSON nested much too deep', nested(100_000), 400],
    ['JSON nested as deep as allowed', nested(20), 422],
    ['bytes that are not UTF-8', new Uint8Array([0x22, 0xff, 0x22]), 400],
    ['UTF-16', Buffer.from('{}', 'utf16le'), 400],
    ['an overlong NUL', new Uint8Array([0x22, 0xc0, 0x80, 0x22]), 400],
    ['null', 'null', 422],
    ['a list', '[]', 422],
    ['a prototype', '{"type":"nps","title":"a","__proto__":{"polluted":1}}', 422],
    ['a constructor', '{"type":"nps","title":"a","constructor":{"prototype":{"polluted":1}}}', 422],
    ['a number beyond all numbers', '{"type":"nps","title":"a","priority":1e999}', 422],
    ['a lone surrogate', '{"type":"nps","title":"\\ud800"}', 422],
    ['a NUL', '{"type":"nps","title":"\\u0000"}', 422],
    ['an array of a hundred thousand', `[${'1,'.repeat(100_000)}1]`, 422],
  ])('of %s is rejected', async (_, raw, status) => {
    expect((await post(raw)).status).toBe(status);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  test.each([
    ['application/json', 201],
    ['application/json; charset=utf-8', 201],
    ['Application/JSON;charset="UTF-8"', 201],
    ['application/json; charset=utf-16', 415],
    ['application/json; charset=utf-7', 415],
    ['application/json, text/plain', 415],
    ['application/problem+json', 415],
    ['application/merge-patch+json', 415],
    ['text/json', 415],
    ['text/plain', 415],
    ['multipart/form-data; boundary=x', 415],
    ['', 415],
  ])('of type %j is %i', async (type, status) => {
    expect((await post(new TextEncoder().encode(JSON.stringify(aQuestion())), { 'content-type': type })).status).toBe(
      status,
    );
  });

  test.each(['gzip', 'br', 'deflate', 'x-unknown', 'identity, gzip'])('in encoding %s is 415', async encoding => {
    const reply = await post(JSON.stringify(aQuestion()), { ...json, 'content-encoding': encoding });
    expect(outcome(reply)).toEqual([415, 'unsupported-media-type']);
  });

  test('needs no type if there is none', async () => {
    const { body } = await create();
    expect((await api.request('POST', `/v1/questions/${body.id}/publish`, { as: key })).status).toBe(200);
    const again = await api.request('POST', `/v1/questions/${body.id}/pause`, { as: key, body: {} });
    expect(again.status).toBe(200);
    const odd = await api.request('POST', `/v1/questions/${body.id}/resume`, { as: key, body: { now: true } });
    expect(outcome(odd)).toEqual([422, 'validation-failed']);
  });

  test('of exactly 256 KB is accepted', async () => {
    const envelope = JSON.stringify(aQuestion({ description: '' }));
    const raw = `${envelope}${' '.repeat(262_144 - envelope.length)}`;
    expect((await post(raw)).status).toBe(201);
    expect((await post(`${raw} `)).status).toBe(413);
  });

  test.each([
    ['with its length', (length: number) => `Content-Length: ${length}\r\n`, (part: string) => part],
    [
      'in chunks',
      () => 'Transfer-Encoding: chunked\r\n',
      (part: string) => `${part.length.toString(16)}\r\n${part}\r\n`,
    ],
  ])('that is far too large, sent %s, gets its reply before the connection closes', async (_, framing, frame) => {
    const parts = 100;
    const part = 'x'.repeat(65_536);
    const socket = await openSocket(api);
    const reply = readReply(socket);
    let broken: Error | undefined;
    socket.on('error', error => {
      broken = error;
    });
    socket.write(
      `POST /v1/questions HTTP/1.1\r\nHost: parley.test\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n${framing(parts * part.length)}\r\n`,
    );
    for (let sent = 0; sent < parts && !broken; sent++)
      await new Promise<void>(resolve => socket.write(frame(part), () => resolve()));
    if (framing(0).startsWith('Transfer')) socket.write('0\r\n\r\n');
    const { status, headers, body } = await reply;
    expect(broken).toBeUndefined();
    expect([status, JSON.parse(body).code]).toEqual([413, 'body-too-large']);
    expectManners(headers);
  });
});

describe('an unusual HTTP message', () => {
  const head = 'Host: parley.test\r\nConnection: close\r\n';
  test.each([
    ['two lengths', `POST /v1/answers HTTP/1.1\r\n${head}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}`, 400],
    [
      'length and chunks',
      `POST /v1/answers HTTP/1.1\r\n${head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    [
      'an unknown transfer coding',
      `POST /v1/answers HTTP/1.1\r\n${head}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    [
      'a coding after chunked',
      `POST /v1/answers HTTP/1.1\r\n${head}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
      400,
    ],
    ['a space before a colon', `GET /livez HTTP/1.1\r\n${head}X-A : 1\r\n\r\n`, 400],
    ['a folded header', `GET /livez HTTP/1.1\r\n${head}X-A: 1\r\n 2\r\n\r\n`, 400],
    ['bare line feeds', 'GET /livez HTTP/1.1\nHost: parley.test\n\n', 400],
    ['no HTTP at all', 'hello\r\n\r\n', 400],
    ['TLS', new Uint8Array([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00]), 400],
    ['no host', 'GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['two hosts', `GET /livez HTTP/1.1\r\n${head}Host: evil.example\r\n\r\n`, 400],
    [
      'two Authorization headers',
      `GET /v1/me HTTP/1.1\r\n${head}Authorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n`,
      400,
    ],
    ['headers of 20 KB', `GET /livez HTTP/1.1\r\n${head}X-A: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
    ['a method nobody knows', `BREW /livez HTTP/1.1\r\n${head}\r\n`, 400],
  ])('with %s is rejected with a problem document', async (_, message, status) => {
    const reply = await exchange(api, message);
    expect(reply.status).toBe(status);
    expect(reply.headers['content-type']).toBe('application/problem+json');
    expectManners(reply.headers);
    expect(JSON.parse(reply.body)).toMatchObject({ status, request_id: reply.headers['x-request-id'] });
  });

  test.each([
    ['HTTP/1.0 without a host', 'GET /livez HTTP/1.0\r\n\r\n', 200],
    ['an expectation that is not known', `GET /livez HTTP/1.1\r\n${head}Expect: tea\r\n\r\n`, 200],
    ['an upgrade', `GET /livez HTTP/1.1\r\n${head}Upgrade: websocket\r\n\r\n`, 200],
    ['TRACE', `TRACE /livez HTTP/1.1\r\n${head}\r\n`, 501],
    ['PROPFIND', `PROPFIND /v1/questions HTTP/1.1\r\n${head}\r\n`, 501],
    ['an asterisk', `OPTIONS * HTTP/1.1\r\n${head}\r\n`, 404],
  ])('that is valid but odd (%s) is processed', async (_, message, status) => {
    const reply = await exchange(api, message);
    expect(reply.status).toBe(status);
    expectManners(reply.headers);
  });

  test('does not determine the host of any URL that the service builds', async () => {
    const path = '/v1/questions?limit=1';
    await Promise.all([create(), create()]);
    for (const target of [path, `http://evil.example${path}`]) {
      const reply = await exchange(
        api,
        `GET ${target} HTTP/1.1\r\nHost: good@evil.example\r\nX-Forwarded-Host: evil.example\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\n\r\n`,
      );
      expect(reply.status).toBe(200);
      expect(reply.headers.link).toMatch(
        /^<https:\/\/parley\.test\/v1\/questions\?limit=1&cursor=[\w-]+>; rel="next"$/,
      );
      expect(JSON.stringify(reply)).not.toContain('evil.example');
    }
  });

  test('is not changed by override headers or parameters', async () => {
    const { body } = await create();
    const headers = { 'x-http-method-override': 'DELETE', 'x-method-override': 'DELETE', 'x-http-method': 'DELETE' };
    await api.request('POST', `/v1/questions/${body.id}/publish`, { as: key, headers });
    expect((await get(`/v1/questions/${body.id}`, { headers })).body.status).toBe('live');
  });
});

describe('methods', () => {
  test('that a path does not support are 405, and Allow lists the supported ones', async () => {
    const reply = await api.request('PATCH', '/v1/questions', { as: key });
    expect(reply.headers.get('allow')?.split(', ').sort()).toEqual(['GET', 'HEAD', 'OPTIONS', 'POST']);
    for (const path of ['/docs', '/problems/validation-failed', '/livez', '/openapi.json']) {
      const odd = await api.request('POST', path);
      expect([path, odd.status, odd.headers.get('allow')]).toEqual([path, 405, 'GET, HEAD, OPTIONS']);
    }
  });

  test('HEAD replies like GET, without a body', async () => {
    const { body } = await create();
    for (const path of [
      '/livez',
      '/docs',
      '/openapi.json',
      '/v1/questions',
      `/v1/questions/${body.id}`,
      '/v1/nothing',
    ]) {
      const [head, full] = [await api.request('HEAD', path, { as: key }), await get(path)];
      expect([path, head.status, head.body]).toEqual([path, full.status, '']);
      for (const name of ['content-type', 'etag', 'cache-control'])
        expect(head.headers.get(name)).toBe(full.headers.get(name));
    }
  });

  test('OPTIONS lists the methods of a path', async () => {
    const reply = await api.request('OPTIONS', '/v1/questions');
    expect([reply.status, reply.headers.get('allow')]).toEqual([204, 'GET, POST, HEAD, OPTIONS']);
    expect((await api.request('OPTIONS', '/v1/nothing')).status).toBe(404);
  });
});

describe('pages of other origins', () => {
  const origin = 'https://app.example';
  const preflight = (path: string, method: string) =>
    api.request('OPTIONS', path, { headers: { origin, 'access-control-request-method': method } });
  const list = (header: string | null) => (header ?? '').split(', ').sort();

  test.each(['/v1/cards', '/v1/answers', '/v1/conversations', '/v1/me', `/v1/tenants/x/issuers/public/auth/token`])(
    'may ask %s, without cookies',
    async path => {
      const { status, headers } = await preflight(path, 'POST');
      expect(status).toBe(204);
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('access-control-allow-credentials')).toBeNull();
      expect(list(headers.get('access-control-allow-headers'))).toEqual([
        'Authorization',
        'Content-Type',
        'If-None-Match',
      ]);
    },
  );

  test('may read replies, including errors, and the exposed headers', async () => {
    for (const as of [token, 'nonsense']) {
      const { headers } = await api.request('GET', '/v1/cards', { as, headers: { origin } });
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('access-control-allow-credentials')).toBeNull();
      expect(list(headers.get('access-control-expose-headers'))).toEqual(
        [
          'ETag',
          'Link',
          'Location',
          'RateLimit',
          'RateLimit-Policy',
          'Retry-After',
          'Updated-Until',
          'WWW-Authenticate',
          'X-Request-Id',
        ].sort(),
      );
    }
  });

  test('may not call endpoints that only accept API keys', async () => {
    for (const path of ['/v1/questions', '/v1/ingestion', '/v1/auth/inspect']) {
      expect((await preflight(path, 'GET')).headers.get('access-control-allow-origin')).toBeNull();
      expect((await get(path, { headers: { origin } })).headers.get('access-control-allow-origin')).toBeNull();
    }
    expect((await preflight('/v1/answers', 'PATCH')).headers.get('access-control-allow-methods')).toBe('POST');
  });
});

describe('a cursor', () => {
  let owner: TestTenant;
  let path: string;
  beforeAll(async () => {
    owner = await makeTenant(api);
    for (let index = 0; index < 12; index++) await create({ as: owner.key.apiKey });
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
    const { body } = await create();
    const path = `/v1/questions/${body.id}`;
    const first = await get(path);
    const etag = first.headers.get('etag') as string;
    expect(etag).toMatch(/^"[\w-]{27}"$/);
    expect(first.headers.get('cache-control')).toBe('private, max-age=0, must-revalidate');
    for (const tags of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const again = await get(path, { headers: { 'if-none-match': tags } });
      expect([tags, again.status, again.body, again.headers.get('etag')]).toEqual([tags, 304, '', etag]);
      expectManners(Object.fromEntries(again.headers));
    }
    expect((await get(path, { headers: { 'if-none-match': '"x"' } })).status).toBe(200);
  });

  test('protects an update against a concurrent one', async () => {
    const { body } = await create();
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

describe('Idempotency-Key', () => {
  const once = (idempotencyKey: string, request: TestRequest = {}) =>
    create({ as: owner.key.apiKey, ...request, headers: { 'idempotency-key': idempotencyKey } });
  const count = async () => (await get('/v1/questions?limit=100', { as: owner.key.apiKey })).body.data.length;
  let owner: TestTenant;
  beforeAll(async () => {
    owner = await makeTenant(api);
  });

  test('makes a repeated request return the first response', async () => {
    const before = await count();
    const [first, again] = [await once('a-1'), await once('"a-1"')];
    expect(again.body).toEqual(first.body);
    expect([first.status, again.status]).toEqual([201, 201]);
    expect([first, again].map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, 'true']);
    for (const name of ['location', 'content-type', 'cache-control'])
      expect(again.headers.get(name)).toBe(first.headers.get(name));
    expect(await count()).toBe(before + 1);
  });

  test('belongs to one request', async () => {
    const { body } = await once('b-1');
    expect(outcome(await once('b-1', { body: aQuestion({ title: 'Other' }) }))).toEqual([
      422,
      'idempotency-key-reused',
    ]);
    const other = await api.request('POST', `/v1/questions/${body.id}/publish`, {
      as: owner.key.apiKey,
      headers: { 'idempotency-key': 'b-1' },
    });
    expect(outcome(other)).toEqual([422, 'idempotency-key-reused']);
  });

  test('of another API key is independent', async () => {
    const second = await owner.addKey();
    const [one, two] = [await once('c-1'), await once('c-1', { as: second.apiKey })];
    expect(two.status).toBe(201);
    expect(two.body.id).not.toBe(one.body.id);
  });

  test('used fifty times concurrently runs the request once', async () => {
    const before = await count();
    const replies = await Promise.all(Array.from({ length: 50 }, () => once('d-1')));
    const made = replies.filter(({ status }) => status === 201);
    expect(new Set(made.map(({ body }) => body.id)).size).toBe(1);
    expect(made.filter(({ headers }) => !headers.has('idempotency-replayed'))).toHaveLength(1);
    for (const reply of replies.filter(({ status }) => status !== 201)) {
      expect(outcome(reply)).toEqual([409, 'idempotency-key-in-use']);
      expect(reply.headers.get('retry-after')).toBe('1');
    }
    expect(await count()).toBe(before + 1);
  });

  test('of a running request is 409, until the request is abandoned', async () => {
    const { body } = await once('e-1');
    const age = (interval: string) =>
      api.database.query(
        `update idempotency_keys set status = null, created_at = now() - $1::interval where key = 'e-1'`,
        [interval],
      );
    await age('1 minute');
    expect(outcome(await once('e-1'))).toEqual([409, 'idempotency-key-in-use']);
    await age('3 minutes');
    const again = await once('e-1');
    expect(again.status).toBe(201);
    expect(again.body.id).not.toBe(body.id);
  });

  test('can be used again after a problem', async () => {
    const draft = (await create({ as: owner.key.apiKey })).body;
    const act = (action: string) =>
      api.request('POST', `/v1/questions/${draft.id}/${action}`, {
        as: owner.key.apiKey,
        headers: { 'idempotency-key': `f-${action}` },
      });
    expect(outcome(await act('pause'))).toEqual([409, 'invalid-transition']);
    expect((await act('publish')).status).toBe(200);
    expect((await act('pause')).status).toBe(200);
  });

  test('is kept for a day', async () => {
    const first = await once('g-1');
    await api.database.query(`update idempotency_keys set created_at = now() - interval '25 hours' where key = 'g-1'`);
    const second = await once('g-1');
    expect(second.status).toBe(201);
    expect(second.body.id).not.toBe(first.body.id);
  });

  test.each([['"'], ['a b'], ['x'.repeat(256)], ['"a", "b"'], ['é']])('%j is malformed', async idempotencyKey => {
    expect(outcome(await once(idempotencyKey))).toEqual([400, 'malformed-request']);
  });

  test('is for servers: users generate ids', async () => {
    const as = await owner.sign('user|9');
    const send = () =>
      api.request('POST', '/v1/conversations', { as, body: { message: 'a' }, headers: { 'idempotency-key': 'h-1' } });
    const [one, two] = [await send(), await send()];
    expect(two.headers.get('idempotency-replayed')).toBeNull();
    expect(two.body.id).not.toBe(one.body.id);
  });
});

describe('the pages', () => {
  const pages = ['/docs', ...Object.keys(PROBLEMS).map(code => `/problems/${code}`)];

  test.each(pages)('%s loads no resource from another host', async path => {
    const { status, headers, body } = await api.request('GET', path);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(body).toMatch(/^<!doctype html>\n<html lang="en">/);
    const links = [...body.matchAll(/(?:src|href|action)\s*=\s*"([^"]*)"/g)].map(match => match[1]);
    for (const link of links) expect(link).toMatch(/^\/[^/]/);
    for (const link of links) expect((await api.request('GET', link)).status).toBe(200);
    const policy = headers.get('content-security-policy') as string;
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval|script-src[^;]*unsafe-inline/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(body).not.toMatch(/<script>|\son\w+=/);
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
    for (const path of ['/livez', '/readyz']) {
      const { status, headers, body } = await api.request('GET', path);
      expect([status, body]).toEqual([200, { status: 'ok', degraded: [] }]);
      expect(headers.get('cache-control')).toBe('no-store');
    }
  });
});

test('a request in progress when the process stops is answered, and its connection closes', async () => {
  await using stopping = await createApi();
  const { key: itsKey } = await makeTenant(stopping);
  const socket = await openSocket(stopping);
  const head = `POST /v1/answers HTTP/1.1\r\nHost: parley.test\r\nAuthorization: Bearer ${itsKey.apiKey}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n`;
  socket.write(`${head}\r\n`);
  await waitFor(async () => /http_requests_in_flight 1\n/.test(await stopping.metrics.render()));
  const closed = stopping.close();
  await waitFor(async () => (await stopping.request('GET', '/livez').catch(() => undefined)) === undefined);
  socket.write('{}');
  const reply = await readReply(socket);
  expect([reply.status, reply.headers.connection]).toEqual([422, 'close']);
  expect(await closed).toBe(true);
});

test('a client that sends headers too slowly gets a 408 within 20 seconds', async () => {
  const { reply, ms } = await slow;
  expect([reply.status, JSON.parse(reply.body).code]).toEqual([408, 'request-timed-out']);
  expectManners(reply.headers);
  expect(ms).toBeLessThan(20_000);
});
