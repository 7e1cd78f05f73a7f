import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createKeyRing, type KeyRing } from '../../src/api/credentials/key-ring.ts';
import { createTokenVerifier, type TokenVerifier } from '../../src/api/credentials/token-verifier.ts';
import { type Notices, openNotices } from '../../src/coordination/notices.ts';
import { createCaches } from '../../src/platform/caches.ts';
import { createLog } from '../../src/platform/log.ts';
import { revokeApiKey, rotateApiKey } from '../../src/storage/team/api-keys.ts';
import { createApi, type TestApi, waitFor } from '../support/api.ts';
import { makeTenant, type TestTenant, uuidOfKey } from '../support/make.ts';
import { forgeToken, goodClaims } from '../support/tokens.ts';

let api: TestApi;
let tenant: TestTenant;
let ring: KeyRing;
let notices: Notices;
let verifier: TokenVerifier;
const log = createLog('silent', 'test');
const open: { close(): Promise<unknown> }[] = [];
/** jose checks every signature through this function. */
const checks = vi.spyOn(crypto.subtle, 'verify');

const openVerifier = () => {
  const storage = api.database.storage();
  const caches = createCaches();
  notices = openNotices(api.database.url, undefined, log);
  ring = createKeyRing({ storage, notices, keychain: api.keychain, log, caches });
  open.push(ring, notices);
  return createTokenVerifier(ring, caches);
};

beforeAll(async () => {
  api = await createApi();
  tenant = await makeTenant(api);
  verifier = openVerifier();
  // The notices that start arriving end the validity of every key read before.
  await waitFor(() => notices.isListening());
});
beforeEach(() => void checks.mockClear());
afterAll(async () => {
  checks.mockRestore();
  for (const part of open) await part.close();
  await api[Symbol.asyncDispose]();
});

const verify = (token: string, at = new Date()) => verifier.verify(token, at);
const refusal = (token: string, at?: Date) =>
  verify(token, at).then(
    () => 'valid',
    error => error.code,
  );
const tokenOf = (identity: string, key = tenant.key) =>
  forgeToken(tenant, { payload: { ...goodClaims(tenant, key), grants: { identity } }, secret: key.secret });
const scope = () => api.database.storage().forTenant(tenant.uuid);

test('a token is verified once, and then cached for the same user', async () => {
  const token = tokenOf('user|once');
  const first = await verify(token);
  for (let use = 0; use < 100; use++) expect(await verify(token)).toBe(first);
  expect(checks).toHaveBeenCalledTimes(1);
});

test('a cached token expires at its time, to the second of the leeway', async () => {
  const token = tokenOf('user|ends');
  await verify(token);
  const { exp } = JSON.parse(Buffer.from(token.split('.')[1] as string, 'base64url').toString());
  const leeway = 60;
  expect(await refusal(token, new Date((exp + leeway) * 1000 - 1))).toBe('valid');
  expect(await refusal(token, new Date((exp + leeway) * 1000))).toBe('token-expired');
});

test('a cached token is rejected with any other signature', async () => {
  const token = tokenOf('user|signed');
  await verify(token);
  const at = token.lastIndexOf('.') + 5;
  for (const letter of ['A', 'B', 'C'].filter(letter => token[at] !== letter))
    expect(await refusal(token.slice(0, at) + letter + token.slice(at + 1))).toBe('bad-signature');
});

test('failures are not cached: the token is verified each time, and accepted once valid', async () => {
  const key = await tenant.addKey();
  const forged = forgeToken(tenant, { payload: goodClaims(tenant, key), secret: 'another' });
  for (let use = 0; use < 3; use++) expect(await refusal(forged)).toBe('bad-signature');
  expect(checks).toHaveBeenCalledTimes(3);
});

test("a cached token is rejected within a second of its key's revocation", async () => {
  const key = await tenant.addKey();
  const token = tokenOf('user|revoked', key);
  await verify(token);
  await revokeApiKey(scope(), uuidOfKey(key), new Date());
  await waitFor(async () => (await refusal(token)) === 'unknown-issuer', 10_000);
});

test('a cached token of a rotated secret is rejected after the overlap', async () => {
  const key = await tenant.addKey();
  const token = tokenOf('user|rotated', key);
  await verify(token);
  await rotateApiKey(scope(), api.seals, uuidOfKey(key), { overlapHours: 1, now: new Date() });
  await waitFor(async () => (await ring.find(uuidOfKey(key)))?.status(new Date()) === 'rotating', 10_000);
  expect(await refusal(token)).toBe('valid');
  const inAnHour = new Date(Date.now() + 3_600_000);
  expect(await refusal(token, inAnHour)).toBe('bad-signature');
});

test('the cache evicts the oldest tokens, and made-up ones are not cached', async () => {
  const kept = tokenOf('user|kept');
  await verify(kept);
  const [head, body] = kept.split('.') as [string, string];
  for (let guess = 0; guess < 20_000; guess++) {
    const signature = Buffer.alloc(32, guess)
      .fill(guess % 251, 8)
      .toString('base64url');
    expect(await refusal(`${head}.${body}.${signature}`)).toBe('bad-signature');
  }
  checks.mockClear();
  await verify(kept);
  expect(checks).not.toHaveBeenCalled();
});
