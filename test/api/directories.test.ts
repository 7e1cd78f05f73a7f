import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createApi, type TestApi, type TestReply } from '../support/api.ts';
import { DIRECTORIES, type Directory } from '../support/directories.ts';
import { makeTenant, type TestTenant } from '../support/make.ts';
import { createProvider, type ProviderOptions, type TestProvider } from '../support/oidc.ts';
import { cookieOf, makeMember, type TestPerson } from '../support/person.ts';

const CALLBACK = 'https://parley.test/v1/oidc/callback';

interface Installation extends AsyncDisposable {
  api: TestApi;
  provider: TestProvider;
  lines: Record<string, unknown>[];
}

let shared: Installation;
let owner: TestPerson;
let tenant: TestTenant;
let count = 0;
beforeAll(async () => {
  shared = await install();
  tenant = await makeTenant(shared.api);
  owner = await makeMember(shared.api, tenant, 'owner');
});
beforeEach(() => {
  shared.provider.userinfo = undefined;
  shared.provider.interceptions.clear();
  shared.lines.length = 0;
  count++;
});
afterAll(() => shared[Symbol.asyncDispose]());

/** An API with a provider of its own. */
async function install(settings: Record<string, string> = {}, options: ProviderOptions = {}): Promise<Installation> {
  const provider = await createProvider(CALLBACK, options);
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'warn' }, { write: line => void lines.push(JSON.parse(line)) });
  const api = await createApi({
    settings: { ...provider.settings, ...settings },
    log,
    ...(shared ? { sharing: shared.api } : {}),
  });
  const close = async () => {
    await api[Symbol.asyncDispose]();
    await provider[Symbol.asyncDispose]();
  };
  return { api, provider, lines, [Symbol.asyncDispose]: close };
}

const address = () => `person-${count}@acme.example`;

/** Logs in through the provider with an invitation. `more` is added to the query of the callback. */
async function logIn({ api, provider }: Installation, more = '', email = address()): Promise<TestReply> {
  const invited = await api.request('POST', '/v1/members', {
    headers: owner.headers,
    body: { email, role: 'agent' },
  });
  const begun = await api.request('GET', `/v1/oidc/login?invitation=${invited.body.link.split('#token=')[1]}`);
  const query = await provider.walk(begun.headers.get('Location') ?? '');
  const cookie = cookieOf(begun.headers.get('Set-Cookie') ?? '');
  return api.request('GET', `/v1/oidc/callback?${query}${more}`, { headers: { Cookie: cookie } });
}

/** Returns `in`, or the code that the login page gets. */
const outcomeOf = ({ headers }: TestReply): string =>
  headers.get('Location') === '/dashboard/' ? 'in' : (headers.get('Location')?.split('error=')[1] ?? '');

/** Shows the claims of a directory in the two ways that providers send them. */
function show({ provider }: Installation, { idToken, userinfo }: Pick<Directory, 'idToken' | 'userinfo'>): void {
  provider.subject = { ...idToken(address()), sub: `subject-${count}` };
  provider.userinfo = userinfo?.(address());
}

describe('an invited person of', () => {
  let trusting: Installation;
  beforeAll(async () => {
    trusting = await install({ OIDC_TRUST_EMAIL: 'issuer' });
  });
  afterAll(() => trusting[Symbol.asyncDispose]());

  test.each(Object.entries(DIRECTORIES))('%s', async (_, directory) => {
    const outcomes: string[] = [];
    for (const installation of [shared, trusting]) {
      show(installation, directory);
      outcomes.push(outcomeOf(await logIn(installation, directory.callback)));
      count++;
    }
    expect(outcomes).toEqual(directory.outcomes);
  });

  test.each([
    ['upn', (email: string) => ({ upn: email }), 'in'],
    ['upn', (email: string) => ({ upn: email, email: 'other@acme.example', email_verified: false }), 'in'],
    ['upn', (email: string) => ({ upn: email, email_verified: false }), 'email-unverified'],
    ['upn', (email: string) => ({ email }), 'email-missing'],
    ['emails', (email: string) => ({ emails: [email] }), 'in'],
  ])('a directory with OIDC_EMAIL_CLAIM=%s: %s', async (claim, idToken, outcome) => {
    await using other = await install({ OIDC_TRUST_EMAIL: 'issuer', OIDC_EMAIL_CLAIM: claim });
    show(other, { idToken });
    expect(outcomeOf(await logIn(other))).toBe(outcome);
  });

  test('a provider with another claim than email, which its flag is not about', async () => {
    await using other = await install({ OIDC_EMAIL_CLAIM: 'upn' });
    show(other, { idToken: upn => ({ upn, email: 'other@acme.example', email_verified: true }) });
    expect(outcomeOf(await logIn(other))).toBe('email-unverified');
  });
});

