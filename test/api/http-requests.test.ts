import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { OPERATIONS } from '../../src/api/routes/index.ts';
import { createApi } from '../support/api.ts';
import { createCaller, outcome } from '../support/http.ts';
import { publishQuestion } from '../support/make.ts';

const api = await createApi({ settings: { TRUSTED_PROXY_HOPS: '1' } });
afterAll(() => api[Symbol.asyncDispose]());
const { tenant, key, get, createQuestion } = await createCaller(api);
const token = await tenant.sign('user|42');

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
    '/problems/',
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
    ['?limit=1', 400],
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

  test('are answered by their own content however often they recur, and however many there are', async () => {
    for (let number = 0; number < 2; number++)
      await publishQuestion(api, tenant, { frequency: { repeat: 'always', ignore_cooldown: true } });
    const cards = async (query: string) => {
      const { status, body } = await get(`/v1/cards?${query}`, { as: token });
      return status === 200 ? body.data.length : status;
    };
    for (let round = 0; round < 3; round++) {
      expect(await cards('limit=1&platform=ios')).toBe(1);
      expect(await cards('limit=2&platform=ios')).toBe(2);
      expect(await cards('limit=0&platform=ios')).toBe(422);
      for (let number = 0; number < 60; number++) await cards(`limit=1&app_version=${round}.${number}`);
    }
  });

  test('are rejected by endpoints without parameters', async () => {
    for (const path of ['/livez', '/readyz', '/openapi.json', '/v1/ingestion'])
      expect(outcome(await get(`${path}?x=1`))).toEqual([400, 'unknown-parameter']);
  });
});

test('the reference with a trailing slash leads to the one without', async () => {
  const { status, headers } = await api.request('GET', '/docs/');
  expect([status, headers.get('location')]).toEqual([302, '/docs']);
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
    const { body } = await createQuestion();
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

  test('of every documented path are the documented ones, even if a parameter could stand for its last segment', async () => {
    const differences: unknown[] = [];
    for (const [path, item] of Object.entries((await get('/openapi.json')).body.paths as Record<string, object>)) {
      const documented = Object.keys(item).filter(name => /^(get|put|post|patch|delete)$/.test(name));
      const expected = [...documented, 'options', ...(documented.includes('get') ? ['head'] : [])];
      const { headers } = await api.request('OPTIONS', path.replaceAll(/\{\w+\}/g, 'x'));
      const allowed = headers.get('allow')?.toLowerCase().split(', ');
      if (allowed?.sort().join() !== expected.sort().join()) differences.push([path, allowed]);
    }
    expect(differences).toEqual([]);
    const changed = await api.request('PATCH', '/v1/conversations/bulk', { as: key, body: { status: 'open' } });
    expect([changed.status, changed.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
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
      expect(list(headers.get('access-control-allow-headers'))).toEqual(
        [
          'Authorization',
          'Content-Disposition',
          'Content-Type',
          'If-Match',
          'If-None-Match',
          'Last-Event-ID',
          'Repr-Digest',
          'Upload-Offset',
          'X-Request-Id',
          'baggage',
          'traceparent',
          'tracestate',
        ].sort(),
      );
    },
  );

  test('may read replies, including errors, and the exposed headers', async () => {
    for (const as of [token, 'nonsense']) {
      const { headers } = await api.request('GET', '/v1/cards', { as, headers: { origin } });
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('access-control-allow-credentials')).toBeNull();
      expect(list(headers.get('access-control-expose-headers'))).toEqual(
        [
          'Deprecation',
          'ETag',
          'Link',
          'Location',
          'RateLimit',
          'RateLimit-Policy',
          'Retry-After',
          'Sunset',
          'Updated-Until',
          'Upload-Offset',
          'WWW-Authenticate',
          'X-Request-Id',
        ].sort(),
      );
    }
  });

  test('may read the document, which is compressed for clients that accept it', async () => {
    const read = (encoding: string, more = {}) =>
      api.request('GET', '/openapi.json', { headers: { origin, 'accept-encoding': encoding, ...more } });
    const [plain, zipped] = [await read('identity'), await read('gzip')];
    expect(plain.headers.get('access-control-allow-origin')).toBe('*');
    expect([plain.headers.get('content-encoding'), zipped.headers.get('content-encoding')]).toEqual([null, 'gzip']);
    expect([zipped.body, zipped.headers.get('vary')]).toEqual([plain.body, 'Accept-Encoding']);
    expect(Number(zipped.headers.get('content-length'))).toBeLessThan(100_000);
    const tags = [plain, zipped].map(({ headers }) => headers.get('etag') as string);
    expect(new Set(tags).size).toBe(2);
    for (const tag of tags)
      expect((await read('gzip', { 'if-none-match': tag })).status).toBe(tag === tags[1] ? 304 : 200);
  });

  test('may read 404, 405 and 431, and other refusals before an operation is known', async () => {
    const refused: [string, string, number, Record<string, string>?][] = [
      ['GET', '/v1/card', 404],
      ['POST', '/v1/cards', 405],
      ['PUT', '/v1/answers', 405],
      ['GET', '/v1/cards', 431, { 'X-Large': 'x'.repeat(20_000) }],
      ['GET', '/v1/cards/%ff', 400],
    ];
    for (const [method, path, status, more] of refused) {
      const reply = await api.request(method, path, { as: token, headers: { origin, ...more } });
      expect([method, path, reply.status]).toEqual([method, path, status]);
      expect(reply.headers.get('access-control-allow-origin')).toBe('*');
      expect(reply.headers.get('access-control-allow-credentials')).toBeNull();
      expect(list(reply.headers.get('access-control-expose-headers'))).toContain('X-Request-Id');
    }
  });

  test('may send a request to an unknown path, so that they can read the 404', async () => {
    const { status, headers } = await preflight('/v1/card', 'GET');
    expect([status, headers.get('access-control-allow-origin')]).toEqual([204, '*']);
    expect(headers.get('access-control-allow-headers')).toContain('Authorization');
    expect((await api.request('OPTIONS', '/v1/card')).status).toBe(404);
  });

  test('may not call endpoints that only accept API keys', async () => {
    for (const path of ['/v1/questions', '/v1/ingestion', '/v1/auth/inspect']) {
      expect((await preflight(path, 'GET')).headers.get('access-control-allow-origin')).toBeNull();
      expect((await get(path, { headers: { origin } })).headers.get('access-control-allow-origin')).toBeNull();
    }
    expect((await preflight('/v1/answers', 'PATCH')).headers.get('access-control-allow-methods')).toBe('POST');
  });
});
