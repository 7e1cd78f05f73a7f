import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseTypeId } from '../../src/domain/ids.ts';
import { explainLateUse } from '../../src/domain/team/api-keys.ts';
import { createApi, type TestApi, type TestReply, type TestRequest, waitFor } from '../support/api.ts';
import { createClock, DAY, type Expiring, expectToExpire, HOUR, MINUTE, OK, SECOND, START } from '../support/clock.ts';
import {
  anAnswer,
  aQuestion,
  claimToken,
  makeTenant,
  publishQuestion,
  type TestKey,
  type TestTenant,
} from '../support/make.ts';
import { makeMember, type TestPerson } from '../support/person.ts';

const clock = createClock();
const { now } = clock;
const startSeconds = START / 1000;

let api: TestApi;
let tenant: TestTenant;
/** A member with a session that is new at `START`. */
let admin: TestPerson;

const outcomeOf = ({ status, body }: TestReply): string => (status < 400 ? OK : body.code);
const get = async (path: string, request: TestRequest) => outcomeOf(await api.request('GET', path, request));
const exp = (seconds: number) => ({ claims: { exp: seconds } });

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
    expect(await clock.aSecondAgo(cards)).toBe('no-card'); // cached from here on
    return cards();
  };
}

/** Everything of a tenant that expires by the clock of the API. */
const BY_THE_API: Expiring[] = [
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
        expect(await clock.aSecondAgo(use)).toBe(OK); // remembered from here on
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
  api = await createApi({ now });
  tenant = await makeTenant(api);
  admin = await makeMember(api, tenant, 'admin');
  const later = new Date(START + 1000 * DAY);
  await api.database.query('update sessions set last_seen_at = $1, expires_at = $1', [later]);
});
afterAll(() => api[Symbol.asyncDispose]());

describe('by the clock of the API', () => {
  test.each(BY_THE_API.map(row => [row.what, row] as const))('%s expires in time', (_, row) =>
    expectToExpire(clock, row),
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
      clock.set(0);
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
