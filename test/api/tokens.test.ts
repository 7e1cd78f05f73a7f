import { createServer } from 'node:net';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { toTypeId } from '../../src/domain/ids.ts';
import { TOKEN_HEADER } from '../../src/domain/team/tokens.ts';
import { revokeApiKey } from '../../src/storage/team/api-keys.ts';
import { createApi } from '../support/api.ts';
import { makeTenant, uuidOfKey } from '../support/make.ts';
import {
  encodePart,
  expectRejected,
  forgeToken,
  goodClaims,
  nowSeconds,
  type TokenParts,
  withClaims,
  withHeader,
} from '../support/tokens.ts';

const api = await createApi();
afterAll(() => api[Symbol.asyncDispose]());
const tenant = await makeTenant(api);
const other = await makeTenant(api, 'Other');

const me = (token: string) => api.request('GET', '/v1/me', { as: token });
const without = (object: object, name: string) =>
  Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));

describe('an access token', () => {
  test('signed by a standard library according to the specification authenticates its user', async () => {
    const exp = nowSeconds() + 3600;
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
    ['larger than 4 KB', 'malformed-token', () => withClaims(tenant, { padding: 'x'.repeat(4000) })],
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
          () => withClaims(tenant, { iss }),
        ] as (typeof faults)[number],
    ),
    ['without iss', 'unknown-issuer', () => ({ payload: without(goodClaims(tenant), 'iss') })],
    [
      'whose issuer is written in capitals',
      'unknown-issuer',
      () => withClaims(tenant, { iss: tenant.key.id.toUpperCase() }),
    ],
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
    ['whose subject is another tenant', 'subject-mismatch', () => withClaims(tenant, { sub: other.id })],
    ...[null, 7, '', {}, 'tenant_', []].map(
      sub =>
        [
          `whose subject is ${JSON.stringify(sub)}`,
          'subject-mismatch',
          () => withClaims(tenant, { sub }),
        ] as (typeof faults)[number],
    ),
    ['whose subject is a list of its tenant', 'subject-mismatch', () => withClaims(tenant, { sub: [tenant.id] })],
    [
      'of another key of another tenant for this one',
      'subject-mismatch',
      () => ({ payload: { ...goodClaims(tenant), iss: other.key.id }, secret: other.key.secret }),
    ],
    ...[0, -1, null, '9999999999', {}, [1], true].map(
      exp =>
        [
          `with exp ${JSON.stringify(exp)}`,
          'token-expired',
          () => withClaims(tenant, { exp }),
        ] as (typeof faults)[number],
    ),
    [
      'with an infinite exp',
      'token-expired',
      () => ({ payload: JSON.stringify(goodClaims(tenant)).replace(/"exp":\d+/, '"exp":1e999') }),
    ],
    ['without exp', 'token-expired', () => ({ payload: without(goodClaims(tenant), 'exp') })],
    ['that expired beyond the leeway', 'token-expired', () => withClaims(tenant, { exp: nowSeconds() - 61 })],
    ['that lives longer than an hour', 'lifetime-too-long', () => withClaims(tenant, { exp: nowSeconds() + 3670 })],
    ['that lives until the year 9999', 'lifetime-too-long', () => withClaims(tenant, { exp: 253_402_300_799 })],
    ['from the future by nbf', 'not-yet-valid', () => withClaims(tenant, { nbf: nowSeconds() + 90 })],
    ['from the future by iat', 'not-yet-valid', () => withClaims(tenant, { iat: nowSeconds() + 90 })],
    ['whose nbf is a text', 'not-yet-valid', () => withClaims(tenant, { nbf: '0' })],
    ['without grants', 'bad-identity', () => ({ payload: without(goodClaims(tenant), 'grants') })],
    ...[null, [], 'user', { identity: null }, { Identity: 'a' }, { identity: ['a'] }, { identity: {} }].map(
      grants =>
        [
          `with grants ${JSON.stringify(grants)}`,
          'bad-identity',
          () => withClaims(tenant, { grants }),
        ] as (typeof faults)[number],
    ),
    ...['', 'x'.repeat(257), 'a\u0000b', 'a\nb', 'a\u0085b', '\ud800', 'e\u0301', 42, 4.2, true].map(
      identity =>
        [
          `with identity ${JSON.stringify(identity).slice(0, 40)}`,
          'bad-identity',
          () => withClaims(tenant, { grants: { identity } }),
        ] as (typeof faults)[number],
    ),
  ];

  test.each(faults)('%s is rejected as %s', async (_, code, parts) => {
    const made = parts();
    await expectRejected(api, typeof made === 'string' ? made : forgeToken(tenant, made), code);
  });

  test('with a number as identity gets an error that asks for a string', async () => {
    const { body } = await me(forgeToken(tenant, withClaims(tenant, { grants: { identity: 42 } })));
    expect(body.detail).toContain('send integer ids as strings');
  });

  test('with several faults is rejected for the first in the order of the contract', async () => {
    const wrong = {
      header: { ...TOKEN_HEADER, cty: 'svc-fpa;v=2' } as object,
      payload: {
        iss: 'key_unknown',
        sub: other.id,
        exp: 1,
        nbf: nowSeconds() + 999,
        grants: { identity: 42 },
      } as object,
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
    await mend({}, { exp: nowSeconds() + 9999 });
    await mend({}, { exp: nowSeconds() + 3600 });
    await mend({}, { nbf: nowSeconds() });
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
    ['that expired within the leeway', () => withClaims(tenant, { exp: nowSeconds() - 50 })],
    ['with a fraction in exp', () => withClaims(tenant, { exp: nowSeconds() + 1800.5 })],
    ['of a clock that is ahead within the leeway', () => withClaims(tenant, { exp: nowSeconds() + 3650 })],
    [
      'with nbf and iat within the leeway',
      () => withClaims(tenant, { nbf: nowSeconds() + 50, iat: nowSeconds() + 50 }),
    ],
    [
      'with unknown claims and grants',
      () => withClaims(tenant, { aud: 'x', admin: true, public: true, kind: 'server' }),
    ],
    ['with a kid, which is ignored', () => withHeader({ kid: "../../dev/null' or 1=1" })],
    ['with an identity of 256 characters', () => withClaims(tenant, { grants: { identity: 'é'.repeat(256) } })],
    ['with an identity named __proto__', () => withClaims(tenant, { grants: { identity: '__proto__' } })],
  ])('%s is accepted', async (_, parts) => {
    const { status, body } = await me(forgeToken(tenant, parts()));
    expect(body).toMatchObject({ credential: 'access-token', identity_verified: true });
    expect(status).toBe(200);
  });

  test('of exactly 4 KB is accepted', async () => {
    const make = (length: number) => forgeToken(tenant, withClaims(tenant, { padding: 'x'.repeat(length) }));
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
      await me(forgeToken(tenant, { ...withHeader(header), ...withClaims(tenant, { iss: url }) }));
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
    const unknown = forgeToken(tenant, withClaims(tenant, { iss: toTypeId('key', tenant.uuid) }));
    await expectRejected(api, token, 'unknown-issuer');
    const [mine, unknowns] = [await me(token), await me(unknown)];
    expect({ ...mine.body, request_id: '' }).toEqual({ ...unknowns.body, request_id: '' });
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
    const header = reply.headers.get('www-authenticate');
    expect(header).toBe(challenge ?? `Bearer error="invalid_token", error_description="${reply.body.title}"`);
  });

  test('may have several spaces after its scheme (RFC 9110, section 11.4)', async () => {
    for (const credential of [forgeToken(tenant), tenant.key.apiKey]) {
      const reply = await api.request('GET', '/v1/conversations', {
        headers: { authorization: `Bearer   ${credential}` },
      });
      expect(reply.status).toBe(200);
    }
  });

  test('has a case-insensitive scheme', async () => {
    const token = forgeToken(tenant);
    expect((await api.request('GET', '/v1/me', { headers: { authorization: `bEARER ${token}` } })).status).toBe(200);
  });
});