describe('a new account', () => {
  test.each([
    ['ivan@xn--e1afmkfd.xn--p1ai', 'a domain in another script'],
    ['r&d@acme.example', 'an ampersand'],
    ['ada_example.com#EXT#@acme.onmicrosoft.com', 'the name of a guest of Microsoft Entra ID'],
    ["o'brien+parley@acme.example", 'an apostrophe and a plus sign'],
  ])('can have the address %s: %s', async email => {
    shared.provider.subject = { sub: `subject-${count}`, email, email_verified: true };
    expect(outcomeOf(await logIn(shared, '', email))).toBe('in');
  });

  test.each([
    [{ name: 'Grace\u0000 Hopper' }, 'Grace Hopper'],
    [{ name: `${'x'.repeat(119)}😀y` }, `${'x'.repeat(119)}😀`],
    [{ given_name: 'Grace', family_name: 'Hopper' }, 'Grace Hopper'],
    [{ name: ' ', given_name: 'Grace' }, 'Grace'],
    [{}, ''],
  ])('has a name from the claims %j', async (claims, name) => {
    show(shared, { idToken: email => ({ email, email_verified: true, ...claims }) });
    expect(outcomeOf(await logIn(shared))).toBe('in');
    expect(await shared.api.database.query('select name from accounts where email = $1', [address()])).toEqual([
      { name },
    ]);
  });
});

const VERIFIED = { idToken: (email: string) => ({ email, email_verified: true }) };
const THIN = { idToken: () => ({}), userinfo: (email: string) => ({ email, email_verified: true }) };

describe('a refusal', () => {
  test('is in the log with its reason, and in the metric', async () => {
    show(shared, { idToken: email => ({ email, name: 'Grace' }) });
    expect(outcomeOf(await logIn(shared))).toBe('email-unverified');
    expect(shared.lines).toMatchObject([{ code: 'email-unverified', request_id: expect.any(String) }]);
    expect(shared.lines[0]?.reason).toMatch(/does not state that the address is verified.* email, name/);
    expect(JSON.stringify(shared.lines)).not.toContain(address());
    const { body } = await shared.api.request('GET', '/problems/email-unverified');
    expect(body).toContain('OIDC_TRUST_EMAIL=issuer');
    const metrics = await shared.api.metrics.render();
    expect(metrics).toMatch(/parley_logins_total\{method="oidc",outcome="email-unverified"\} [1-9]/);
    expect(metrics).toMatch(/parley_logins_total\{method="oidc",outcome="ok"\} [1-9]/);
  });

  const status =
    (code: number, body = '') =>
    (path: string) =>
    () =>
      shared.provider.interceptions.set(path, (_, response) => response.writeHead(code).end(body));
  const REPLIES = {
    'an outage of the token endpoint': [status(502, '<html>')('/token'), 'provider-unavailable', 'HTTP 502'],
    'a closed connection': [
      () => shared.provider.interceptions.set('/token', request => request.socket.destroy()),
      'provider-unavailable',
      'fetch failed',
    ],
    'an outage of userinfo': [status(503)('/me'), 'provider-unavailable', 'HTTP 503'],
    'userinfo that refuses the token': [status(403)('/me'), 'provider-refused', 'HTTP 403'],
    'a page instead of tokens': [status(200, '<html>')('/token'), 'provider-refused', 'content-type'],
  } as const;
  test.each(Object.entries(REPLIES))('after %s names the cause', async (_, [arrange, code, reason]) => {
    show(shared, THIN);
    arrange();
    expect(outcomeOf(await logIn(shared))).toBe(code);
    expect(shared.lines[0]?.reason).toContain(reason);
  });

  test('by the provider is logged with its words', async () => {
    await using wrong = await install({ OIDC_CLIENT_SECRET: 'another one' });
    show(wrong, VERIFIED);
    expect(outcomeOf(await logIn(wrong))).toBe('provider-refused');
    expect(wrong.lines[0]?.reason).toContain('client authentication failed');
  });

  test('follows userinfo of another subject, which is ignored', async () => {
    show(shared, THIN);
    const claims = { sub: 'somebody-else', email: address(), email_verified: true };
    shared.provider.interceptions.set('/me', (_, response) =>
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify(claims)),
    );
    expect(outcomeOf(await logIn(shared))).toBe('email-missing');
  });
});

