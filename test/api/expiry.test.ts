import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findKnownDevice, rememberDevice } from '../../src/api/credentials/known-devices.ts';
import { createPasswordReset } from '../../src/commands/password-resets.ts';
import { makeSetupLink } from '../../src/commands/setup.ts';
import { explainLateUse } from '../../src/domain/api-keys.ts';
import { newUuid, parseTypeId } from '../../src/domain/ids.ts';
import { createLog } from '../../src/platform/log.ts';
import { totpCode, totpStep } from '../../src/platform/totp.ts';
import { deleteEndedSessions } from '../../src/storage/housekeeping.ts';
import { createApi, type TestApi, type TestReply, type TestRequest, waitFor } from '../support/api.ts';
import { createMailServer, type TestMailServer } from '../support/mail.ts';
import {
  anAnswer,
  aQuestion,
  claimToken,
  makeTenant,
  publishQuestion,
  storageOf,
  type TestKey,
  type TestTenant,
} from '../support/make.ts';
import { createProvider, type TestProvider } from '../support/oidc.ts';
import { cookieOf, headersOf, logIn, makeMember, PASSWORD, type TestPerson } from '../support/person.ts';
import { noTerminal } from '../support/process.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The time at which everything here is created: a full step of authenticators, which take 30 s. */
const START = Math.floor(Date.now() / 30_000) * 30_000;
let passedMs = 0;
/** The API's clock, which only tests move. */
const now = () => new Date(START + passedMs);
const startSeconds = START / 1000;

/** The outcome of using a thing that is valid. */
const OK = 'ok';

/** A thing that expires. */
interface Expiring {
  what: string;
  /** How long it can be used. At the end of this time it can no longer be used. */
  lastsMs: number;
  /** Creates one at `START` and returns its use, which returns an outcome. */
  create: () => Promise<() => Promise<string | undefined>>;
  /** The outcome before the end, if it is not `OK`. */
  before?: string;
  /** The outcome from the end on. */
  after: string;
}

let api: TestApi;
let mail: TestMailServer;
let provider: TestProvider;
let tenant: TestTenant;
/** A member with a session that outlasts every test. */
let admin: TestPerson;

const outcomeOf = ({ status, body }: TestReply): string => (status < 400 ? OK : body.code);
const get = async (path: string, request: TestRequest) => outcomeOf(await api.request('GET', path, request));
const tokenIn = (link: string): string => /#token=([\w-]+)/.exec(link)?.[1] as string;
const exp = (seconds: number) => ({ claims: { exp: seconds } });

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

const questions = '/v1/questions?limit=1';
const asBearer = (as: string) => () => get(questions, { as });
const asUser = (as: string) => () => get('/v1/me', { as });

/** A key that expires `ms` after `START`. */
async function createKey(ms: number, kind = 'server'): Promise<TestKey> {
  const body = { name: 'backend', kind, expires_at: new Date(START + ms) };
  const key = (await api.request('POST', '/v1/api-keys', { headers: admin.headers, body })).body;
  return { id: key.id, secret: key.secret, apiKey: key.api_key };
}

/** A key whose secrets are replaced, with an overlap of a day. */
async function rotateKey() {
  const key = await tenant.addKey();
  expect(await get(questions, { as: key.apiKey })).toBe(OK);
  const path = `/v1/api-keys/${key.id}/rotate`;
  const rotated = await api.request('POST', path, { headers: admin.headers, body: { overlap_hours: 24 } });
  await waitFor(async () => (await get(questions, { as: rotated.body.api_key })) === OK);
  return key;
}

/** Whether a user gets a card after one was shown and answered, or dismissed. */
async function cardsAfter(record: 'shown' | 'dismissed') {
  const other = await makeTenant(api);
  const fields = { frequency: { snooze_after_dismiss_days: 10 } };
  const first = await publishQuestion(api, other, { ...fields, priority: 2 });
  if (record === 'shown') await publishQuestion(api, other, { priority: 1 });
  await api.database.query('insert into card_records values ($1, $2, true, $3, $4, $5, $6)', [
    ...[other.uuid, 'ada', parseTypeId('question', first.id), now()],
    ...(record === 'dismissed' ? [now(), null] : [null, now()]),
  ]);
  const cards = async () => {
    const as = await other.sign('ada', exp(Math.floor(now().getTime() / 1000) + 3600));
    const { body } = await api.request('GET', '/v1/cards', { as });
    return body.data.length > 0 ? OK : 'no-card';
  };
  return async () => {
    passedMs -= SECOND;
    expect(await cards()).toBe('no-card'); // cached from here on
    passedMs += SECOND;
    return cards();
  };
}

