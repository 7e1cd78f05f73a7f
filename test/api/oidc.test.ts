import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { totpCode, totpStep } from '../../src/platform/totp.ts';
import { createApi, type TestApi, type TestReply } from '../support/api.ts';
import { makeTenant, type TestTenant } from '../support/make.ts';
import { createProvider, type TestProvider } from '../support/oidc.ts';
import { logIn as byPassword, cookieOf, makeMember, PASSWORD, type TestPerson } from '../support/person.ts';
import { freePort } from '../support/process.ts';

let api: TestApi;
let provider: TestProvider;
let tenant: TestTenant;
let person: TestPerson;
let count = 0;
beforeAll(async () => {
  provider = await createProvider('https://parley.test/v1/oidc/callback');
  api = await createApi({ settings: provider.settings });
});
beforeEach(async () => {
  tenant = await makeTenant(api);
  person = await makeMember(api, tenant, 'agent');
  provider.subject = { sub: `subject-${count++}`, email: person.email, email_verified: true, name: 'Grace Hopper' };
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

/** Starts a login. Returns the provider's URL and the browser's cookie. */
async function begin(query = '') {
  const reply = await api.request('GET', `/v1/oidc/login${query}`);
  expect(reply.status).toBe(302);
  return { url: reply.headers.get('Location') ?? '', cookie: cookieOf(reply.headers.get('Set-Cookie') ?? '') };
}

const finish = (query: string, cookie?: string): Promise<TestReply> =>
  api.request('GET', `/v1/oidc/callback?${query}`, cookie === undefined ? {} : { headers: { Cookie: cookie } });

/** Completes a login and returns its last reply. */
async function logIn(query = ''): Promise<TestReply> {
  const { url, cookie } = await begin(query);
  return finish(await provider.walk(url), cookie);
}

const sessionIn = (reply: TestReply): string =>
  cookieOf(reply.headers.getSetCookie().find(line => line.startsWith('__Host-parley_session=')) ?? '');
const whoIs = async (reply: TestReply) =>
  (await api.request('GET', '/v1/me', { headers: { Cookie: sessionIn(reply) } })).body;

const LINK_REQUIRED = '/dashboard/login?error=link-required';
const carriedIn = (reply: TestReply): string =>
  cookieOf(reply.headers.getSetCookie().find(line => line.startsWith('__Host-parley_oidc_link=')) ?? '');
const expectUnlinked = (reply: TestReply) => {
  expect([reply.status, reply.headers.get('Location')]).toEqual([302, LINK_REQUIRED]);
  expect(sessionIn(reply)).toBe('');
};

/** Sets up the authenticator of `person` and returns its secret. */
async function enrolTotp(): Promise<string> {
  const post = (path: string, body: object) => api.request('POST', path, { headers: person.headers, body });
  const { secret } = (await post('/v1/me/totp', { password: PASSWORD })).body;
  const confirmed = await post('/v1/me/totp/confirm', { totp: totpCode(secret, totpStep(new Date())) });
  expect(confirmed.status).toBe(200);
  return secret;
}

/** Logs in by password in the browser that returned from the provider. */
const logInWith = (cookie: string, email = person.email, body: object = {}) =>
  api.request('POST', '/v1/session', { body: { email, password: PASSWORD, ...body }, headers: { Cookie: cookie } });

/** Links the account of `person` to the provider's current subject. */
async function link(): Promise<void> {
  const reply = await logIn();
  expectUnlinked(reply);
  expect((await logInWith(carriedIn(reply))).status).toBe(200);
}

const expectRefused = (reply: TestReply, code: string) => {
  expect([reply.status, reply.headers.get('Location')]).toEqual([302, `/dashboard/login?error=${code}`]);
  expect(sessionIn(reply)).toBe('');
};

describe('a login by the identity provider', () => {
  test('is offered on the login page', async () => {
    const options = await api.request('GET', '/v1/login-options');
    expect(options.body.oidc).toEqual({ name: 'Single sign-on', login_url: '/v1/oidc/login' });
  });

  test('redirects with state, nonce and PKCE, and returns to the original page, logged in', async () => {
    const { url } = await begin('?return_to=/dashboard/inbox');
    const sent = new URL(url).searchParams;
    for (const name of ['state', 'nonce', 'code_challenge']) expect(sent.get(name)).toMatch(/^[\w-]{43}$/);
    expect(sent.get('code_challenge_method')).toBe('S256');
    await link();
    const reply = await logIn('?return_to=/dashboard/inbox');
    expect(reply.headers.get('Location')).toBe('/dashboard/inbox');
    expect((await whoIs(reply)).account).toMatchObject({ email: person.email });
  });

  test('in two tabs at once succeeds in both, each of which returns to its own page with its query', async () => {
    await link();
    const first = await begin('?return_to=/dashboard/inbox');
    const path = '/dashboard/people?q=ada+lovelace%26co&sort=-seen';
    const second = await api.request('GET', `/v1/oidc/login?return_to=${encodeURIComponent(path)}`, {
      headers: { Cookie: first.cookie },
    });
    const both = cookieOf(second.headers.get('Set-Cookie') ?? '');
    const done = await finish(await provider.walk(first.url), both);
    expect(done.headers.get('Location')).toBe('/dashboard/inbox');
    const left = cookieOf(done.headers.getSetCookie().find(line => line.startsWith('__Host-parley_oidc=')) ?? '');
    const query = await provider.walk(second.headers.get('Location') ?? '');
    const last = await finish(query, left);
    expect(last.headers.get('Location')).toBe(path);
    expect(last.headers.getSetCookie()).toContainEqual(expect.stringMatching(/^__Host-parley_oidc=; .*Max-Age=0/));
    expectRefused(await finish(await provider.walk(first.url), left), 'state-mismatch');
  });

  test("identifies the person by the provider's subject, even if the address changes", async () => {
    await link();
    provider.subject = { sub: provider.subject.sub, email: 'moved@acme.example', email_verified: true };
    expect((await whoIs(await logIn())).account.email).toBe(person.email);
  });

  test('does not open an existing account until its owner has logged in by password', async () => {
    const factor = await enrolTotp();
    const code = () => totpCode(factor, totpStep(new Date()) + 1); // the current code was used to confirm it
    const first = await logIn();
    expectUnlinked(first);
    expect((await api.request('GET', '/v1/me', { headers: person.headers })).status).toBe(200);
    expect((await byPassword(api, person.email)).body.code).toBe('totp-required');
    expectUnlinked(await logIn());

    const carried = carriedIn(first);
    expect((await logInWith(carried, person.email, { password: 'guess' })).body.code).toBe('login-failed');
    expect((await logInWith(carried)).body.code).toBe('totp-required');
    expectUnlinked(await logIn());
    const linked = await logInWith(carried, person.email, { totp: code() });
    expect(linked.status).toBe(200);
    expect(linked.headers.getSetCookie().at(-1)).toMatch(/^__Host-parley_oidc_link=; Path=\/; Max-Age=0;/);
    expect((await whoIs(await logIn())).account).toMatchObject({ email: person.email, totp_enabled: true });
    expect((await byPassword(api, person.email)).body.code).toBe('totp-required');
    expect((await api.request('GET', '/v1/me', { headers: person.headers })).status).toBe(200);
    const [line] = await api.database.query(
      `select count(*)::int as lines from audit_log where tenant_id = $1 and action = 'account.updated'`,
      [tenant.uuid],
    );
    expect(line).toEqual({ lines: 1 });
  });

  test('is only linked to the account of its own address, in the browser that came from the provider', async () => {
    const other = await makeMember(api, tenant, 'agent');
    const carried = carriedIn(await logIn());
    expect((await logInWith(carried, other.email)).status).toBe(200);
    expect((await byPassword(api, person.email)).status).toBe(200);
    expect((await logInWith(`${carried}x`)).status).toBe(200);
    expect((await logInWith('__Host-parley_oidc_link=made-up')).status).toBe(200);
    expectUnlinked(await logIn());
  });

  test('with an invitation does not open an existing account either', async () => {
    const elsewhere = await makeTenant(api, 'Elsewhere');
    const owner = await makeMember(api, elsewhere, 'owner');
    const made = await api.request('POST', '/v1/members', {
      headers: owner.headers,
      body: { email: person.email, role: 'agent' },
    });
    const token = made.body.link.split('#token=')[1];
    const reply = await logIn(`?invitation=${token}`);
    expectUnlinked(reply);
    await logInWith(carriedIn(reply));
    const who = await whoIs(await logIn(`?invitation=${token}`));
    expect(who.account.memberships).toHaveLength(2);
  });

  test('started by a page of another site ends at the login page', async () => {
    for (const site of ['cross-site', 'same-site']) {
      const reply = await api.request('GET', '/v1/oidc/login', { headers: { 'Sec-Fetch-Site': site } });
      expect([reply.status, reply.headers.get('Location')]).toEqual([302, '/dashboard/login']);
      expect(reply.headers.getSetCookie()).toEqual([]);
    }
    for (const site of ['same-origin', 'none']) {
      const reply = await api.request('GET', '/v1/oidc/login', { headers: { 'Sec-Fetch-Site': site } });
      expect(reply.headers.get('Location')).toContain(provider.settings.OIDC_ISSUER);
    }
  });

  test('is rejected for an unknown address, or one that the provider has not verified', async () => {
    const { sub } = provider.subject;
    provider.subject = { sub, email: person.email, email_verified: false };
    expectRefused(await logIn(), 'email-unverified');
    provider.subject = { sub, email: 'stranger@acme.example', email_verified: true };
    expectRefused(await logIn(), 'not-invited');
    provider.subject = { sub };
    expectRefused(await logIn(), 'email-missing');
  });

  test('accepts the invitation that it started with, only for its own address', async () => {
    const owner = await makeMember(api, tenant, 'owner');
    const invite = async (email: string) => {
      const made = await api.request('POST', '/v1/members', {
        headers: owner.headers,
        body: { email, role: 'analyst' },
      });
      return made.body.link.split('#token=')[1] as string;
    };
    const email = `new-${count}@acme.example`;
    const [own, foreign] = [await invite(email), await invite('somebody-else@acme.example')];
    provider.subject = { sub: `new-${count}`, email, email_verified: true, name: 'Grace Hopper' };
    expectRefused(await logIn(`?invitation=${foreign}`), 'email-mismatch');
    const who = await whoIs(await logIn(`?invitation=${own}`));
    expect(who.account).toMatchObject({ email, name: 'Grace Hopper', memberships: [{ role: 'analyst' }] });
    expect((await whoIs(await logIn())).account.email).toBe(email);
  });
});

describe('the callback', () => {
  test('without the cookie, or with that of another browser, is rejected', async () => {
    await link();
    const [first, second] = [await begin(), await begin()];
    const query = await provider.walk(first.url);
    expectRefused(await finish(query), 'state-mismatch');
    expectRefused(await finish(query, '__Host-parley_oidc=made-up'), 'state-mismatch');
    expectRefused(await finish(query, second.cookie), 'state-mismatch');
    expect((await finish(query, first.cookie)).headers.get('Location')).toBe('/dashboard/');
  });

  test('with another state, another issuer, no code or a used code is rejected', async () => {
    const changed = async (change: (query: URLSearchParams) => void) => {
      const { url, cookie } = await begin();
      const query = new URLSearchParams(await provider.walk(url));
      change(query);
      return finish(query.toString(), cookie);
    };
    expectRefused(await changed(query => query.set('state', 'x'.repeat(43))), 'state-mismatch');
    expectRefused(await changed(query => query.delete('state')), 'state-mismatch');
    expectRefused(await changed(query => query.set('iss', 'https://evil.example')), 'provider-refused');
    expectRefused(await changed(query => query.set('code', 'made-up')), 'provider-refused');
    expectRefused(await changed(query => query.delete('code')), 'provider-refused');
    const { url, cookie } = await begin();
    const query = await provider.walk(url);
    await finish(query, cookie);
    expectRefused(await finish(query, cookie), 'provider-refused');
    expectRefused(await finish('error=access_denied&state=x', cookie), 'state-mismatch');
    const state = new URLSearchParams(query).get('state');
    expectRefused(await finish(`error=access_denied&state=${state}`, (await begin()).cookie), 'state-mismatch');
    expectRefused(await finish(`error=access_denied&state=${state}`, cookie), 'provider-refused');
  });

  test.each(['nonce', 'code_challenge'])('for another %s than the sent one is rejected', async name => {
    const { url, cookie } = await begin();
    const sent = new URL(url);
    sent.searchParams.set(name, 'x'.repeat(43));
    expectRefused(await finish(await provider.walk(sent.href), cookie), 'provider-refused');
  });

  test('never redirects to another site', async () => {
    await link();
    for (const path of ['https://evil.example', '//evil.example', '/dashboard/../..//evil', '/v1/me', 'dashboard/'])
      expect((await logIn(`?return_to=${encodeURIComponent(path)}`)).headers.get('Location')).toBe('/dashboard/');
  });
});

test('without a provider, or with an unavailable one, the login page shows why; it is asked again', async () => {
  await using none = await createApi({ sharing: api });
  expectRefused(await none.request('GET', '/v1/oidc/login'), 'resource-not-found');
  expect((await none.request('GET', '/v1/login-options')).body.oidc).toBeNull();
  const port = await freePort();
  const settings = { ...provider.settings, OIDC_ISSUER: `http://127.0.0.1:${port}` };
  await using late = await createApi({ sharing: api, settings });
  expectRefused(await late.request('GET', '/v1/oidc/login'), 'provider-unavailable');
  await using _ = await createProvider('https://parley.test/v1/oidc/callback', { port });
  expect((await late.request('GET', '/v1/oidc/login')).headers.get('Location')).toContain(settings.OIDC_ISSUER);
});
