import { createServer } from 'node:net';
import fc from 'fast-check';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPERATIONS } from '../../src/api/routes/index.ts';
import { toTypeId } from '../../src/domain/ids.ts';
import { TOKEN_HEADER } from '../../src/domain/tokens.ts';
import { revokeApiKey } from '../../src/storage/api-keys.ts';
import { createApi, type TestApi, type TestRequest, waitFor } from '../support/api.ts';
import { makeTenant, publishQuestion, type TestTenant, uuidOfKey } from '../support/make.ts';
import { encodePart, forgeToken, goodClaims, type TokenParts } from '../support/tokens.ts';

let api: TestApi;
let tenant: TestTenant;
let other: TestTenant;

beforeAll(async () => {
  api = await createApi();
  tenant = await makeTenant(api);
  other = await makeTenant(api, 'Other');
});
afterAll(() => api[Symbol.asyncDispose]());

const me = (token: string) => api.request('GET', '/v1/me', { as: token });
const seconds = () => Math.floor(Date.now() / 1000);
const withClaims = (claims: object) => ({ payload: { ...goodClaims(tenant), ...claims } });
const withHeader = (header: object) => ({ header: { ...TOKEN_HEADER, ...header } });
const without = (object: object, name: string) =>
  Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));

async function expectRefused(token: string, code: string): Promise<void> {
  const reply = await me(token);
  expect(reply.status).toBe(401);
  expect(reply.body).toMatchObject({ status: 401, code, type: `https://parley.test/problems/${code}` });
  expect(reply.headers.get('www-authenticate')).toBe(
    `Bearer error="invalid_token", error_description="${reply.body.title}"`,
  );
}

