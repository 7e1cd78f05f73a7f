import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPasswordReset } from '../../src/commands/password-resets.ts';
import { makeSetupLink } from '../../src/commands/setup.ts';
import { createLog } from '../../src/platform/log.ts';
import { totpCode, totpStep } from '../../src/platform/totp.ts';
import { createApi, type TestApi, waitFor } from '../support/api.ts';
import { createMailServer, startMailing, tokenInLetter } from '../support/mail.ts';
import { makeTenant, storageOf, type TestTenant } from '../support/make.ts';
import { headersOf, logIn, makeMember, openSession, PASSWORD, type TestPerson } from '../support/person.ts';
import { noTerminal } from '../support/process.ts';

let api: TestApi;
let tenant: TestTenant;
beforeAll(async () => {
  api = await createApi();
  tenant = await makeTenant(api);
});
afterAll(() => api[Symbol.asyncDispose]());

const tokenIn = (link: string | undefined) => link?.split('#token=')[1] as string;

describe('the first run', () => {
  const link = (of: TestApi) => makeSetupLink(storageOf(of), of.config, new Date());
  const setUp = (of: TestApi, token: string, more: object = {}) =>
    of.request('POST', '/v1/setup', {
      body: { token, tenant_name: 'Acme', name: 'Ada', email: 'ada@acme.example', password: PASSWORD, ...more },
    });

  test('creates the owner and the first tenant, logged in, by a single-use link', async () => {
    await using fresh = await createApi();
    const [earlier, current] = [await link(fresh), await link(fresh)];
    expect(current).toMatch(/^https:\/\/parley\.test\/dashboard\/setup#token=[\w-]{43}$/);
    expect((await setUp(fresh, tokenIn(earlier))).body).toMatchObject({ status: 404, code: 'link-not-valid' });
    expect((await setUp(fresh, tokenIn(current), { password: 'short' })).status).toBe(422);
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, index) => setUp(fresh, tokenIn(current), { email: `ada-${index}@acme.example` })),
    );
    const made = replies.filter(({ status }) => status === 201);
    expect(made).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 404)).toHaveLength(9);
    const [{ body }] = made as [(typeof replies)[number]];
    expect(body.member.memberships).toEqual([
      {
        tenant: { id: expect.stringMatching(/^tenant_/), name: 'Acme', demo: false },
        member_id: expect.any(String),
        role: 'owner',
      },
    ]);
    const headers = headersOf(made[0] as (typeof replies)[number], body.member.memberships[0].tenant.id);
    expect((await fresh.request('GET', '/v1/tenant', { headers })).body).toMatchObject({
      name: 'Acme',
      timezone: 'UTC',
    });
    expect(await link(fresh)).toBeUndefined();
    expect(await fresh.database.query('select from tenants')).toHaveLength(1);
  });

  test('ends once a tenant has an owner, however old its link is', async () => {
    await using fresh = await createApi();
    const token = tokenIn(await link(fresh));
    await makeMember(fresh, await makeTenant(fresh), 'owner');
    expect((await setUp(fresh, token)).body.code).toBe('link-not-valid');
  });

  test('rejects an expired link', async () => {
    await using fresh = await createApi();
    const token = tokenIn(await link(fresh));
    await fresh.database.query('update account_links set expires_at = now()');
    expect((await setUp(fresh, token)).body.code).toBe('link-not-valid');
    expect(await fresh.database.query('select from accounts')).toEqual([]);
  });
});