describe('a login succeeds', () => {
  const CLIENTS: Record<string, NonNullable<ProviderOptions['client']>> = {
    'that accepts the secret only in the header': { token_endpoint_auth_method: 'client_secret_basic' },
    'that accepts the secret only in the body': { token_endpoint_auth_method: 'client_secret_post' },
    'that signs ID tokens with the secret': { id_token_signed_response_alg: 'HS256' },
    'that signs ID tokens with RSA-PSS': { id_token_signed_response_alg: 'PS256' },
    'that signs ID tokens with an elliptic curve': { id_token_signed_response_alg: 'ES256' },
    'that signs ID tokens with Ed25519': { id_token_signed_response_alg: 'EdDSA' },
  };
  test.each(Object.entries(CLIENTS))('at a provider %s', async (_, client) => {
    await using strict = await install({}, { client });
    const method = client.token_endpoint_auth_method;
    let refused = 0;
    strict.provider.interceptions.set('/token', (request, response) => {
      const isInHeader = request.headers.authorization !== undefined;
      const isAccepted = method === undefined || isInHeader === (method === 'client_secret_basic');
      if (isAccepted) return strict.provider.serve(request, response);
      refused++;
      response.writeHead(401, { 'Content-Type': 'application/json' }).end('{"error":"invalid_client"}');
    });
    for (let time = 1; time <= 2; time++) {
      count++;
      show(strict, VERIFIED);
      expect(outcomeOf(await logIn(strict))).toBe('in');
    }
    expect(refused).toBe(method === 'client_secret_basic' ? 1 : 0); // the method that worked is used from then on
  });

  test('at a provider whose userinfo is a signed JWT', async () => {
    await using signing = await install({}, { client: { userinfo_signed_response_alg: 'RS256' } });
    show(signing, THIN);
    expect(outcomeOf(await logIn(signing))).toBe('in');
  });

  test('at a provider whose token endpoint moves, ten minutes later at the latest', async () => {
    await using provider = await createProvider(CALLBACK);
    let passedMs = 0;
    const now = () => new Date(Date.now() + passedMs);
    await using api = await createApi({ sharing: shared.api, settings: provider.settings, now });
    const installation = { api, provider, lines: [], [Symbol.asyncDispose]: async () => undefined };
    show(installation, VERIFIED);
    expect(outcomeOf(await logIn(installation))).toBe('in');
    const found = await fetch(`${provider.settings.OIDC_ISSUER}/.well-known/openid-configuration`);
    const metadata = (await found.json()) as object;
    const moved = JSON.stringify({ ...metadata, token_endpoint: `${provider.settings.OIDC_ISSUER}/moved` });
    provider.interceptions.set('/.well-known/openid-configuration', (_, response) =>
      response.setHeader('Content-Type', 'application/json').end(moved),
    );
    provider.interceptions.set('/token', (_, response) => response.writeHead(404).end());
    provider.interceptions.set('/moved', (request, response) => {
      request.url = '/token';
      provider.serve(request, response);
    });
    count++;
    show(installation, VERIFIED);
    expect(outcomeOf(await logIn(installation))).toBe('provider-refused');
    passedMs = 10 * 60_000;
    expect(outcomeOf(await logIn(installation))).toBe('in');
  });

  test.each([
    ['/application/o/parley/', (issuer: string) => issuer.slice(0, -1)],
    ['/application/o/parley/', (issuer: string) => `${issuer}.well-known/openid-configuration`],
    ['/realms/acme', (issuer: string) => `${issuer}/`],
    ['', (issuer: string) => `${issuer}/`],
  ])('for the issuer %s, however OIDC_ISSUER writes its end', async (path, write) => {
    await using provider = await createProvider(CALLBACK, { path });
    const issuer = provider.settings.OIDC_ISSUER ?? '';
    await using api = await createApi({
      sharing: shared.api,
      settings: { ...provider.settings, OIDC_ISSUER: write(issuer) },
    });
    const installation = { api, provider, lines: [], [Symbol.asyncDispose]: async () => undefined };
    show(installation, VERIFIED);
    expect(outcomeOf(await logIn(installation))).toBe('in');
    expect(
      await api.database.query('select issuer from account_subjects where subject = $1', [`subject-${count}`]),
    ).toEqual([{ issuer }]);
  });

  test('in each of several tabs, and for 15 colleagues behind one address within a minute', async () => {
    await using limited = await install({ RATE_LIMITS: 'on' });
    const { api, provider } = limited;
    const member = await makeMember(api, tenant, 'agent');
    provider.subject = { sub: member.email, email: member.email, email_verified: true };
    const begin = (cookie = '') => api.request('GET', '/v1/oidc/login', cookie ? { headers: { Cookie: cookie } } : {});
    const first = await begin();
    const second = await begin(cookieOf(first.headers.get('Set-Cookie') ?? ''));
    const Cookie = cookieOf(second.headers.get('Set-Cookie') ?? '');
    for (const tab of [first, second]) {
      const query = await provider.walk(tab.headers.get('Location') ?? '');
      const reply = await api.request('GET', `/v1/oidc/callback?${query}`, { headers: { Cookie } });
      expect(outcomeOf(reply)).toBe('link-required');
    }
    const outcomes = new Set<string>();
    for (let colleague = 0; colleague < 15; colleague++) {
      const begun = await begin();
      const query = await provider.walk(begun.headers.get('Location') ?? '');
      const cookie = cookieOf(begun.headers.get('Set-Cookie') ?? '');
      outcomes.add(outcomeOf(await api.request('GET', `/v1/oidc/callback?${query}`, { headers: { Cookie: cookie } })));
    }
    expect([...outcomes]).toEqual(['link-required']);
  });
});

