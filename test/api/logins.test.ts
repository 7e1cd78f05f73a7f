import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { passwordsWaiting, verifyPassword } from '../../src/platform/passwords.ts';
import { sha256 } from '../../src/platform/secrets.ts';
import { totpCode, totpStep } from '../../src/platform/totp.ts';
import { insertLink } from '../../src/storage/team/accounts.ts';
import { createApi, type TestApi } from '../support/api.ts';
import { makeTenant, storageOf, type TestTenant } from '../support/make.ts';
import { cookieOf, headersOf, logIn, makeMember, PASSWORD } from '../support/person.ts';

let api: TestApi;
let second: TestApi;
let tenant: TestTenant;

beforeAll(async () => {
  api = await createApi();
  second = await createApi({ sharing: api });
  tenant = await makeTenant(api);
});
afterAll(async () => {
  await second[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});

const me = (headers: Record<string, string>, of = api) => of.request('GET', '/v1/me', { headers });

describe('a login', () => {
  test('returns a cookie hidden from scripts and other sites, the person, and the token for writes', async () => {
    const person = await makeMember(api, tenant, 'owner');
    const reply = await logIn(api, person.email.toUpperCase());
    expect(reply).toMatchObject({ status: 200, body: { member: { email: person.email, totp_enabled: false } } });
    expect(reply.body.member.memberships).toEqual([
      { tenant: { id: tenant.id, name: 'Acme', demo: false }, member_id: person.memberId, role: 'owner' },
    ]);
    expect(reply.headers.get('Set-Cookie')).toMatch(
      /^__Host-parley_session=[\w-]{43}; Path=\/; Max-Age=1209600; HttpOnly; SameSite=Lax; Secure$/,
    );
    expect(reply.headers.get('Cache-Control')).toBe('no-store');
    const who = await me(headersOf(reply));
    expect(who.body).toMatchObject({ credential: 'session', account: reply.body.member });
    expect(who.body.csrf_token).toBe(reply.body.csrf_token);
  });

  test('over plain HTTP sets a cookie without the prefix, which browsers would reject there', async () => {
    await using plain = await createApi({ sharing: api, settings: { BASE_URL: 'http://localhost:3000' } });
    const person = await makeMember(api, tenant, 'agent');
    const reply = await logIn(plain, person.email);
    expect(reply.headers.get('Set-Cookie')).toMatch(/^parley_session=/);
    expect(reply.headers.get('Set-Cookie')).not.toContain('Secure');
    expect((await me(headersOf(reply), plain)).status).toBe(200);
  });

  test('gets the same rejection for a wrong password and an unknown address, after about the same time', async () => {
    const person = await makeMember(api, tenant, 'agent');
    const measure = async (email: string) => {
      const startedAt = performance.now();
      const { status, body } = await logIn(api, email, 'not the password');
      const { request_id: _, ...rest } = body;
      return { ms: performance.now() - startedAt, reply: { status, ...rest } };
    };
    await measure(person.email);
    const known: number[] = [];
    const unknown: number[] = [];
    const least = () => Math.min(...unknown) / Math.min(...known); // load on the machine only adds time
    for (let round = 0; round < 6 || (round < 60 && (least() < 0.4 || least() > 2.5)); round++) {
      const one = await measure(person.email);
      const other = await measure(`nobody-${round}@acme.example`);
      expect(one.reply).toMatchObject({ status: 401, code: 'login-failed' });
      expect(other.reply).toEqual(one.reply);
      known.push(one.ms);
      unknown.push(other.ms);
    }
    expect(least()).toBeGreaterThan(0.4);
    expect(least()).toBeLessThan(2.5);
  });

  test('creates a new session, regardless of the sent cookie', async () => {
    const person = await makeMember(api, tenant, 'agent');
    const planted = '__Host-parley_session=planted-by-somebody-else';
    const reply = await api.request('POST', '/v1/session', {
      body: { email: person.email, password: PASSWORD },
      headers: { Cookie: planted },
    });
    const fresh = cookieOf(reply.headers.get('Set-Cookie') ?? '');
    expect(fresh).not.toBe(planted);
    expect((await me({ Cookie: planted })).body.code).toBe('session-ended');
    const again = await api.request('POST', '/v1/session', {
      body: { email: person.email, password: PASSWORD },
      headers: { Cookie: fresh },
    });
    expect(cookieOf(again.headers.get('Set-Cookie') ?? '')).not.toBe(fresh);
  });

  test('from a page of another site is rejected before the password is checked', async () => {
    const person = await makeMember(api, tenant, 'agent');
    const from = (headers: Record<string, string>) =>
      api.request('POST', '/v1/session', { body: { email: person.email, password: PASSWORD }, headers });
    for (const headers of [
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
      { Origin: 'https://evil.example' },
      { Origin: 'null' },
      { Origin: 'https://parley.test.evil.example' },
    ] as Record<string, string>[])
      expect((await from(headers)).body).toMatchObject({ status: 403, code: 'cross-site-request' });
    expect((await from({ Origin: 'https://parley.test', 'Sec-Fetch-Site': 'same-origin' })).status).toBe(200);
    expect((await from({ Origin: 'https://parley.test' })).status).toBe(200);
  });

  test('with an invalid body is rejected and names the field', async () => {
    for (const body of [{}, { email: 'x', password: 'y' }, { email: 'a@b.co', password: 1 }, { email: 'a@b.co' }])
      expect((await api.request('POST', '/v1/session', { body })).body).toMatchObject({ code: 'validation-failed' });
    const extra = { email: 'a@b.co', password: 'x', remember: true };
    expect((await api.request('POST', '/v1/session', { body: extra })).body.errors[0].pointer).toBe('/remember');
  });
});

describe('a browser', () => {
  test('becomes known with the first page of a session, once, with one id per session', async () => {
    const person = await makeMember(api, tenant, 'agent');
    const first = (await me(person.headers)).headers.get('Set-Cookie') ?? '';
    expect(first).toMatch(/^__Host-parley_device=[\w-]+; Path=\/; Max-Age=34560000; HttpOnly; SameSite=Lax; Secure$/);
    const carried = `${person.headers.Cookie}; ${cookieOf(first)}`;
    expect((await me({ ...person.headers, Cookie: carried })).headers.get('Set-Cookie')).toBeNull();
    const again = (await me(person.headers)).headers.get('Set-Cookie') ?? '';
    const nameIn = (setCookie: string) =>
      JSON.parse(api.keychain.unseal(Buffer.from(cookieOf(setCookie).split('=')[1] as string, 'base64url'), 'device'))
        .id;
    expect(nameIn(again)).toBe(nameIn(first));
  });
});

const BEHIND_A_PROXY = { RATE_LIMITS: 'on', TRUSTED_PROXY_HOPS: '1' };
const tryFrom = (of: TestApi, address: string, email: string, password = PASSWORD, cookie = '') =>
  of.request('POST', '/v1/session', {
    body: { email, password },
    headers: { 'X-Forwarded-For': address, Cookie: cookie },
  });

describe('brute force', () => {
  test('is stopped after ten attempts on an account, without locking other users out', async () => {
    await using limited = await createApi({ sharing: api, settings: { RATE_LIMITS: 'on' } });
    const victim = await makeMember(api, tenant, 'owner');
    const other = await makeMember(api, tenant, 'agent');
    const tries = [];
    for (let count = 0; count < 12; count++) tries.push((await logIn(limited, victim.email, 'guess')).status);
    expect(tries.slice(0, 10)).toEqual(Array(10).fill(401));
    expect(tries.slice(10)).toEqual([429, 429]);
    const blocked = await logIn(limited, victim.email);
    expect(blocked.body.code).toBe('rate-limit-exceeded');
    expect(Number(blocked.headers.get('Retry-After'))).toBeGreaterThan(0);
    expect((await logIn(limited, other.email)).status).toBe(200);
    expect((await me(victim.headers, limited)).status).toBe(200);
  });

  test('by a stranger does not lock out the owner in a known browser', async () => {
    await using limited = await createApi({ sharing: api, settings: { RATE_LIMITS: 'on' } });
    const victim = await makeMember(api, tenant, 'owner');
    const other = await makeMember(api, tenant, 'agent');
    const deviceOf = async (headers: Record<string, string>) =>
      cookieOf((await me(headers, limited)).headers.get('Set-Cookie') ?? '');
    const device = await deviceOf(victim.headers);
    const foreign = await deviceOf(other.headers);
    expect(device).toMatch(/^__Host-parley_device=[\w-]+$/);
    const tryFrom = (cookie: string, password: string) =>
      limited.request('POST', '/v1/session', {
        body: { email: victim.email, password },
        headers: { Cookie: cookie },
      });
    const guesses = [];
    for (let count = 0; count < 12; count++) guesses.push((await logIn(limited, victim.email, 'guess')).status);
    expect(guesses).toEqual([...Array(10).fill(401), 429, 429]);
    for (const cookie of ['', foreign, '__Host-parley_device=made-up', `${device.slice(0, -6)}AAAAAA`])
      expect((await tryFrom(cookie, PASSWORD)).status).toBe(429);
    expect((await tryFrom(device, PASSWORD)).status).toBe(200);

    const guessesFromDevice = [];
    for (let count = 0; count < 11; count++) guessesFromDevice.push((await tryFrom(device, 'guess')).status);
    expect(guessesFromDevice).toEqual([...Array(10).fill(401), 429]); // the login before was no failure
  });

  test('by a stranger locks nobody out of a new browser at another address', async () => {
    await using limited = await createApi({ sharing: api, settings: BEHIND_A_PROXY });
    const victim = await makeMember(api, tenant, 'owner');
    for (const address of ['198.51.100.1', '2001:db8:1:2::1']) {
      const guesses = [];
      for (let count = 0; count < 11; count++)
        guesses.push((await tryFrom(limited, address, victim.email, 'guess')).status);
      expect(guesses).toEqual([...Array(10).fill(401), 429]);
    }
    expect((await tryFrom(limited, '2001:db8:1:2:3::4', victim.email)).status).toBe(429); // the same /64
    expect((await tryFrom(limited, '198.51.100.2', victim.email)).status).toBe(200);
  });

  test('of the second factor counts as well, by someone who knows the password', async () => {
    await using limited = await createApi({ sharing: api, settings: BEHIND_A_PROXY });
    const victim = await makeMember(api, tenant, 'owner');
    const post = (path: string, body: object) => api.request('POST', path, { headers: victim.headers, body });
    const { secret } = (await post('/v1/me/totp', { password: PASSWORD })).body;
    await post('/v1/me/totp/confirm', { totp: totpCode(secret, totpStep(new Date())) });
    const tries = [];
    for (let count = 0; count < 12; count++) {
      const body = { email: victim.email, password: PASSWORD, totp: '12345x' };
      const headers = { 'X-Forwarded-For': '203.0.113.9' };
      tries.push((await limited.request('POST', '/v1/session', { body, headers })).status);
    }
    expect(tries).toEqual([...Array(10).fill(401), 429, 429]);
    expect((await tryFrom(limited, '203.0.113.10', victim.email)).body.code).toBe('totp-required');
  });

  test('counts failures, so that one person may log in any number of times', async () => {
    await using limited = await createApi({ sharing: api, settings: { ...BEHIND_A_PROXY, RATE_LOGIN_IP: '5' } });
    const person = await makeMember(api, tenant, 'agent');
    for (let count = 0; count < 12; count++)
      expect((await tryFrom(limited, '203.0.113.1', person.email)).status).toBe(200);
  });

  test('from many addresses is stopped after 200 failures, except in known browsers, until a mailed reset', async () => {
    await using limited = await createApi({ sharing: api, settings: { ...BEHIND_A_PROXY, RATE_LOGIN_ACCOUNT: '20' } });
    const victim = await makeMember(api, tenant, 'owner');
    const other = await makeMember(api, tenant, 'agent');
    const device = cookieOf((await me(victim.headers, limited)).headers.get('Set-Cookie') ?? '');
    const guesses = [];
    for (let count = 0; count < 24; count++)
      guesses.push((await tryFrom(limited, `198.51.100.${20 + count}`, victim.email, 'guess')).status);
    expect(guesses).toEqual([...Array(20).fill(401), ...Array(4).fill(429)]);
    expect((await tryFrom(limited, '203.0.113.2', victim.email)).status).toBe(429);
    expect((await tryFrom(limited, '203.0.113.2', victim.email, PASSWORD, device)).status).toBe(200);
    expect((await tryFrom(limited, '203.0.113.2', other.email)).status).toBe(200);

    for (let count = 0; count < 10; count++) await tryFrom(limited, '203.0.113.2', victim.email, 'guess');
    const token = 'another-link-that-was-mailed';
    const expires_at = new Date(Date.now() + 60_000);
    await insertLink(storageOf(api), { purpose: 'reset', token_hash: sha256(token), email: victim.email, expires_at });
    const reset = await limited.request('POST', `/v1/password-resets/${token}`, {
      headers: { 'X-Forwarded-For': '203.0.113.2' },
      body: { password: PASSWORD },
    });
    expect(reset.status).toBe(204);
    for (const address of ['203.0.113.2', '203.0.113.3'])
      expect((await tryFrom(limited, address, victim.email)).status).toBe(200);
  });

  test('by a stranger does not keep the owner from changing the password in a session', async () => {
    await using limited = await createApi({ sharing: api, settings: { RATE_LIMITS: 'on' } });
    const victim = await makeMember(api, tenant, 'owner');
    for (let count = 0; count < 11; count++) await logIn(limited, victim.email, 'guess');
    const change = (current_password: string) =>
      limited.request('PUT', '/v1/me/password', {
        headers: victim.headers,
        body: { current_password, new_password: 'another horse battery' },
      });
    for (let count = 0; count < 9; count++) expect((await change('guess')).status).toBe(401);
    expect((await change(PASSWORD)).status).toBe(204);
    expect((await change('guess')).status).toBe(429);
  });

  test('by a stranger does not block a password reset by link', async () => {
    await using limited = await createApi({ sharing: api, settings: { RATE_LIMITS: 'on' } });
    const victim = await makeMember(api, tenant, 'owner');
    for (let count = 0; count < 11; count++) await logIn(limited, victim.email, 'guess');
    const token = 'a-link-that-was-mailed';
    const expires_at = new Date(Date.now() + 60_000);
    await insertLink(storageOf(api), { purpose: 'reset', token_hash: sha256(token), email: victim.email, expires_at });
    const password = 'another horse battery';
    const reset = await limited.request('POST', `/v1/password-resets/${token}`, { body: { password } });
    expect(reset.status).toBe(204);
    const login = (headers: Record<string, string>) =>
      limited.request('POST', '/v1/session', { body: { email: victim.email, password }, headers });
    expect((await login({})).status).toBe(200); // the failures before no longer count
    for (let count = 0; count < 11; count++) await logIn(limited, victim.email, 'guess');
    expect((await login({})).status).toBe(429);
    expect((await login({ Cookie: cookieOf(reset.headers.get('Set-Cookie') ?? '') })).status).toBe(200);
  });

  test('by a stranger behind the same proxy does not lock out known browsers either', async () => {
    await using limited = await createApi({ settings: { RATE_LIMITS: 'on', RATE_LOGIN_IP: '3' } }); // has its own counters
    const person = await makeMember(limited, await makeTenant(limited), 'agent');
    const device = cookieOf((await me(person.headers, limited)).headers.get('Set-Cookie') ?? '');
    for (let count = 0; count < 4; count++) await logIn(limited, `sprayed-${count}@acme.example`, 'Spring2026!');
    expect((await logIn(limited, person.email)).status).toBe(429);
    const body = { email: person.email, password: PASSWORD };
    expect((await limited.request('POST', '/v1/session', { body, headers: { Cookie: device } })).status).toBe(200);
  });

  test('on many accounts with one password is stopped by address', async () => {
    await using limited = await createApi({ settings: { RATE_LIMITS: 'on', RATE_LOGIN_IP: '12' } }); // has its own counters
    const person = await makeMember(limited, await makeTenant(limited), 'agent');
    const tries = [];
    for (let count = 0; count < 14; count++)
      tries.push((await logIn(limited, `sprayed-${count}@acme.example`, 'Spring2026!')).status);
    expect(tries).toEqual([...Array(12).fill(401), 429, 429]);
    const blocked = await logIn(limited, person.email);
    expect(blocked.body.code).toBe('rate-limit-exceeded');
    expect(blocked.headers.get('RateLimit-Policy')).toBe('"login-ip";q=12;w=900');
    expect((await me(person.headers, limited)).status).toBe(200);
  });

  test('on invitations counts attempts on the invited account', async () => {
    await using limited = await createApi({ sharing: api, settings: { RATE_LIMITS: 'on' } });
    const owner = await makeMember(api, tenant, 'owner');
    const victim = await makeMember(api, await makeTenant(api, 'Other'), 'agent');
    const invited = await limited.request('POST', '/v1/members', {
      headers: owner.headers,
      body: { email: victim.email, role: 'agent' },
    });
    const path = `/v1/invitations/${invited.body.link.split('#token=')[1]}/accept`;
    const tries = [];
    for (let count = 0; count < 12; count++)
      tries.push((await limited.request('POST', path, { body: { name: 'x', password: 'a guessed password' } })).status);
    expect(tries).toEqual([...Array(10).fill(401), 429, 429]);
  });

  test('is rejected while fifty passwords wait to be compared, and accepted again afterwards', async () => {
    const person = await makeMember(api, tenant, 'agent');
    const flood = Array.from({ length: 70 }, () => verifyPassword('a guess', undefined));
    const refused = await logIn(api, person.email);
    expect(refused).toMatchObject({ status: 503, body: { code: 'service-overloaded' } });
    expect(refused.headers.has('Retry-After')).toBe(true);
    expect(passwordsWaiting()).toBeGreaterThanOrEqual(50); // it was refused at once
    await Promise.all(flood);
    expect((await logIn(api, person.email)).status).toBe(200);
  });

  test('is impossible while attempts cannot be counted: all logins are rejected', async () => {
    const person = await makeMember(api, tenant, 'agent');
    await api.database.query('alter table rate_counters rename to rate_counters_away');
    try {
      const reply = await logIn(api, person.email);
      expect(reply.body).toMatchObject({ status: 503, code: 'database-unavailable' });
      expect(reply.headers.get('Set-Cookie')).toBeNull();
    } finally {
      await api.database.query('alter table rate_counters_away rename to rate_counters');
    }
    expect((await logIn(api, person.email)).status).toBe(200);
  });
});