describe('a password', () => {
  const change = (person: TestPerson, current_password: string, new_password = 'another long password') =>
    api.request('PUT', '/v1/me/password', { headers: person.headers, body: { current_password, new_password } });

  test('is changed with the old one, which ends the other sessions', async () => {
    const person = await makeMember(api, tenant, 'agent');
    const other = await openSession(api, person.accountId);
    expect((await change(person, 'wrong password')).body).toMatchObject({ status: 401, code: 'login-failed' });
    expect((await change(person, PASSWORD, 'short')).status).toBe(422);
    expect((await api.request('GET', '/v1/me', { headers: other })).status).toBe(200);
    expect((await change(person, PASSWORD)).status).toBe(204);
    expect((await api.request('GET', '/v1/me', { headers: other })).status).toBe(401);
    expect((await api.request('GET', '/v1/me', { headers: person.headers })).status).toBe(200);
    expect((await logIn(api, person.email)).status).toBe(401);
    expect((await logIn(api, person.email, 'another long password')).status).toBe(200);
  });

  test('is reset once by a link from the command line, which ends all sessions', async () => {
    const person = await makeMember(api, tenant, 'agent');
    const context = {
      ...api,
      storage: storageOf(api),
      log: createLog('silent', 'cli'),
      now: new Date(),
      ...noTerminal,
    };
    const made = await createPasswordReset(context, { email: person.email });
    const token = tokenIn(made.link);
    const reset = (password: string) => api.request('POST', `/v1/password-resets/${token}`, { body: { password } });
    expect((await reset('short')).status).toBe(422);
    expect((await reset('a password that is new')).status).toBe(204);
    expect((await reset('and another one again')).body).toMatchObject({ status: 404, code: 'link-not-valid' });
    expect((await api.request('GET', '/v1/me', { headers: person.headers })).status).toBe(401);
    expect((await logIn(api, person.email, 'a password that is new')).status).toBe(200);
    await expect(createPasswordReset(context, { email: 'nobody@acme.example' })).rejects.toThrow(
      /no account has this address/,
    );
  });

  test('reset requests over HTTP get the same reply for every address', async () => {
    const person = await makeMember(api, tenant, 'agent');
    const ask = (email: string) => api.request('POST', '/v1/password-resets', { body: { email } });
    expect(await ask(person.email)).toMatchObject({ status: 202, body: {} });
    expect(await ask('nobody@acme.example')).toMatchObject({ status: 202, body: {} });
  });
});

describe('with a mail server', () => {
  test('reset links are only mailed to the account, and invitations to the invitee', async () => {
    await using mails = await createMailServer();
    const settings = { SMTP_URL: mails.url, MAIL_FROM: 'Parley <parley@acme.example>' };
    await using mailing = await createApi({ sharing: api, settings });
    await using _ = startMailing(mailing);
    expect((await mailing.request('GET', '/v1/login-options')).body.password_reset_by_mail).toBe(true);
    const person = await makeMember(api, tenant, 'owner');
    for (const email of ['nobody@acme.example', person.email])
      expect((await mailing.request('POST', '/v1/password-resets', { body: { email } })).status).toBe(202);
    await waitFor(() => mails.letters.length === 1);
    expect(mails.letters[0]).toContain(`To: ${person.email}`);
    const reset = await api.request('POST', `/v1/password-resets/${tokenInLetter(mails.letters[0])}`, {
      body: { password: 'a new long password' },
    });
    expect(reset.status).toBe(204);
    const inviter = await makeMember(api, tenant, 'owner');
    const body = { email: 'invited@acme.example', role: 'agent' };
    const invited = await mailing.request('POST', '/v1/members', { headers: inviter.headers, body });
    await waitFor(() => mails.letters.length === 2);
    expect(mails.letters[1]).toContain('To: invited@acme.example');
    expect(invited.body.mail).toBe('queued');
    const mailed = tokenInLetter(mails.letters[1]);
    expect(invited.body.link).not.toContain(mailed); // or the inviter could prove the address
    const notice = await api.request('GET', `/v1/invitations/${mailed}`);
    expect(notice.body).toMatchObject({ email: 'invited@acme.example', account_exists: false });
  });

  test('that is down, an invitation still returns its link, and the reply to a reset is the same', async () => {
    const settings = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'parley@acme.example' };
    await using mailing = await createApi({ sharing: api, settings });
    const person = await makeMember(api, tenant, 'owner');
    const body = { email: 'away@acme.example', role: 'agent' };
    const invited = await mailing.request('POST', '/v1/members', { headers: person.headers, body });
    expect(invited).toMatchObject({ status: 201, body: { link: expect.stringContaining('#token=') } });
    const reset = await mailing.request('POST', '/v1/password-resets', { body: { email: person.email } });
    expect(reset.status).toBe(202);
  });
});