const BY_THE_CLOCK: Expiring[] = [
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
    after: 'login-failed',
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
  {
    what: 'an access token, with the leeway for clocks',
    lastsMs: HOUR + MINUTE,
    after: 'token-expired',
    create: async () => asUser(await tenant.sign(`user|${v7()}`, exp(startSeconds + 3600))),
  },
  {
    what: 'an access token that was verified before',
    lastsMs: HOUR + MINUTE,
    after: 'token-expired',
    async create() {
      const token = await tenant.sign('ada', exp(startSeconds + 3600));
      expect(await asUser(token)()).toBe(OK);
      return asUser(token);
    },
  },
  {
    what: 'a public access token, with the leeway for clocks',
    lastsMs: HOUR + MINUTE,
    after: 'token-expired',
    create: async () => asUser(await claimToken(api, tenant, 'ada')),
  },
  {
    what: 'an API key',
    lastsMs: DAY,
    after: 'credentials-invalid',
    async create() {
      const key = await createKey(DAY);
      expect(await asBearer(key.apiKey)()).toBe(OK);
      return asBearer(key.apiKey);
    },
  },
  {
    what: 'the access tokens of an API key',
    lastsMs: 30 * MINUTE,
    after: 'unknown-issuer',
    async create() {
      const key = await createKey(30 * MINUTE);
      const token = await tenant.sign('ada', { key, ...exp(startSeconds + 3600) });
      expect(await asUser(token)()).toBe(OK);
      return asUser(token);
    },
  },
  {
    what: 'a public API key',
    lastsMs: DAY,
    after: 'credentials-invalid',
    async create() {
      const key = await createKey(DAY, 'public');
      const Authorization = `Basic ${Buffer.from(`api_key:${key.id}`).toString('base64')}`;
      const request = { headers: { Authorization }, body: { user_id: 'ada' } };
      return async () =>
        outcomeOf(await api.request('POST', `/v1/tenants/${tenant.id}/issuers/public/auth/token`, request));
    },
  },
  {
    what: 'the status of an API key',
    lastsMs: DAY,
    before: 'active',
    after: 'expired',
    async create() {
      const { id } = await createKey(DAY);
      return async () => (await api.request('GET', `/v1/api-keys/${id}`, { headers: admin.headers })).body.status;
    },
  },
  {
    what: 'the previous bearer value of a rotated API key',
    lastsMs: DAY,
    after: 'credentials-invalid',
    create: async () => asBearer((await rotateKey()).apiKey),
  },
  {
    what: 'access tokens signed with the previous secret of a rotated API key',
    lastsMs: DAY,
    after: 'bad-signature',
    async create() {
      const key = await rotateKey();
      const use = asUser(await tenant.sign('ada', { key, ...exp(startSeconds + 86_400 + 3000) }));
      return async () => {
        passedMs -= SECOND;
        expect(await use()).toBe(OK); // remembered from here on
        passedMs += SECOND;
        return use();
      };
    },
  },
  {
    what: 'a question that was closed',
    lastsMs: 7 * DAY + 1, // answers are accepted up to and including the end
    before: 'accepted',
    after: 'question-closed',
    async create() {
      const { id } = await publishQuestion(api, tenant);
      await api.request('POST', `/v1/questions/${id}/close`, { as: tenant.key.apiKey });
      return async () => {
        const answers = [anAnswer({ question_id: id, identity: 'ada' })];
        const { body } = await api.request('POST', '/v1/answers', { as: tenant.key.apiKey, body: { answers } });
        return body.results[0].code ?? body.results[0].status;
      };
    },
  },
  {
    what: 'the cooldown after the card of another question, for a cached card list',
    lastsMs: 7 * DAY,
    before: 'no-card',
    after: OK,
    create: () => cardsAfter('shown'),
  },
  {
    what: 'the snooze of a dismissed card, for a cached card list',
    lastsMs: 10 * DAY,
    before: 'no-card',
    after: OK,
    create: () => cardsAfter('dismissed'),
  },
];

beforeAll(async () => {
  [mail, provider] = await Promise.all([createMailServer(), createProvider('https://parley.test/v1/oidc/callback')]);
  const settings = { ...provider.settings, SMTP_URL: mail.url, MAIL_FROM: 'parley@acme.example' };
  api = await createApi({ settings, now });
  tenant = await makeTenant(api);
  admin = await makeMember(api, tenant, 'admin');
  await keepSessions(admin);
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
  await mail[Symbol.asyncDispose]();
});

describe('by the clock of the API', () => {
  test.each(BY_THE_CLOCK.map(row => [row.what, row] as const))(
    '%s expires in time',
    async (_, { lastsMs, create, before = OK, after }) => {
      passedMs = 0;
      const early = await create();
      passedMs = lastsMs - 1;
      expect(await early()).toBe(before);
      passedMs = 0;
      const late = await create();
      passedMs = lastsMs;
      expect(await late()).toBe(after);
    },
  );
});

