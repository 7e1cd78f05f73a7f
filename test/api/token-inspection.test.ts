import { SignJWT } from 'jose';
import { afterAll, describe, expect, test } from 'vitest';
import { TOKEN_HEADER } from '../../src/domain/team/tokens.ts';
import { createApi } from '../support/api.ts';
import { makeTenant } from '../support/make.ts';
import { forgeToken, goodClaims, issueToken, nowSeconds, withClaims, withHeader } from '../support/tokens.ts';

const api = await createApi();
afterAll(() => api[Symbol.asyncDispose]());
const tenant = await makeTenant(api);
const other = await makeTenant(api, 'Other');

const me = (token: string) => api.request('GET', '/v1/me', { as: token });

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
    const expired = withClaims(tenant, { exp: 1 });
    const tokens = {
      'malformed-token': 'a.b',
      'bad-header': forgeToken(tenant, withHeader({ cty: 'x' })),
      'unknown-issuer': forgeToken(tenant, withClaims(tenant, { iss: 'x' })),
      'bad-signature': forgeToken(tenant, { secret: 'x' }),
      'subject-mismatch': forgeToken(tenant, withClaims(tenant, { sub: other.id })),
      'token-expired': forgeToken(tenant, expired),
      'lifetime-too-long': forgeToken(tenant, withClaims(tenant, { exp: nowSeconds() + 9999 })),
      'not-yet-valid': forgeToken(tenant, withClaims(tenant, { iat: nowSeconds() + 9999 })),
      'bad-identity': forgeToken(tenant, withClaims(tenant, { grants: { identity: 7 } })),
    };
    for (const [code, token] of Object.entries(tokens)) {
      const { body } = await inspect(token);
      expect(body).toMatchObject({ valid: false, code });
      expect((await me(token)).body).toMatchObject({ code, detail: body.detail });
    }
  });

  test('recognizes a token that was signed with the decoded secret', async () => {
    const { secret } = tenant.key;
    const decoded = Buffer.from(secret, 'base64url') as unknown as string;
    expect((await inspect(forgeToken(tenant, { secret: decoded }))).body).toMatchObject({
      code: 'bad-signature',
      detail: expect.stringContaining('signed with the base64-decoded secret'),
    });
    expect((await inspect(forgeToken(tenant, { secret: `${secret}x` }))).body.detail).not.toContain('was signed with');
  });

  test("treats another tenant's key as unknown", async () => {
    const { body } = await inspect(await other.sign('user|42'));
    expect(body).toMatchObject({ valid: false, code: 'unknown-issuer', key_kind: null });
  });

  test('reports the kind of the key, but not its secret', async () => {
    const key = await tenant.addKey({ kind: 'public' });
    const { body } = await inspect((await issueToken(api, tenant, key.id)).body.access_token);
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