describe('an authenticator', () => {
  const post = (path: string, person: TestPerson, body: object) =>
    api.request('POST', path, { headers: person.headers, body });
  const codeOf = (secret: string, steps = 0) => totpCode(secret, totpStep(new Date()) + steps);

  async function enrol(person: TestPerson) {
    const enrolled = await post('/v1/me/totp', person, { password: PASSWORD });
    const { secret } = enrolled.body;
    const confirmed = await post('/v1/me/totp/confirm', person, { totp: codeOf(secret, -1) });
    return { secret, recovery: confirmed.body.recovery_codes as string[] };
  }

  test('is required at login once it is confirmed, and each code works once', async () => {
    const person = await makeMember(api, tenant, 'owner');
    expect((await post('/v1/me/totp', person, { password: 'wrong' })).body.code).toBe('login-failed');
    const enrolled = await post('/v1/me/totp', person, { password: PASSWORD });
    expect(enrolled.body.uri).toContain(`secret=${enrolled.body.secret}`);
    expect((await logIn(api, person.email)).status).toBe(200);
    expect((await post('/v1/me/totp/confirm', person, { totp: '000000x' })).body.code).toBe('login-failed');
    const confirmed = await post('/v1/me/totp/confirm', person, { totp: codeOf(enrolled.body.secret, -1) });
    expect(confirmed.body.recovery_codes).toHaveLength(10);
    expect((await post('/v1/me/totp', person, { password: PASSWORD })).body.code).toBe('totp-active');

    expect((await logIn(api, person.email)).body).toMatchObject({ status: 401, code: 'totp-required' });
    expect((await logIn(api, person.email, 'wrong password')).body.code).toBe('login-failed');
    const totp = codeOf(enrolled.body.secret);
    const replies = await Promise.all([1, 2, 3].map(() => logIn(api, person.email, PASSWORD, { totp })));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 401, 401]);
    const old = codeOf(enrolled.body.secret, -1);
    expect((await logIn(api, person.email, PASSWORD, { totp: old })).body.code).toBe('login-failed');
  });

  test('that is lost can be replaced by a recovery code, which works once', async () => {
    const person = await makeMember(api, tenant, 'owner');
    const { recovery } = await enrol(person);
    const [first = '', second = ''] = recovery;
    expect((await logIn(api, person.email, PASSWORD, { totp: first })).status).toBe(200);
    expect((await logIn(api, person.email, PASSWORD, { totp: first })).status).toBe(401);
    expect((await logIn(api, person.email, PASSWORD, { totp: ` ${second.toUpperCase()} ` })).status).toBe(200);
    expect((await post('/v1/me/totp/remove', person, { password: 'wrong' })).body.code).toBe('login-failed');
    expect((await post('/v1/me/totp/remove', person, { password: PASSWORD })).status).toBe(204);
    expect((await logIn(api, person.email)).status).toBe(200);
  });

  test('is stored encrypted, its recovery codes hashed', async () => {
    const person = await makeMember(api, tenant, 'owner');
    const { secret, recovery } = await enrol(person);
    const [row] = await api.database.query<{ row: string }>(
      'select accounts::text as row from accounts where id = $1',
      [person.accountId],
    );
    for (const text of [
      secret,
      Buffer.from(secret).toString('hex'),
      ...recovery,
      ...recovery.map(one => one.replace('-', '')),
    ])
      expect(row?.row).not.toContain(text);
  });

  test('cannot be confirmed before it is enrolled', async () => {
    const person = await makeMember(api, tenant, 'agent');
    expect((await post('/v1/me/totp/confirm', person, { totp: '123456' })).body.code).toBe('totp-inactive');
  });
});

test('a person changes their display name', async () => {
  const person = await makeMember(api, tenant, 'agent');
  const renamed = await api.request('PATCH', '/v1/me', { headers: person.headers, body: { name: 'Grace' } });
  expect(renamed.body).toMatchObject({ name: 'Grace', email: person.email });
  const faulty = await api.request('PATCH', '/v1/me', { headers: person.headers, body: { email: 'x@y.zz' } });
  expect(faulty.body.errors[0].pointer).toBe('/name');
});
