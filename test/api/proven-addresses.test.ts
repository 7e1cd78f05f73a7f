import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMember } from '../../src/commands/members.ts';
import { createPasswordReset } from '../../src/commands/password-resets.ts';
import { createLog } from '../../src/platform/log.ts';
import { totpCode, totpStep } from '../../src/platform/totp.ts';
import { createApi, type TestApi, type TestReply, waitFor } from '../support/api.ts';
import {
  createMailServer,
  type MailingWorker,
  startMailing,
  type TestMailServer,
  tokenInLetter,
} from '../support/mail.ts';
import { makeTenant, storageOf, type TestTenant } from '../support/make.ts';
import { createProvider, type TestProvider } from '../support/oidc.ts';
import { cookieOf, headersOf, logIn, makeMember, PASSWORD, type TestPerson } from '../support/person.ts';
import { noTerminal } from '../support/process.ts';

const SQUATTER = 'the password of a squatter';
const MAIL_FROM = 'Parley <parley@acme.example>';

let api: TestApi;
let mails: TestMailServer;
let mailing: MailingWorker;
let provider: TestProvider;
let tenant: TestTenant;
let owner: TestPerson;
beforeAll(async () => {
  mails = await createMailServer();
  provider = await createProvider('https://parley.test/v1/oidc/callback');
  api = await createApi({ settings: { ...provider.settings, SMTP_URL: mails.url, MAIL_FROM } });
  mailing = startMailing(api);
  tenant = await makeTenant(api);
  owner = await makeMember(api, tenant, 'owner');
});
afterAll(async () => {
  await mailing[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
  await mails[Symbol.asyncDispose]();
});

let count = 0;
const newAddress = () => `victim-${count++}@acme.example`;
const lettersTo = (email: string) => mails.letters.filter(letter => letter.includes(`To: ${email.toLowerCase()}`));

/** Invites a person, and returns the token that the reply shows and the one that is mailed. */
async function invite(email: string, by = owner, role = 'agent') {
  const earlier = lettersTo(email).length;
  const reply = await api.request('POST', '/v1/members', { headers: by.headers, body: { email, role } });
  expect(reply.status).toBe(201);
  const letters = await waitFor(() => lettersTo(email).length > earlier && lettersTo(email));
  return { shown: reply.body.link.split('#token=')[1] as string, mailed: tokenInLetter(letters.at(-1)) };
}
const accept = (token: string, body: object = {}) =>
  api.request('POST', `/v1/invitations/${token}/accept`, { body: { name: 'Grace', password: PASSWORD, ...body } });
const disown = (token: string, body: object = {}) => accept(token, { not_my_account: true, ...body });
const read = async (token: string) => (await api.request('GET', `/v1/invitations/${token}`)).body;
const provenAt = async (email: string) =>
  (
    await api.database.query<{ at: Date | null }>('select email_proven_at as at from accounts where email = $1', [
      email,
    ])
  )[0]?.at;
const statusOf = ({ status, body }: TestReply) => (status < 400 ? status : `${status} ${body.code}`);

const enrol = async (headers: Record<string, string>, password: string) => {
  const { secret } = (await api.request('POST', '/v1/me/totp', { headers, body: { password } })).body;
  const totp = totpCode(secret, totpStep(new Date()));
  expect((await api.request('POST', '/v1/me/totp/confirm', { headers, body: { totp } })).status).toBe(200);
  return (steps: number) => totpCode(secret, totpStep(new Date()) + steps);
};

/** A hostile admin accepts their own invitation of somebody else's address, and adds an authenticator. */
async function squat(email: string, role = 'agent') {
  const hostile = await makeTenant(api, 'Hostile');
  const admin = await makeMember(api, hostile, 'owner');
  const { shown } = await invite(email, admin, role);
  const accepted = await accept(shown, { password: SQUATTER });
  expect(accepted.status).toBe(200);
  const headers = headersOf(accepted, hostile.id);
  return { hostile, admin, headers, code: await enrol(headers, SQUATTER), memberId: memberIn(accepted, hostile) };
}
const memberIn = ({ body }: TestReply, of: TestTenant): string =>
  body.member.memberships.find((one: { tenant: { id: string } }) => one.tenant.id === of.id).member_id;

/** Resets a password by a mailed link. */
async function resetByMail(email: string, password: string): Promise<TestReply> {
  const earlier = lettersTo(email).length;
  await api.request('POST', '/v1/password-resets', { body: { email } });
  const letters = await waitFor(() => lettersTo(email).length > earlier && lettersTo(email));
  return api.request('POST', `/v1/password-resets/${tokenInLetter(letters.at(-1))}`, { body: { password } });
}

describe('an address that somebody else has taken', () => {
  test('is taken back by a mailed invitation: the other account is gone, and its tenants record it', async () => {
    const email = newAddress();
    const { hostile, admin, headers, code, memberId } = await squat(email);
    const as = await hostile.sign('user|42');
    const started = await api.request('POST', '/v1/conversations', { as, body: { message: 'Help' } });
    const path = `/v1/conversations/${started.body.id}`;
    const assignment = { headers: admin.headers, body: { assignee_id: memberId } };
    expect((await api.request('PATCH', path, assignment)).status).toBe(200);
    const { mailed } = await invite(email);
    expect(await read(mailed)).toMatchObject({ account_exists: true, not_my_account_allowed: true });
    expect(statusOf(await accept(mailed))).toBe('401 login-failed');

    const accepted = await disown(mailed);
    expect(accepted.body.member).toMatchObject({ email, name: 'Grace', totp_enabled: false });
    expect(accepted.body.member.memberships).toMatchObject([{ tenant: { id: tenant.id }, role: 'agent' }]);
    expect((await logIn(api, email)).status).toBe(200);
    expect(statusOf(await logIn(api, email, SQUATTER, { totp: code(1) }))).toBe('401 login-failed');
    expect(statusOf(await api.request('GET', '/v1/me', { headers }))).toBe('401 session-ended');
    expect(await provenAt(email)).toBeInstanceOf(Date);
    const members = await api.request('GET', '/v1/members', { headers: admin.headers });
    expect(members.body.data.map((one: { email: string }) => one.email)).toEqual([admin.email]);
    expect((await api.request('GET', path, { headers: admin.headers })).body.assignee_id).toBeNull();
    const log = await api.request('GET', '/v1/audit-log?action=member.removed', { headers: admin.headers });
    expect(log.body.data).toMatchObject([
      { actor: { type: 'system' }, target: { id: memberId, name: email }, fields: ['not_my_account'], ip: null },
    ]);
    const own = await api.request('GET', '/v1/audit-log?action=member.joined', { headers: owner.headers });
    expect(own.body.data[0].actor).toMatchObject({ id: memberIn(accepted, tenant), name: 'Grace' });
  });

  test('stays taken by the links that the inviter sees, and by every link once it is proven', async () => {
    const email = newAddress();
    await squat(email);
    const { shown, mailed } = await invite(email);
    expect(shown).not.toBe(mailed);
    expect(await read(shown)).toMatchObject({ account_exists: true, not_my_account_allowed: false });
    expect(statusOf(await disown(shown))).toBe('403 not-allowed');
    expect((await disown(mailed)).status).toBe(200);
    const other = await invite(email, await makeMember(api, await makeTenant(api, 'Other'), 'owner'));
    expect(await read(other.mailed)).toMatchObject({ account_exists: true, not_my_account_allowed: false });
    for (const token of [other.shown, other.mailed])
      expect(statusOf(await disown(token, { password: SQUATTER }))).toBe('403 not-allowed');
    expect((await accept(other.mailed)).body.member.memberships).toHaveLength(2);
  });

  test('is taken back from the only owner of a tenant, which continues without one', async () => {
    const email = newAddress();
    const { hostile, admin, headers } = await squat(email, 'owner');
    const agent = await makeMember(api, hostile, 'agent');
    const left = await api.request('DELETE', `/v1/members/${admin.memberId}`, { headers });
    expect(left.status).toBe(204);
    expect((await disown((await invite(email)).mailed)).status).toBe(200);
    const members = await api.request('GET', '/v1/members', { headers: agent.headers });
    expect(members.body.data.map((one: { role: string }) => one.role)).toEqual(['agent']);
    const readInput = async () => PASSWORD;
    const context = {
      ...api,
      storage: storageOf(api),
      log: createLog('silent', 'cli'),
      now: new Date(),
      ...noTerminal,
    };
    const options = { tenant: hostile.id, email: newAddress(), role: 'owner' };
    expect(await createMember({ ...context, readInput }, options)).toMatchObject({ role: 'owner' });
    expect(await provenAt(options.email)).toBeInstanceOf(Date);
  });

  test('by two invitations at once becomes one account', async () => {
    for (let round = 0; round < 5; round++) {
      const email = newAddress();
      await squat(email);
      const other = await makeMember(api, await makeTenant(api, 'Other'), 'owner');
      const tokens = [(await invite(email)).mailed, (await invite(email, other)).mailed];
      const statuses = (await Promise.all(tokens.map(token => disown(token)))).map(statusOf);
      expect(statuses.filter(status => status === 200)).toHaveLength(1);
      expect(['403 not-allowed', '409 member-exists']).toContain(statuses.find(status => status !== 200));
      expect(await api.database.query('select from accounts where email = $1', [email])).toHaveLength(1);
    }
  });

  test('while the squatter joins by the shown link stays with one of them, who can log in', async () => {
    for (let round = 0; round < 5; round++) {
      const email = newAddress();
      const { code } = await squat(email);
      const { shown, mailed } = await invite(email);
      const both = [disown(mailed), accept(shown, { password: SQUATTER, totp: code(1) })];
      const statuses = (await Promise.all(both)).map(statusOf);
      expect(statuses.filter(status => status === 200)).toHaveLength(1);
      const members = await api.database.query(
        'select from members left join accounts on accounts.id = account_id where accounts.id is null',
      );
      expect(members).toEqual([]);
    }
  });

  test('changes nothing for an incomplete request, a used or an expired link', async () => {
    const email = newAddress();
    const { headers } = await squat(email);
    const { mailed } = await invite(email);
    for (const [body, pointer] of [
      [{ not_my_account: true, password: PASSWORD }, '/name'],
      [{ not_my_account: true, name: 'Grace' }, '/password'],
      [{ not_my_account: 'yes', name: 'Grace', password: PASSWORD }, '/not_my_account'],
    ] as const) {
      const reply = await api.request('POST', `/v1/invitations/${mailed}/accept`, { body });
      expect([reply.status, reply.body.errors[0].pointer]).toEqual([422, pointer]);
    }
    await api.database.query('update invitations set expires_at = now() where email = $1', [email]);
    for (const token of [mailed, '', 'undefined', 'null']) expect((await disown(token)).status).toBe(404);
    expect((await api.request('GET', '/v1/me', { headers })).status).toBe(200);
    const again = await invite(email);
    expect(statusOf(await disown(mailed))).toBe('404 link-not-valid'); // replaced
    expect((await disown(again.mailed)).status).toBe(200);
    for (const token of [again.mailed, again.shown]) expect(statusOf(await disown(token))).toBe('404 link-not-valid');
  });

  test('in another case is the same one', async () => {
    const email = newAddress();
    await squat(email.toUpperCase());
    const { mailed } = await invite(email.replace('victim', 'Victim'));
    expect((await disown(mailed)).body.member.email).toBe(email);
  });
});

test('the mail of an invitation has no link but its own, whatever the names of tenant and inviter', async () => {
  const hostile = await makeTenant(api, 'Pay at https://evil.example/now or www.evil.example');
  const admin = await makeMember(api, hostile, 'owner');
  const name = 'ada@evil.example';
  expect((await api.request('PATCH', '/v1/me', { headers: admin.headers, body: { name } })).status).toBe(200);
  const email = newAddress();
  await invite(email, admin);
  const text = (lettersTo(email)[0] ?? '').replaceAll('=\n', '');
  expect(text).toContain('evil. example');
  expect(text).not.toMatch(/evil\.example|https?:\/\/(?!parley\.test)/);
});

describe('an address is proven', () => {
  test('by the mailed link of an invitation, not by the one that the inviter sees', async () => {
    const [byMail, byInviter, existing] = [newAddress(), newAddress(), newAddress()];
    expect((await accept((await invite(byMail)).mailed)).status).toBe(200);
    expect((await accept((await invite(byInviter)).shown)).status).toBe(200);
    expect(await provenAt(byMail)).toBeInstanceOf(Date);
    expect(await provenAt(byInviter)).toBeNull();
    const other = await makeMember(api, await makeTenant(api, 'Other'), 'owner');
    await accept((await invite(existing)).shown);
    const joined = await api.request('POST', `/v1/invitations/${(await invite(existing, other)).mailed}/accept`, {
      body: { password: PASSWORD },
    });
    expect(joined.body.member).toMatchObject({ name: 'Grace', email: existing });
    expect(await provenAt(existing)).toBeInstanceOf(Date);
  });

  test('by a mailed reset, which keeps the authenticator, and not by one of the command line', async () => {
    const [plain, guarded, byCommand] = [newAddress(), newAddress(), newAddress()];
    for (const email of [plain, byCommand]) await accept((await invite(email)).shown);
    expect((await resetByMail(plain, 'a new long password')).status).toBe(204);
    expect(await provenAt(plain)).toBeInstanceOf(Date);

    const context = {
      ...api,
      storage: storageOf(api),
      log: createLog('silent', 'cli'),
      now: new Date(),
      ...noTerminal,
    };
    const { link } = await createPasswordReset(context, { email: byCommand });
    const body = { password: 'a new long password' };
    expect((await api.request('POST', `/v1/password-resets/${link.split('=')[1]}`, { body })).status).toBe(204);
    expect(await provenAt(byCommand)).toBeNull();

    const { code } = await squat(guarded);
    expect((await resetByMail(guarded, 'a new long password')).status).toBe(204);
    expect(statusOf(await logIn(api, guarded, 'a new long password'))).toBe('401 totp-required');
    expect(await provenAt(guarded)).toBeNull(); // or its owner could never get rid of the authenticator
    expect((await logIn(api, guarded, 'a new long password', { totp: code(1) })).status).toBe(200);
    expect((await disown((await invite(guarded)).mailed)).status).toBe(200);
  });

  test('by the identity provider, with a new account and with a linked one', async () => {
    const [joining, linked] = [newAddress(), newAddress()];
    const through = async (subject: object, query = '') => {
      provider.subject = { sub: newAddress(), email_verified: true, name: 'Grace', ...subject };
      const begun = await api.request('GET', `/v1/oidc/login${query}`);
      const cookie = cookieOf(begun.headers.get('Set-Cookie') ?? '');
      const walked = await provider.walk(begun.headers.get('Location') ?? '');
      return api.request('GET', `/v1/oidc/callback?${walked}`, { headers: { Cookie: cookie } });
    };
    const { shown } = await invite(joining);
    const reply = await through({ email: joining }, `?invitation=${shown}`);
    expect(reply.headers.get('Location')).toBe('/dashboard/');
    expect(await provenAt(joining)).toBeInstanceOf(Date);

    await accept((await invite(linked)).shown);
    const refused = await through({ email: linked });
    expect(refused.headers.get('Location')).toContain('link-required');
    const carried = refused.headers.getSetCookie().find(line => line.includes('oidc_link')) ?? '';
    const login = { body: { email: linked, password: PASSWORD }, headers: { Cookie: cookieOf(carried) } };
    expect((await api.request('POST', '/v1/session', login)).status).toBe(200);
    expect(await provenAt(linked)).toBeInstanceOf(Date);

    const kelvin = 'mark@acme.example'.replace('k', '\u212a'); // its lower case is an ASCII k
    await makeMember(api, tenant, 'agent', 'mark@acme.example');
    expect((await through({ email: kelvin })).headers.get('Location')).toContain('email-missing');
  });
});