describe('an access token', () => {
  test('signed by a standard library according to the specification authenticates its user', async () => {
    const exp = seconds() + 3600;
    const token = await tenant.sign('company|7', { claims: { exp } });
    const reply = await me(token);
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      credential: 'access-token',
      tenant_id: tenant.id,
      identity: 'company|7',
      identity_verified: true,
      expires_at: new Date(exp * 1000).toISOString(),
    });
  });

  const faults: [title: string, code: string, parts: () => TokenParts | string][] = [
    ['of four parts', 'malformed-token', () => `${forgeToken(tenant)}.AA`],
    ['of two parts', 'malformed-token', () => forgeToken(tenant).split('.').slice(0, 2).join('.')],
    ['of five parts, as a JWE has', 'malformed-token', () => `${forgeToken(tenant)}.AA.AA`],
    ['that is an API key id', 'malformed-token', () => tenant.key.id],
    ['with a padded header', 'malformed-token', () => forgeToken(tenant).replace('.', '=.')],
    ['with an empty signature', 'malformed-token', () => forgeToken(tenant).replace(/[^.]+$/, '')],
    ['in base64 of the other alphabet', 'malformed-token', () => forgeToken(tenant).replace(/[^.]$/, '+')],
    ['whose header is not JSON', 'malformed-token', () => ({ header: '{"alg":' })],
    ['whose header is an array', 'malformed-token', () => ({ header: [TOKEN_HEADER] })],
    ['whose header starts with a byte order mark', 'malformed-token', () => ({ header: '\ufeff{}' })],
    ['whose payload is null', 'malformed-token', () => ({ payload: 'null' })],
    ['whose payload is a text', 'malformed-token', () => ({ payload: '"claims"' })],
    ['whose payload is not UTF-8', 'malformed-token', () => forgeToken(tenant).replace(/\.[^.]+\./, '.eyJhIjoi_yJ9.')],
    ['larger than 4 KB', 'malformed-token', () => withClaims({ padding: 'x'.repeat(4000) })],
    ...['none', 'None', 'nOnE', 'hs256', 'HS384', 'HS512', 'RS256', 'ES256', 'EdDSA', ['HS256'], null].map(
      alg => [`with alg ${JSON.stringify(alg)}`, 'bad-header', () => withHeader({ alg })] as (typeof faults)[number],
    ),
    ...['', 'jwt', 'at+jwt', 'JOSE', ['JWT']].map(
      typ => [`with typ ${JSON.stringify(typ)}`, 'bad-header', () => withHeader({ typ })] as (typeof faults)[number],
    ),
    ...['svc-fpa;v=2', ' svc-fpa;v=1', 'svc-fpa; v=1', 'SVC-FPA;v=1', 'svc-fpa', ['svc-fpa;v=1']].map(
      cty => [`with cty ${JSON.stringify(cty)}`, 'bad-header', () => withHeader({ cty })] as (typeof faults)[number],
    ),
    ...['alg', 'typ', 'cty'].map(
      name =>
        [`without ${name}`, 'bad-header', () => ({ header: without(TOKEN_HEADER, name) })] as (typeof faults)[number],
    ),
    ...[
      { crit: ['exp'] },
      { b64: false, crit: ['b64'] },
      { jwk: { kty: 'oct', k: 'AA' } },
      { jku: 'https://evil.example/keys' },
      { x5u: 'https://evil.example/cert' },
      { x5c: ['AA'] },
      { zip: 'DEF' },
      { 'x\ud800"\r\n': 1 },
    ].map(
      extra =>
        [`with ${JSON.stringify(extra)}`, 'bad-header', () => withHeader(extra)] as unknown as (typeof faults)[number],
    ),
    ...[
      '',
      '__proto__',
      'constructor',
      "' or 1=1 --",
      '../../dev/null',
      'key_00000000000000000000000000',
      42,
      null,
      ['key'],
      { id: 'key' },
      'k'.repeat(2000),
    ].map(
      iss =>
        [
          `of issuer ${JSON.stringify(iss).slice(0, 40)}`,
          'unknown-issuer',
          () => withClaims({ iss }),
        ] as (typeof faults)[number],
    ),
    ['without iss', 'unknown-issuer', () => ({ payload: without(goodClaims(tenant), 'iss') })],
    ['whose issuer is written in capitals', 'unknown-issuer', () => withClaims({ iss: tenant.key.id.toUpperCase() })],
    ['signed with another secret', 'bad-signature', () => ({ secret: 'secret' })],
    ['signed with nothing', 'bad-signature', () => ({ secret: '' })],
    [
      'signed with the decoded secret',
      'bad-signature',
      () => ({ secret: Buffer.from(tenant.key.secret, 'base64url') as never }),
    ],
    ["signed with another tenant's secret", 'bad-signature', () => ({ secret: other.key.secret })],
    ['signed with SHA-512', 'bad-signature', () => ({ digest: 'sha512' })],
    [
      'whose signature is cut',
      'bad-signature',
      () => `${forgeToken(tenant).split('.').slice(0, 2).join('.')}.${encodePart('short')}`,
    ],
    ['whose subject is another tenant', 'subject-mismatch', () => withClaims({ sub: other.id })],
    ...[null, 7, '', {}, 'tenant_', []].map(
      sub =>
        [
          `whose subject is ${JSON.stringify(sub)}`,
          'subject-mismatch',
          () => withClaims({ sub }),
        ] as (typeof faults)[number],
    ),
    ['whose subject is a list of its tenant', 'subject-mismatch', () => withClaims({ sub: [tenant.id] })],
    [
      'of another key of another tenant for this one',
      'subject-mismatch',
      () => ({ payload: { ...goodClaims(tenant), iss: other.key.id }, secret: other.key.secret }),
    ],
    ...[0, -1, null, '9999999999', {}, [1], true].map(
      exp => [`with exp ${JSON.stringify(exp)}`, 'token-expired', () => withClaims({ exp })] as (typeof faults)[number],
    ),
    [
      'with an infinite exp',
      'token-expired',
      () => ({ payload: JSON.stringify(goodClaims(tenant)).replace(/"exp":\d+/, '"exp":1e999') }),
    ],
    ['without exp', 'token-expired', () => ({ payload: without(goodClaims(tenant), 'exp') })],
    ['that expired beyond the leeway', 'token-expired', () => withClaims({ exp: seconds() - 61 })],
    ['that lives longer than an hour', 'lifetime-too-long', () => withClaims({ exp: seconds() + 3670 })],
    ['that lives until the year 9999', 'lifetime-too-long', () => withClaims({ exp: 253_402_300_799 })],
    ['from the future by nbf', 'not-yet-valid', () => withClaims({ nbf: seconds() + 90 })],
    ['from the future by iat', 'not-yet-valid', () => withClaims({ iat: seconds() + 90 })],
    ['whose nbf is a text', 'not-yet-valid', () => withClaims({ nbf: '0' })],
    ['without grants', 'bad-identity', () => ({ payload: without(goodClaims(tenant), 'grants') })],
    ...[null, [], 'user', { identity: null }, { Identity: 'a' }, { identity: ['a'] }, { identity: {} }].map(
      grants =>
        [
          `with grants ${JSON.stringify(grants)}`,
          'bad-identity',
          () => withClaims({ grants }),
        ] as (typeof faults)[number],
    ),
    ...['', 'x'.repeat(257), 'a\u0000b', 'a\nb', 'a\u0085b', '\ud800', 'e\u0301', 42, 4.2, true].map(
      identity =>
        [
          `with identity ${JSON.stringify(identity).slice(0, 40)}`,
          'bad-identity',
          () => withClaims({ grants: { identity } }),
        ] as (typeof faults)[number],
    ),
  ];

  test.each(faults)('%s is rejected as %s', async (_, code, parts) => {
    const made = parts();
    await expectRefused(typeof made === 'string' ? made : forgeToken(tenant, made), code);
  });

  test('with a number as identity gets an error that asks for a string', async () => {
    const { body } = await me(forgeToken(tenant, withClaims({ grants: { identity: 42 } })));
    expect(body.detail).toContain('send integer ids as strings');
  });

  test('with several faults is rejected for the first in the order of the contract', async () => {
    const wrong = {
      header: { ...TOKEN_HEADER, cty: 'svc-fpa;v=2' } as object,
      payload: { iss: 'key_unknown', sub: other.id, exp: 1, nbf: seconds() + 999, grants: { identity: 42 } } as object,
      secret: 'wrong',
    };
    const codes: string[] = [];
    const note = async (token: string) => codes.push((await me(token)).body.code);
    const mend = async (change: object, payload: object = {}) => {
      Object.assign(wrong, change);
      Object.assign(wrong.payload, payload);
      await note(forgeToken(tenant, wrong));
    };
    await note(`${forgeToken(tenant, wrong)}=`);
    await mend({});
    await mend({ header: TOKEN_HEADER });
    await mend({}, { iss: tenant.key.id });
    await mend({ secret: tenant.key.secret });
    await mend({}, { sub: tenant.id });
    await mend({}, { exp: seconds() + 9999 });
    await mend({}, { exp: seconds() + 3600 });
    await mend({}, { nbf: seconds() });
    await mend({}, { grants: { identity: '42' } });
    expect(codes).toEqual([
      'malformed-token',
      'bad-header',
      'unknown-issuer',
      'bad-signature',
      'subject-mismatch',
      'token-expired',
      'lifetime-too-long',
      'not-yet-valid',
      'bad-identity',
      undefined,
    ]);
  });

  test.each([
    ['that expired within the leeway', () => withClaims({ exp: seconds() - 50 })],
    ['with a fraction in exp', () => withClaims({ exp: seconds() + 1800.5 })],
    ['of a clock that is ahead within the leeway', () => withClaims({ exp: seconds() + 3650 })],
    ['with nbf and iat within the leeway', () => withClaims({ nbf: seconds() + 50, iat: seconds() + 50 })],
    ['with unknown claims and grants', () => withClaims({ aud: 'x', admin: true, public: true, kind: 'server' })],
    ['with a kid, which is ignored', () => withHeader({ kid: "../../dev/null' or 1=1" })],
    ['with an identity of 256 characters', () => withClaims({ grants: { identity: 'é'.repeat(256) } })],
    ['with an identity named __proto__', () => withClaims({ grants: { identity: '__proto__' } })],
  ])('%s is accepted', async (_, parts) => {
    const { status, body } = await me(forgeToken(tenant, parts()));
    expect(body).toMatchObject({ credential: 'access-token', identity_verified: true });
    expect(status).toBe(200);
  });

  test('of exactly 4 KB is accepted', async () => {
    const make = (length: number) => forgeToken(tenant, withClaims({ padding: 'x'.repeat(length) }));
    const lengths = Array.from({ length: 3000 }, (_, index) => index).filter(length => make(length).length <= 4096);
    const token = make(lengths.at(-1) as number);
    expect(token.length).toBeGreaterThanOrEqual(4095);
    expect((await me(token)).status).toBe(200);
  });

  test('above the limit for headers is 431', async () => {
    const reply = await me('x'.repeat(17_000));
    expect(reply.status).toBe(431);
    expect(reply.body.code).toBe('headers-too-large');
  });

  test('with any changed character is rejected', async () => {
    const token = forgeToken(tenant);
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    await fc.assert(
      fc.asyncProperty(fc.nat(token.length - 1), fc.constantFrom(...alphabet), async (index, character) => {
        fc.pre(token[index] !== character);
        const { status } = await me(`${token.slice(0, index)}${character}${token.slice(index + 1)}`);
        expect(status).toBe(401);
      }),
      { numRuns: 150 },
    );
  });

  test('with URLs of keys causes no outgoing request', async () => {
    let asked = 0;
    const listener = createServer(() => asked++);
    await new Promise<void>(resolve => listener.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(listener.address() as { port: number }).port}/keys`;
    for (const header of [{ jku: url }, { x5u: url }, { kid: url }, { jwk: { k: url } }])
      await me(forgeToken(tenant, { ...withHeader(header), ...withClaims({ iss: url }) }));
    await new Promise(resolve => listener.close(resolve));
    expect(asked).toBe(0);
  });

  test.each([
    [
      'a revoked key',
      async () => {
        const key = await tenant.addKey();
        await revokeApiKey(api.database.storage().forTenant(tenant.uuid), uuidOfKey(key), new Date());
        return key;
      },
    ],
    ['an expired key', () => tenant.addKey({ expires_at: new Date(Date.now() - 1000).toISOString() as never })],
  ])('of %s is rejected like one of an unknown key', async (_, makeKey) => {
    const key = await makeKey();
    const token = forgeToken(tenant, { payload: goodClaims(tenant, key), secret: key.secret });
    const unknown = forgeToken(tenant, withClaims({ iss: toTypeId('key', tenant.uuid) }));
    await expectRefused(token, 'unknown-issuer');
    const [mine, nobodys] = [await me(token), await me(unknown)];
    expect({ ...mine.body, request_id: '' }).toEqual({ ...nobodys.body, request_id: '' });
  });
});

describe('the Authorization header', () => {
  test.each([
    ['missing', {}, 'credentials-missing', 'Bearer'],
    ['empty', { authorization: '' }, 'credentials-invalid', undefined],
    ['without a credential', { authorization: 'Bearer' }, 'credentials-invalid', undefined],
    ['of another scheme', { authorization: 'Basic YTpi' }, 'credentials-invalid', undefined],
    ['with two credentials', { authorization: 'Bearer a b' }, 'credentials-invalid', undefined],
    ['with neither a token nor a key', { authorization: 'Bearer x' }, 'malformed-token', undefined],
  ])('%s is 401', async (_, headers, code, challenge) => {
    const reply = await api.request('GET', '/v1/me', { headers: headers as Record<string, string> });
    expect([reply.status, reply.body.code]).toEqual([401, code]);
    const told = reply.headers.get('www-authenticate');
    expect(told).toBe(challenge ?? `Bearer error="invalid_token", error_description="${reply.body.title}"`);
  });

  test('has a case-insensitive scheme', async () => {
    const token = forgeToken(tenant);
    expect((await api.request('GET', '/v1/me', { headers: { authorization: `bEARER ${token}` } })).status).toBe(200);
  });
});

const KINDS = ['api-key', 'access-token', 'public-access-token'] as const;
const NO_ID = '00000000000000000000000000';
const pathOf = (path: string) => path.replaceAll(/\{(\w+)\}/g, (_, name) => (name === 'id' ? NO_ID : `x_${NO_ID}`));

describe('every endpoint', () => {
  let credentials: Record<(typeof KINDS)[number], string>;

  beforeAll(async () => {
    const key = await tenant.addKey({ kind: 'public' });
    credentials = {
      'api-key': tenant.key.apiKey,
      'access-token': await tenant.sign('user|42'),
      'public-access-token': (await issue(tenant, key.id)).body.access_token,
    };
  });

  const guarded = OPERATIONS.filter(operation => operation.credentials.length > 0);

  test.each(guarded.map(operation => [operation.id, operation] as const))(
    '%s refuses a caller without credentials, and each kind of credential that it does not take',
    async (_, operation) => {
      const ask = (request: TestRequest) =>
        api.request(operation.method.toUpperCase(), pathOf(operation.path), request);
      const anonymous = await ask({});
      expect([anonymous.status, anonymous.body.code]).toEqual([401, 'credentials-missing']);
      for (const kind of KINDS) {
        const reply = await ask({ as: credentials[kind] });
        if (operation.credentials.includes(kind)) expect(reply.status).not.toBe(403);
        else
          expect([kind, reply.status, reply.body.code]).toEqual([
            kind,
            403,
            kind === 'public-access-token' ? 'public-access-restricted' : 'insufficient-scope',
          ]);
      }
    },
  );

  test('accepts a public token only for cards, answers and `/v1/me`', () => {
    const open = OPERATIONS.filter(operation => operation.credentials.includes('public-access-token'));
    expect(open.map(operation => operation.id).sort()).toEqual(['listCards', 'readAnswer', 'recordAnswers', 'whoAmI']);
  });
});

const basic = (userName: string, password: string) =>
  `Basic ${Buffer.from(`${userName}:${password}`).toString('base64')}`;
const issuePath = (tenantId: string) => `/v1/tenants/${tenantId}/issuers/public/auth/token`;
const issue = (of: { id: string }, keyId: string, request: TestRequest = {}) =>
  api.request('POST', issuePath(of.id), {
    ...(request.raw === undefined ? { body: { user_id: 'user|42' } } : {}),
    ...request,
    headers: { authorization: basic('api_key', keyId), ...request.headers },
  });

describe('a public access token', () => {
  test('is issued for the id of a public key', async () => {
    const key = await tenant.addKey({ kind: 'public' });
    const reply = await issue(tenant, key.id);
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({ access_token: expect.any(String), token_type: 'Bearer', expires_in: 3600 });
    expect(reply.headers.get('cache-control')).toBe('no-store');
    const [header, claims] = reply.body.access_token
      .split('.')
      .slice(0, 2)
      .map((part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()));
    expect(header).toEqual(TOKEN_HEADER);
    expect(claims).toEqual({
      iss: key.id,
      sub: tenant.id,
      exp: expect.any(Number),
      grants: { identity: 'user|42' },
    });
    expect(Math.abs(claims.exp - 3600 - seconds())).toBeLessThanOrEqual(5);
    const who = await me(reply.body.access_token);
    expect(who.body).toMatchObject({
      credential: 'public-access-token',
      identity: 'user|42',
      identity_verified: false,
      tenant_id: tenant.id,
    });
  });

  test('gets the same rejection for any fault of the credentials', async () => {
    const key = await tenant.addKey({ kind: 'public' });
    const revoked = await tenant.addKey({ kind: 'public' });
    await revokeApiKey(api.database.storage().forTenant(tenant.uuid), uuidOfKey(revoked), new Date());
    const foreign = await other.addKey({ kind: 'public' });
    const secondsBase64 = Buffer.from(`api_key:${key.id}`).toString('base64');
    const attempts: [string, string | undefined][] = [
      [tenant.id, undefined],
      [tenant.id, ''],
      [tenant.id, basic('apikey', key.id)],
      [tenant.id, basic('API_KEY', key.id)],
      [tenant.id, basic('', key.id)],
      [tenant.id, basic('api_key', '')],
      [tenant.id, basic('api_key', `${key.id}:`)],
      [tenant.id, basic('api_key', `${key.id} `)],
      [tenant.id, basic('api_key', 'key_unknown')],
      [tenant.id, basic('api_key', toTypeId('key', tenant.uuid))],
      [tenant.id, basic('api_key', revoked.id)],
      [tenant.id, basic('api_key', foreign.id)],
      [tenant.id, basic('api_key', forgeToken(tenant))],
      [tenant.id, basic('api_key', tenant.key.apiKey)],
      [tenant.id, `Basic ${secondsBase64.slice(0, -1)}`],
      [tenant.id, `Basic ${secondsBase64}\u00e9`],
      [tenant.id, `Basic  ${secondsBase64}`],
      [tenant.id, `Bearer ${forgeToken(tenant)}`],
      [tenant.id, `Basic ${'A'.repeat(10_000)}`],
      [other.id, basic('api_key', key.id)],
      ['tenant_unknown', basic('api_key', key.id)],
      [toTypeId('tenant', '01936d5e-8f00-7000-8000-000000000001'), basic('api_key', key.id)],
    ];
    const seen = new Set<string>();
    for (const [tenantId, authorization] of attempts) {
      const reply = await api.request('POST', issuePath(tenantId), {
        body: { user_id: 'user|42' },
        headers: authorization === undefined ? {} : { authorization },
      });
      expect([authorization, reply.status]).toEqual([authorization, 401]);
      expect(reply.headers.get('www-authenticate')).toBe('Basic realm="parley"');
      seen.add(JSON.stringify({ ...reply.body, request_id: '', instance: '' }));
    }
    expect(seen.size).toBe(1);
  });

  test('is rejected before the body is read', async () => {
    const bodies: TestRequest[] = [
      { body: {} },
      { raw: '{' },
      { raw: 'x', headers: { 'content-type': 'text/plain' } },
      { raw: 'x'.repeat(300_000) },
    ];
    for (const request of bodies) expect((await issue(tenant, 'key_unknown', request)).status).toBe(401);
  });

  test('is not issued for a server key', async () => {
    const reply = await issue(tenant, tenant.key.id);
    expect([reply.status, reply.body.code]).toEqual([403, 'api-key-not-public']);
  });

  test('is issued to the allowed origins, and to native apps without an origin', async () => {
    const key = await tenant.addKey({ kind: 'public', allowed_origins: ['https://app.example'] });
    const from = async (origin?: string) => {
      const reply = await issue(tenant, key.id, { headers: origin === undefined ? {} : { origin } });
      return reply.status === 200 ? 200 : reply.body.code;
    };
    expect(await from()).toBe(200);
    expect(await from('https://app.example')).toBe(200);
    for (const origin of [
      'null',
      'https://evil.example',
      'http://app.example',
      'https://app.example.evil.example',
      'https://xapp.example',
      'https://app.example:8443',
      'https://APP.example',
    ])
      expect([origin, await from(origin)]).toEqual([origin, 'origin-not-allowed']);
  });

  test.each([
    [{}, 422],
    [{ user_id: 42 }, 422],
    [{ user_id: '' }, 422],
    [{ user_id: 'x'.repeat(257) }, 422],
    [{ user_id: 'a\u0000' }, 422],
    [{ user_id: '\ud800' }, 422],
    [{ user_id: 'e\u0301' }, 422],
    [{ user_id: 'a', grants: {} }, 422],
    [['user|42'], 422],
    ['user|42', 422],
    [null, 422],
  ])('is not issued for the body %j', async (body, status) => {
    const key = await tenant.addKey({ kind: 'public' });
    const reply = await issue(tenant, key.id, { body });
    expect([reply.status, reply.body.code]).toEqual([status, 'validation-failed']);
  });

  test.each([
    ['not JSON', { raw: '{', headers: { 'content-type': 'application/json' } }, 400, 'malformed-json'],
    [
      'a form',
      { raw: 'user_id=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      415,
      'unsupported-media-type',
    ],
    ['without a type', { raw: new TextEncoder().encode('{"user_id":"1"}') }, 415, 'unsupported-media-type'],
  ])('is not issued for a body that is %s', async (_, request, status, code) => {
    const key = await tenant.addKey({ kind: 'public' });
    const reply = await issue(tenant, key.id, request);
    expect([reply.status, reply.body.code]).toEqual([status, code]);
  });

  test("with the name of a verified user cannot read that user's data", async () => {
    const key = await tenant.addKey({ kind: 'public' });
    const claimed = (await issue(tenant, key.id)).body.access_token;
    const [hidden, shown] = [
      await publishQuestion(api, tenant, { frequency: { ignore_cooldown: true } }),
      await publishQuestion(api, tenant, { allow_public: true, frequency: { ignore_cooldown: true } }),
    ];
    const cardsOf = async (token: string) => (await api.request('GET', '/v1/cards', { as: token })).body.data;
    const verified = await tenant.sign('user|42');
    const proven = await waitFor(async () => {
      const cards = await cardsOf(verified);
      return cards.length === 2 && cards;
    });
    const open = await cardsOf(claimed);
    expect(proven.map((card: { question_id: string }) => card.question_id).sort()).toEqual(
      [hidden.id, shown.id].sort(),
    );
    expect(open.map((card: { question_id: string }) => card.question_id)).toEqual([shown.id]);
    expect(proven.map((card: { id: string }) => card.id)).not.toContain(open[0].id);
  });

  test('cannot be signed with public values only', async () => {
    const key = await tenant.addKey({ kind: 'public' });
    for (const secret of [key.id, tenant.id, '', 'api_key', `api_key:${key.id}`])
      await expectRefused(forgeToken(tenant, { payload: goodClaims(tenant, key), secret }), 'bad-signature');
  });

  test('is limited to bodies of 16 KB', async () => {
    const key = await tenant.addKey({ kind: 'public' });
    const token = (await issue(tenant, key.id)).body.access_token;
    const raw = JSON.stringify({ answers: ['x'.repeat(16_384)] });
    const send = (as: string) =>
      api.request('POST', '/v1/answers', { as, raw, headers: { 'content-type': 'application/json' } });
    const reply = await send(token);
    expect([reply.status, reply.body.code]).toEqual([413, 'body-too-large']);
    expect((await send(await tenant.sign('user|42'))).status).toBe(202);
  });
});

describe('inspecting a token', () => {
  const inspect = (token: unknown, as = tenant.key.apiKey) =>
    api.request('POST', '/v1/auth/inspect', { as, body: { token } });

  test('reports a valid one', async () => {
    const claims = goodClaims(tenant);
    const { status, body } = await inspect(forgeToken(tenant, { payload: claims }));
    expect(status).toBe(200);
    expect(body).toEqual({
      valid: true,
      code: null,
      detail: expect.any(String),
      header: TOKEN_HEADER,
      claims,
      key_kind: 'server',
    });
  });

  test('reports the same fault as its use', async () => {
    const expired = withClaims({ exp: 1 });
    const tokens = {
      'malformed-token': 'a.b',
      'bad-header': forgeToken(tenant, withHeader({ cty: 'x' })),
      'unknown-issuer': forgeToken(tenant, withClaims({ iss: 'x' })),
      'bad-signature': forgeToken(tenant, { secret: 'x' }),
      'subject-mismatch': forgeToken(tenant, withClaims({ sub: other.id })),
      'token-expired': forgeToken(tenant, expired),
      'lifetime-too-long': forgeToken(tenant, withClaims({ exp: seconds() + 9999 })),
      'not-yet-valid': forgeToken(tenant, withClaims({ iat: seconds() + 9999 })),
      'bad-identity': forgeToken(tenant, withClaims({ grants: { identity: 7 } })),
    };
    for (const [code, token] of Object.entries(tokens)) {
      const { body } = await inspect(token);
      expect(body).toMatchObject({ valid: false, code });
      expect((await me(token)).body).toMatchObject({ code, detail: body.detail });
    }
  });

  test("treats another tenant's key as unknown", async () => {
    const { body } = await inspect(await other.sign('user|42'));
    expect(body).toMatchObject({ valid: false, code: 'unknown-issuer', key_kind: null });
  });

  test('reports the kind of the key, but not its secret', async () => {
    const key = await tenant.addKey({ kind: 'public' });
    const { body } = await inspect((await issue(tenant, key.id)).body.access_token);
    expect(body).toMatchObject({ valid: true, key_kind: 'public' });
    const bad = await inspect(forgeToken(tenant, { secret: 'x' }));
    expect(JSON.stringify(bad.body)).not.toContain(tenant.key.secret);
  });

  test('accepts any text as a token', async () => {
    for (const token of ['', '.', '..', '\u0000', '\ud800', 'x'.repeat(20_000), tenant.key.apiKey, '{}'])
      expect((await inspect(token)).body).toMatchObject({ valid: false, code: 'malformed-token' });
    for (const token of [42, null, undefined, 'x'.repeat(20_001)]) expect((await inspect(token)).status).toBe(422);
  });

  test('reports a token of a standard library as valid', async () => {
    const token = await new SignJWT(goodClaims(tenant))
      .setProtectedHeader({ ...TOKEN_HEADER, kid: 'any' })
      .sign(new TextEncoder().encode(tenant.key.secret));
    expect((await inspect(token)).body.valid).toBe(true);
  });
});