/** A thing whose age the database computes. Its test moves the row into the past. */
interface Aging extends Omit<Expiring, 'create'> {
  /** Creates one. `age` moves its row into the past. */
  create: () => Promise<{ use: () => Promise<string | undefined>; age: (ms: number) => Promise<unknown> }>;
}

/** Moves a time of one row into the past. */
const moveBack = (table: string, column: string, row: string, value: string) => (ms: number) =>
  api.database.query(`update ${table} set ${column} = ${column} - $2 * interval '1 millisecond' where ${row} = $1`, [
    value,
    ms,
  ]);

async function createKeyed() {
  const key = v7();
  const request = { as: tenant.key.apiKey, body: aQuestion(), headers: { 'Idempotency-Key': key } };
  const post = () => api.request('POST', '/v1/questions', request);
  expect((await post()).status).toBe(201);
  const age = moveBack('idempotency_keys', 'created_at', 'key', key);
  const use = async () => {
    const reply = await post();
    return reply.headers.has('Idempotency-Replayed') ? 'replayed' : outcomeOf(reply);
  };
  return { key, use, age };
}

async function startConversation() {
  const as = await tenant.sign(v7(), exp(startSeconds + 3600));
  const { body } = await api.request('POST', '/v1/conversations', { as, body: { message: 'Hello' } });
  return { as, id: body.id as string, path: `/v1/conversations/${body.id}/messages` };
}

const BY_THE_DATABASE: Aging[] = [
  {
    what: 'the response kept for an Idempotency-Key',
    lastsMs: DAY,
    before: 'replayed',
    after: OK,
    create: createKeyed,
  },
  {
    what: 'the claim of a request that died',
    lastsMs: 2 * MINUTE,
    before: 'idempotency-key-in-use',
    after: OK,
    async create() {
      const { key, use, age } = await createKeyed();
      await api.database.query(
        'update idempotency_keys set status = null, headers = null, body = null where key = $1',
        [key],
      );
      return { use, age };
    },
  },
  {
    what: 'the time for editing a message',
    lastsMs: 15 * MINUTE,
    after: 'message-not-editable',
    async create() {
      const { as, path } = await startConversation();
      const { body } = await api.request('POST', path, { as, body: { body: 'More' } });
      const use = async () =>
        outcomeOf(await api.request('PATCH', `${path}/${body.id}`, { as, body: { body: 'Less' } }));
      return { use, age: moveBack('messages', 'created_at', 'id', parseTypeId('message', body.id) as string) };
    },
  },
  {
    what: 'the time for redacting a message',
    lastsMs: 15 * MINUTE,
    after: 'message-not-editable',
    async create() {
      const { as, path } = await startConversation();
      const { body } = await api.request('POST', path, { as, body: { body: 'More' } });
      const use = async () => outcomeOf(await api.request('DELETE', `${path}/${body.id}`, { as }));
      return { use, age: moveBack('messages', 'created_at', 'id', parseTypeId('message', body.id) as string) };
    },
  },
  {
    what: 'the time for reopening a resolved conversation',
    lastsMs: 30 * DAY,
    before: 'same-conversation',
    after: 'new-conversation',
    async create() {
      const { as, id, path } = await startConversation();
      await api.request('PATCH', `/v1/conversations/${id}`, { as, body: { status: 'resolved' } });
      const use = async () => {
        const { body } = await api.request('POST', path, { as, body: { body: 'Again' } });
        return body.conversation_id === id ? 'same-conversation' : 'new-conversation';
      };
      return { use, age: moveBack('conversations', 'resolved_at', 'id', parseTypeId('conversation', id) as string) };
    },
  },
];

describe('by the clock of the database', () => {
  test.each(BY_THE_DATABASE.map(row => [row.what, row] as const))(
    '%s expires in time',
    async (_, { lastsMs, create, before = OK, after }) => {
      passedMs = 0;
      const early = await create();
      await early.age(lastsMs - MINUTE); // the database's clock goes on
      expect(await early.use()).toBe(before);
      const late = await create();
      await late.age(lastsMs + SECOND);
      expect(await late.use()).toBe(after);
    },
  );
});

describe('an answer that was received after its key', () => {
  const end = new Date(START);
  const none = { revoked_at: null, expires_at: null, previous_valid_until: null };

  test.each([
    ['was revoked', { revoked_at: end }],
    ['had expired', { expires_at: end }],
    ['had lost its previous secret', { previous_valid_until: end }],
  ])('%s is stored for 60 s', (_, times) => {
    const explain = (ms: number) => explainLateUse({ ...none, ...times }, new Date(START + ms), undefined);
    expect(explain(MINUTE)).toBeUndefined();
    expect(explain(MINUTE + 1)).toContain(end.toISOString());
  });
});

describe('housekeeping', () => {
  test('deletes links, invitations and sessions once they have expired', async () => {
    passedMs = 0;
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
