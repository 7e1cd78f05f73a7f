import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findKnownDevice, rememberDevice } from '../../src/api/credentials/known-devices.ts';
import { createPasswordReset } from '../../src/commands/password-resets.ts';
import { makeSetupLink } from '../../src/commands/setup.ts';
import { newUuid } from '../../src/domain/ids.ts';
import { createLog } from '../../src/platform/log.ts';
import { totpCode, totpStep } from '../../src/platform/totp.ts';
import { deleteEndedSessions } from '../../src/storage/upkeep/housekeeping.ts';
import { createApi, type TestApi, type TestReply, type TestRequest, waitFor } from '../support/api.ts';
import { createClock, DAY, type Expiring, expectToExpire, HOUR, MINUTE, OK, START } from '../support/clock.ts';
import { createMailServer, type MailingWorker, startMailing, type TestMailServer } from '../support/mail.ts';
import { makeTenant, storageOf, type TestTenant } from '../support/make.ts';
import { createProvider, type TestProvider } from '../support/oidc.ts';
import { cookieOf, headersOf, logIn, makeMember, PASSWORD, type TestPerson } from '../support/person.ts';
import { noTerminal } from '../support/process.ts';

const clock = createClock();
const { now } = clock;

let api: TestApi;
let mail: TestMailServer;
let mailing: MailingWorker;
let provider: TestProvider;
let tenant: TestTenant;
/** A member with a session that outlasts every test. */
let admin: TestPerson;

const outcomeOf = ({ status, body }: TestReply): string => (status < 400 ? OK : body.code);
const get = async (path: string, request: TestRequest) => outcomeOf(await api.request('GET', path, request));
const tokenIn = (link: string): string => /#token=([\w-]+)/.exec(link)?.[1] as string;

async function keepSessions({ accountId }: TestPerson): Promise<void> {
  const later = new Date(START + 1000 * DAY);
  await api.database.query('update sessions set last_seen_at = $2, expires_at = $2 where account_id = $1', [
    accountId,
    later,
  ]);
}

const makePerson = (): Promise<TestPerson> => makeMember(api, tenant, 'agent');

const resetPassword = (token: string) => async () =>
  outcomeOf(await api.request('POST', `/v1/password-resets/${token}`, { body: { password: PASSWORD } }));

async function invite(): Promise<{ token: string; email: string; id: string }> {
  const email = `${v7()}@acme.example`;
  const body = { email, role: 'agent' };
  const reply = await api.request('POST', '/v1/members', { headers: admin.headers, body });
  return { token: tokenIn(reply.body.link), email, id: reply.body.id };
}

const beginOidc = async (query = '') => {
  const reply = await api.request('GET', `/v1/oidc/login${query}`);
  const cookie = cookieOf(reply.headers.get('Set-Cookie') ?? '');
  return { query: await provider.walk(reply.headers.get('Location') ?? ''), headers: { Cookie: cookie } };
};
const finishOidc = ({ query, headers }: { query: string; headers: Record<string, string> }) =>
  api.request('GET', `/v1/oidc/callback?${query}`, { headers });
const errorOf = (reply: TestReply): string => /error=([\w-]+)/.exec(reply.headers.get('Location') ?? '')?.[1] ?? OK;

const LINK_COOKIE = '__Host-parley_oidc_link=';
/** Whether a login has linked its account: then it removes the cookie. */
const linkOutcome = ({ headers }: TestReply): string =>
  headers.getSetCookie().some(line => line.startsWith(`${LINK_COOKIE};`)) ? OK : 'not-linked';