describe('an address that a browser opens', () => {
  test.each([
    '/v1/oidc/callback?utm_source=mail&code=1&code=2&state=3&%E9=%E9',
    '/v1/oidc/callback?error_description=%E9chec&error=access_denied',
    `/v1/oidc/callback?code=${'x'.repeat(9000)}`,
    '/v1/oidc/callback',
    '/v1/oidc/callback?response=jwt&id_token=x',
  ])('%s leads to the login page', async path => {
    const reply = await shared.api.request('GET', path);
    expect([reply.status, outcomeOf(reply), reply.body]).toEqual([302, 'state-mismatch', '']);
  });

  test.each([
    '/v1/oidc/login?utm_source=mail&iss=https://a.example&login_hint=b&return_to=/dashboard/a&return_to=/x&%E9',
    `/v1/oidc/login?invitation=${'x'.repeat(300)}`,
    '/v1/oidc/login?return_to=%00',
  ])('%s leads to the provider', async path => {
    const reply = await shared.api.request('GET', path);
    expect(reply.status).toBe(302);
    expect(reply.headers.get('Location')).toContain(shared.provider.settings.OIDC_ISSUER);
  });

  test('leads to the login page with POST too, which a provider sends with response_mode=form_post', async () => {
    const form = { raw: 'code=1&state=2', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } };
    const reply = await shared.api.request('POST', '/v1/oidc/callback', form);
    expect([reply.status, outcomeOf(reply)]).toEqual([302, 'method-not-allowed']);
    expect((await shared.api.request('DELETE', '/v1/oidc/callback')).status).toBe(405);
  });

  test('leads to the login page beyond its limit', async () => {
    await using limited = await createApi({
      sharing: shared.api,
      settings: { ...shared.provider.settings, RATE_LIMITS: 'on', RATE_OIDC_IP: '2', TRUSTED_PROXY_HOPS: '1' },
    });
    for (const path of ['/v1/oidc/login', '/v1/oidc/callback']) {
      const open = () => limited.request('GET', path, { headers: { 'X-Forwarded-For': '192.0.2.9' } });
      const outcomes = [];
      for (let time = 1; time <= 3; time++) outcomes.push(outcomeOf(await open()));
      expect(outcomes[2]).toBe('rate-limit-exceeded');
      expect(outcomes.slice(0, 2)).not.toContain('rate-limit-exceeded');
    }
  });

  test.each([
    '/docs?%E9',
    '/problems/not-invited?x=%E9',
    '/dashboard/login?x=%E9',
    '/dashboard/reset?utm_source=%E9&fbclid=1',
    '/dashboard/invitation?x=1&x=2',
  ])('%s is a page', async path => {
    const reply = await shared.api.request('GET', path, { headers: { Accept: 'text/html' } });
    expect(reply.headers.get('Content-Type')).toContain('text/html');
  });
});
