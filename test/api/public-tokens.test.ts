import { afterAll, describe, expect, test } from 'vitest';
import { toTypeId } from '../../src/domain/ids.ts';
import { TOKEN_HEADER } from '../../src/domain/team/tokens.ts';
import { revokeApiKey } from '../../src/storage/team/api-keys.ts';
import { createApi, type TestRequest, waitFor } from '../support/api.ts';
import { makeTenant, publishQuestion, uuidOfKey } from '../support/make.ts';
import {
  basicAuth,
  expectRejected,
  forgeToken,
  goodClaims,
  issuePath,
  issueToken,
  nowSeconds,
} from '../support/tokens.ts';

const api = await createApi();
afterAll(() => api[Symbol.asyncDispose]());
const tenant = await makeTenant(api);
const other = await makeTenant(api, 'Other');

const me = (token: string) => api.request('GET', '/v1/me', { as: token });

describe('a public access token', () => {
  test('is issued for the id of a public key', async () => {
    const key = await tenant.addKey({ kind: 'public' });
    const reply = await issueToken(api, tenant, key.id);
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
    expect(Math.abs(claims.exp - 3600 - nowSeconds())).toBeLessThanOrEqual(60);
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
      [tenant.id, basicAuth('apikey', key.id)],
      [tenant.id, basicAuth('API_KEY', key.id)],
      [tenant.id, basicAuth('', key.id)],
      [tenant.id, basicAuth('api_key', '')],
      [tenant.id, basicAuth('api_key', `${key.id}:`)],
      [tenant.id, basicAuth('api_key', `${key.id} `)],
      [tenant.id, basicAuth('api_key', 'key_unknown')],
      [tenant.id, basicAuth('api_key', toTypeId('key', tenant.uuid))],
      [tenant.id, basicAuth('api_key', revoked.id)],
      [tenant.id, basicAuth('api_key', foreign.id)],
      [tenant.id, basicAuth('api_key', forgeToken(tenant))],
      [tenant.id, basicAuth('api_key', tenant.key.apiKey)],
      [tenant.id, `Basic ${secondsBase64.slice(0, -1)}`],
      [tenant.id, `Basic ${secondsBase64}\u00e9`],
      [tenant.id, `Basic  ${secondsBase64}`],
      [tenant.id, `Bearer ${forgeToken(tenant)}`],
      [tenant.id, `Basic ${'A'.repeat(10_000)}`],
      [other.id, basicAuth('api_key', key.id)],
      ['tenant_unknown', basicAuth('api_key', key.id)],
      [toTypeId('tenant', '01936d5e-8f00-7000-8000-000000000001'), basicAuth('api_key', key.id)],
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
    for (const request of bodies) expect((await issueToken(api, tenant, 'key_unknown', request)).status).toBe(401);
  });

  test('is not issued for a server key', async () => {
    const reply = await issueToken(api, tenant, tenant.key.id);
    expect([reply.status, reply.body.code]).toEqual([403, 'api-key-not-public']);
  });

  test('is issued to the allowed origins, and to native apps without an origin', async () => {
    const key = await tenant.addKey({ kind: 'public', allowed_origins: ['https://app.example'] });
    const from = async (origin?: string) => {
      const reply = await issueToken(api, tenant, key.id, { headers: origin === undefined ? {} : { origin } });
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
    const reply = await issueToken(api, tenant, key.id, { body });
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
    const reply = await issueToken(api, tenant, key.id, request);
    expect([reply.status, reply.body.code]).toEqual([status, code]);
  });

  test("with the name of a verified user cannot read that user's data", async () => {
    const key = await tenant.addKey({ kind: 'public' });
    const claimed = (await issueToken(api, tenant, key.id)).body.access_token;
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
      await expectRejected(api, forgeToken(tenant, { payload: goodClaims(tenant, key), secret }), 'bad-signature');
  });

  test('is limited to bodies of 16 KB', async () => {
    const key = await tenant.addKey({ kind: 'public' });
    const token = (await issueToken(api, tenant, key.id)).body.access_token;
    const raw = JSON.stringify({ answers: ['x'.repeat(16_384)] });
    const send = (as: string) =>
      api.request('POST', '/v1/answers', { as, raw, headers: { 'content-type': 'application/json' } });
    const reply = await send(token);
    expect([reply.status, reply.body.code]).toEqual([413, 'body-too-large']);
    expect((await send(await tenant.sign('user|42'))).status).toBe(202);
  });
});