/** Everything of persons that expires. */
const PERSONS: Expiring[] = [
  {
    what: 'the link of a password reset that was mailed',
    lastsMs: HOUR,
    after: 'link-not-valid',
    async create() {
      const { email } = await makePerson();
      await api.request('POST', '/v1/password-resets', { body: { email } });
      const letter = await waitFor(() => mail.letters.find(text => text.includes(email)));
      return resetPassword(tokenIn(letter.replaceAll('=\n', '').replaceAll('=3D', '=')));
    },
  },
  {
    what: 'the link of a password reset from the command line',
    lastsMs: HOUR,
    after: 'link-not-valid',
    async create() {
      const { email } = await makePerson();
      const context = { ...api, storage: storageOf(api), log: createLog('silent', 'cli'), now: now(), ...noTerminal };
      return resetPassword(tokenIn((await createPasswordReset(context, { email })).link));
    },
  },
  {
    what: 'the setup link',
    lastsMs: DAY,
    after: 'link-not-valid',
    async create() {
      const token = tokenIn((await makeSetupLink(storageOf(api), api.config, now())) as string);
      const email = `${v7()}@acme.example`;
      return async () => {
        const body = { token, tenant_name: 'First', name: 'Ada', email, password: PASSWORD };
        const outcome = outcomeOf(await api.request('POST', '/v1/setup', { body }));
        await api.database.query(`delete from members where role = 'owner'`); // the link requires that there is none
        return outcome;
      };
    },
  },
  {
    what: 'an invitation, as its link shows it',
    lastsMs: 7 * DAY,
    after: 'link-not-valid',
    async create() {
      const { token } = await invite();
      return () => get(`/v1/invitations/${token}`, {});
    },
  },
  {
    what: 'an invitation that is accepted',
    lastsMs: 7 * DAY,
    after: 'link-not-valid',
    async create() {
      const { token } = await invite();
      const body = { name: 'Bob', password: PASSWORD };
      return async () => outcomeOf(await api.request('POST', `/v1/invitations/${token}/accept`, { body }));
    },
  },
  {
    what: 'an invitation that is accepted through the identity provider',
    lastsMs: 7 * DAY,
    after: 'link-not-valid',
    async create() {
      const { token, email } = await invite();
      return async () => {
        provider.subject = { sub: email, email, email_verified: true, name: 'Bob' };
        return errorOf(await finishOidc(await beginOidc(`?invitation=${token}`)));
      };
    },
  },
  {
    what: 'an invitation in the list of open ones',
    lastsMs: 7 * DAY,
    after: 'not-listed',
    async create() {
      const { id } = await invite();
      return async () => {
        const { body } = await api.request('GET', '/v1/members/invitations?limit=100', { headers: admin.headers });
        return body.data.some((row: { id: string }) => row.id === id) ? OK : 'not-listed';
      };
    },
  },
  {
    what: 'a session without requests',
    lastsMs: 12 * HOUR,
    after: 'session-ended',
    async create() {
      const headers = headersOf(await logIn(api, (await makePerson()).email));
      return () => get('/v1/me', { headers });
    },
  },
  {
    what: 'a session in use',
    lastsMs: 14 * DAY,
    after: 'session-ended',
    async create() {
      const person = await makePerson();
      const headers = headersOf(await logIn(api, person.email));
      const later = new Date(START + 14 * DAY);
      await api.database.query('update sessions set last_seen_at = $2 where account_id = $1', [
        person.accountId,
        later,
      ]);
      return () => get('/v1/me', { headers });
    },
  },
  {
    what: 'a session in the list of sessions',
    lastsMs: 12 * HOUR,
    after: 'not-listed',
    async create() {
      const person = await makePerson();
      await keepSessions(person);
      await logIn(api, person.email);
      return async () => {
        const { body } = await api.request('GET', '/v1/sessions', { headers: person.headers });
        return body.data.length === 2 ? OK : 'not-listed';
      };
    },
  },
  {
    what: 'a login that was begun at the identity provider',
    lastsMs: 10 * MINUTE,
    after: 'state-mismatch',
    async create() {
      const { token, email } = await invite();
      provider.subject = { sub: email, email, email_verified: true, name: 'Bob' };
      const begun = await beginOidc(`?invitation=${token}`);
      return async () => errorOf(await finishOidc(begun));
    },
  },
  {
    what: 'a subject of the identity provider that waits to be linked',
    lastsMs: 10 * MINUTE,
    after: 'not-linked',
    async create() {
      const { email } = await makePerson();
      provider.subject = { sub: email, email, email_verified: true };
      const reply = await finishOidc(await beginOidc());
      expect(errorOf(reply)).toBe('link-required');
      const Cookie = cookieOf(reply.headers.getSetCookie().find(line => line.startsWith(LINK_COOKIE)) ?? '');
      const body = { email, password: PASSWORD };
      return async () => linkOutcome(await api.request('POST', '/v1/session', { headers: { Cookie }, body }));
    },
  },
  {
    what: 'the cookie of a known browser',
    lastsMs: 400 * DAY,
    after: 'unknown',
    async create() {
      const deps = { ...api, now };
      const cookie = rememberDevice('ada@acme.example', newUuid(), undefined, deps) as string;
      const carried = cookieOf(cookie).split('=')[1];
      return async () => (findKnownDevice('ada@acme.example', carried, deps) === undefined ? 'unknown' : OK);
    },
  },
  {
    what: 'a code of an authenticator',
    lastsMs: MINUTE,
    after: 'login-failed',
    async create() {
      const { headers, email, accountId } = await makePerson();
      const { body } = await api.request('POST', '/v1/me/totp', { headers, body: { password: PASSWORD } });
      const totp = totpCode(body.secret, totpStep(now()));
      await api.request('POST', '/v1/me/totp/confirm', { headers, body: { totp } });
      await api.database.query('update accounts set totp_last_step = null where id = $1', [accountId]);
      return async () => outcomeOf(await logIn(api, email, PASSWORD, { totp }));
    },
  },
];

beforeAll(async () => {
  [mail, provider] = await Promise.all([createMailServer(), createProvider('https://parley.test/v1/oidc/callback')]);
  const settings = { ...provider.settings, SMTP_URL: mail.url, MAIL_FROM: 'parley@acme.example' };
  api = await createApi({ settings, now });
  mailing = startMailing(api, now);
  tenant = await makeTenant(api);
  admin = await makeMember(api, tenant, 'admin');
  await keepSessions(admin);
});
afterAll(async () => {
  await mailing[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
  await mail[Symbol.asyncDispose]();
});

describe('by the clock of the API', () => {
  test.each(PERSONS.map(row => [row.what, row] as const))('%s expires in time', (_, row) => expectToExpire(clock, row));
});

describe('housekeeping', () => {
  test('deletes links, invitations and sessions once they have expired', async () => {
    clock.set(0);
    const person = await makePerson();
    await invite();
    const others = `delete from invitations where id <> (select id from invitations order by created_at desc, id desc limit 1)`;
    await api.database.query(others);
    await api.database.query('delete from sessions');
    await api.database.query('delete from account_links');
    const context = { ...api, storage: storageOf(api), log: createLog('silent', 'cli'), now: now(), ...noTerminal };
    await createPasswordReset(context, { email: person.email });
    await logIn(api, person.email);
    const left = async (ms: number) => {
      await deleteEndedSessions(storageOf(api), new Date(START + ms), 12);
      const tables = ['account_links', 'sessions', 'invitations'];
      const counts = tables.map(table => `(select count(*)::int from ${table}) as ${table}`);
      return (await api.database.query(`select ${counts.join(', ')}`))[0];
    };
    expect(await left(HOUR)).toEqual({ account_links: 1, sessions: 1, invitations: 1 });
    expect(await left(HOUR + 1)).toEqual({ account_links: 0, sessions: 1, invitations: 1 });
    expect(await left(12 * HOUR)).toEqual({ account_links: 0, sessions: 1, invitations: 1 });
    expect(await left(12 * HOUR + 1)).toEqual({ account_links: 0, sessions: 0, invitations: 1 });
    await logIn(api, person.email);
    await api.database.query('update sessions set last_seen_at = $1', [new Date(START + 30 * DAY)]);
    expect(await left(7 * DAY)).toEqual({ account_links: 0, sessions: 1, invitations: 1 });
    expect(await left(7 * DAY + 1)).toEqual({ account_links: 0, sessions: 1, invitations: 0 });
    expect(await left(14 * DAY)).toEqual({ account_links: 0, sessions: 1, invitations: 0 });
    expect(await left(14 * DAY + 1)).toEqual({ account_links: 0, sessions: 0, invitations: 0 });
  });
});
