import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Operation } from '../../src/api/operation.ts';
import { OPERATIONS } from '../../src/api/routes/index.ts';
import { recordAnswers } from '../../src/storage/answers/recording.ts';
import { createApi, type TestApi, type TestRequest } from '../support/api.ts';
import { anAcceptedAnswer, makeTenant, publishQuestion, type TestTenant } from '../support/make.ts';
import { makeMember, openSession, type TestPerson } from '../support/person.ts';
import { insertSample, readColumns } from '../support/rows.ts';

/** The least number of rows of a list. Three of them have the same sort key. */
const ROWS = 5;
/** Recent, because sessions that were inactive for hours are not listed. */
const START = Math.floor(Date.now() / 1000) * 1000 - 3_600_000;

/** The time of row `place`: those in the middle have the same one. */
const timeOf = (place: number): Date => new Date(START + Math.floor((place + 2) / 3) * 1000);
const places = Array.from({ length: ROWS }, (_, place) => place);

// biome-ignore lint/suspicious/noExplicitAny: rows of any list
type Row = any;
type Key = string | number | boolean;

/** A list, and the order in which it is documented to return its rows. */
interface Walk {
  path: string;
  request: TestRequest;
  /** The documented sort key. */
  sortedBy: (row: Row) => Key;
  descending?: boolean;
  /** The rest of the sort key; the id by default. */
  thenBy?: (row: Row) => Key;
  /** Whether two rows cannot have the same `sortedBy`. */
  isUnique?: boolean;
  /** The least number of rows, if it is not `ROWS`. */
  least?: number;
}

let api: TestApi;
let tenant: TestTenant;
let people: TestPerson[];
let questionId: string;
let conversationId: string;
let webhookId: string;

const shapeOf = (schema: unknown): object => (schema as { shape?: object } | undefined)?.shape ?? {};

/** Every operation with a page as its response. */
const LISTS = OPERATIONS.filter(({ response }) => 'next_cursor' in shapeOf(response));
const isPaged = ({ query }: Operation): boolean => 'limit' in shapeOf(query);

const team = (): TestRequest => ({ as: tenant.key.apiKey });
const member = (): TestRequest => ({ headers: people[0]?.headers as Record<string, string> });

/** The walks of each list by the id of its operation: one for each order that it has. */
const WALKS: Record<string, () => Promise<Walk[]> | Walk[]> = {
  async listAnswers() {
    const list = { request: team(), sortedBy: (row: Row) => row.received_at, descending: true };
    const changes = { request: team(), sortedBy: (row: Row) => row.updated_at };
    const since = new Date(START - 1000).toISOString();
    return [
      { ...list, path: '/v1/answers' },
      { ...list, path: '/v1/answers?identity=ada' },
      { ...list, path: '/v1/answers?state=completed' },
      { ...list, path: '/v1/answers?q=export' },
      { ...changes, path: `/v1/answers?updated_since=${since}` },
      { ...changes, path: `/v1/answers?updated_since=${since}&identity=ada` },
    ];
  },
  async listConversations() {
    const user = { as: await tenant.sign('ada') };
    const by = (column: string) => ({ request: team(), sortedBy: (row: Row) => row[column] });
    const since = new Date(START - 1000).toISOString();
    return [
      { ...by('last_activity_at'), path: '/v1/conversations', descending: true },
      { ...by('last_activity_at'), path: '/v1/conversations', descending: true, request: user },
      { ...by('last_activity_at'), path: '/v1/conversations?q=hello', descending: true },
      { ...by('last_activity_at'), path: '/v1/conversations?sort=last_activity_at' },
      { ...by('last_activity_at'), path: '/v1/conversations?priority=none', descending: true },
      { ...by('created_at'), path: '/v1/conversations?sort=-created_at', descending: true },
      { ...by('created_at'), path: '/v1/conversations?sort=created_at' },
      { ...by('created_at'), path: '/v1/conversations?sort=created_at&identity=ada' },
      { ...by('updated_at'), path: `/v1/conversations?updated_since=${since}` },
      { ...by('updated_at'), path: `/v1/conversations?updated_since=${since}`, request: user },
    ];
  },
  async listMessages() {
    const path = `/v1/conversations/${conversationId}/messages`;
    const list = { path, sortedBy: (row: Row) => row.body[0], thenBy: (row: Row) => row.body };
    return [
      { ...list, request: team() },
      { ...list, request: { as: await tenant.sign('ada') }, isUnique: true },
    ];
  },
  listWebhooks: () => [{ path: '/v1/webhooks', request: team(), sortedBy: row => row.created_at }],
  listDeliveries: () => {
    const path = `/v1/webhooks/${webhookId}/deliveries`;
    const list = { request: team(), sortedBy: (row: Row) => row.at, descending: true };
    return [
      { ...list, path },
      { ...list, path: `${path}?status=waiting` },
    ];
  },
  listMacros: () => [{ path: '/v1/macros', request: team(), sortedBy: row => row.created_at }],
  listViews: () => [{ path: '/v1/views', request: member(), sortedBy: row => row.created_at }],
  listQuestions: () => {
    const list = { request: team(), sortedBy: (row: Row) => row.created_at, descending: true };
    return [
      { ...list, path: '/v1/questions' },
      { ...list, path: '/v1/questions?type=nps' },
    ];
  },
  listQuestionVersions: () => {
    const path = `/v1/questions/${questionId}/versions`;
    return [{ path, request: team(), sortedBy: row => row.version, descending: true, isUnique: true }];
  },
  listIdentities: () => {
    const list = { request: team(), sortedBy: (row: Row) => row.identity, thenBy: (row: Row) => row.verified };
    return [
      { ...list, path: '/v1/identities' },
      { ...list, path: '/v1/identities?verified=true', isUnique: true, least: 3 },
    ];
  },
  listProfileChanges: () => {
    const path = '/v1/identities/changing/changes';
    return [{ path, request: team(), sortedBy: row => row.number, descending: true, isUnique: true }];
  },
  listQuarantine: () => [
    { path: '/v1/quarantine', request: team(), sortedBy: row => row.quarantined_at, descending: true },
  ],
  listSessions: () => [
    { path: '/v1/sessions', request: member(), sortedBy: row => row.last_seen_at, descending: true },
  ],
  listMembers: () => [{ path: '/v1/members', request: member(), sortedBy: row => row.created_at }],
  listInvitations: () => [
    { path: '/v1/members/invitations', request: member(), sortedBy: row => row.created_at, descending: true },
  ],
  listApiKeys: () => [{ path: '/v1/api-keys', request: member(), sortedBy: row => row.created_at, descending: true }],
  readAuditLog: () => {
    const list = { request: member(), sortedBy: (row: Row) => row.at, descending: true };
    return [
      { ...list, path: '/v1/audit-log' },
      { ...list, path: '/v1/audit-log?action=question.created' },
    ];
  },
};

/** Identifies a row. Some have no id. */
const idOf = ({ id, version, number, identity, verified }: Row): string =>
  `${id ?? version ?? number ?? `${identity} ${verified}`}`;

const compare = (a: Key, b: Key): number => (a < b ? -1 : a > b ? 1 : 0);

/** Returns rows in the documented order. */
function sorted(rows: Row[], { sortedBy, thenBy = row => row.id, descending = false }: Walk): Row[] {
  const ascending = rows.toSorted(
    (a, b) => compare(sortedBy(a), sortedBy(b)) || compare(thenBy(a) as Key, thenBy(b) as Key),
  );
  return descending ? ascending.reverse() : ascending;
}

async function readPage({ path, request }: Walk, parameters: Record<string, string>) {
  const url = new URL(path, api.baseUrl);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const { status, body } = await api.request('GET', url.pathname + url.search, request);
  expect([path, status]).toEqual([path, 200]);
  expect(body.has_more).toBe(body.next_cursor !== null);
  return body;
}

/** Reads a list one row at a time. Fails if it does not end. */
async function readOneByOne(walk: Walk, most: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (let cursor = ''; ; ) {
    const page = await readPage(walk, { limit: '1', ...(cursor === '' ? {} : { cursor }) });
    expect(page.data.length).toBeLessThanOrEqual(1);
    rows.push(...page.data);
    expect(rows.length).toBeLessThanOrEqual(most);
    if (page.next_cursor === null) return rows;
    cursor = page.next_cursor;
  }
}

/** Sets times of rows, in the opposite order of their ids except for the ties. */
const setTimes = (table: string, columns: string[], owner: Record<string, string> = { tenant_id: tenant.uuid }) => {
  const [column, id] = Object.entries(owner)[0] as [string, string];
  return api.database.query(
    `update ${table} set ${columns.map(name => `${name} = moment`).join(', ')} from (
       select id as row_id, $2::timestamptz + (row_number() over (order by id desc) + 1) / 3 * interval '1 second' as moment
       from ${table} where ${column} = $1
     ) as times where ${column} = $1 and id = row_id`,
    [id, new Date(START)],
  );
};

/** Inserts rows into a table, with samples in the columns that `make` does not set. */
async function insertRows(table: string, make: (place: number) => Record<string, unknown>): Promise<void> {
  const columns = await readColumns(api.database);
  for (const place of places.toReversed()) {
    const given = { tenant_id: tenant.uuid, id: v7(), ...make(place) };
    await api.database.query(...insertSample(columns, table, given));
  }
}

async function makeAnswers(): Promise<void> {
  const common = { tenant_id: tenant.uuid, identity: 'ada', comment: 'The export is slow' };
  const answers = places
    .toReversed()
    .map(place => anAcceptedAnswer({ ...common, received_at: timeOf(place).toISOString() }));
  await recordAnswers(api.database.storage('parley_worker'), [{ flush: v7(), answers }]);
  await setTimes('answers', ['updated_at']);
}

async function makeConversations(): Promise<void> {
  const as = await tenant.sign('ada');
  const post = (path: string, body: object, by: TestRequest = { as }) => api.request('POST', path, { ...by, body });
  for (const _ of places) conversationId = (await post('/v1/conversations', { message: '1 hello' })).body.id;
  const messages = `/v1/conversations/${conversationId}/messages`;
  for (const note of ['1a', '1b', '1c']) await post(messages, { kind: 'note', body: note }, team());
  for (const reply of ['2', '3', '4', '5']) await post(messages, { body: reply });
  for (const place of places) await post('/v1/macros', { name: `Macro ${place}`, body: 'Hello' }, team());
  await setTimes('macros', ['created_at']);
  const webhook = { url: 'https://93.184.215.14/hook', event_types: ['answer.stored'] };
  for (const _ of places) webhookId = (await post('/v1/webhooks', webhook, team())).body.id;
  for (const _ of places) await api.request('POST', `/v1/webhooks/${webhookId}/test`, team());
  await setTimes('webhooks', ['created_at']);
  await setTimes('deliveries', ['at']);
  for (const place of places) await post('/v1/views', { name: `View ${place}` }, member());
  await setTimes('views', ['created_at']);
  await setTimes('conversations', ['created_at', 'last_activity_at', 'updated_at', 'team_updated_at']);
}

async function makeQuestions(): Promise<void> {
  for (const _ of places) questionId = (await publishQuestion(api, tenant)).id;
  for (const place of places) {
    const body = { title: `Version ${place + 2}` };
    await api.request('PATCH', `/v1/questions/${questionId}`, { ...team(), body });
  }
  await setTimes('questions', ['created_at']);
}

async function makeTeam(): Promise<void> {
  people = [];
  for (const _ of places) people.push(await makeMember(api, tenant, 'owner'));
  for (const _ of places) await tenant.addKey();
  const accountId = people[0]?.accountId as string;
  for (const _ of places) await openSession(api, accountId);
  await setTimes('members', ['created_at']);
  await setTimes('api_keys', ['created_at']);
  await setTimes('sessions', ['last_seen_at'], { account_id: accountId });
  const inADay = new Date(Date.now() + 86_400_000);
  await insertRows('invitations', place => ({
    email: `${place}@acme.example`,
    role: 'agent',
    created_at: timeOf(place),
    expires_at: inADay,
  }));
  await insertRows('audit_log', place => ({ actor_type: 'system', action: 'question.created', at: timeOf(place) }));
}

async function makeUsers(): Promise<void> {
  const users = [
    ['ada', false],
    ['bob', false],
    ['bob', true],
    ['cleo', false],
    ['cleo', true],
  ];
  for (let place = 0; place <= ROWS; place++) {
    const body = { attributes: { place } };
    await api.request('PUT', '/v1/identities/changing', { ...team(), body });
  }
  await insertRows('identities', place => ({ identity: users[place]?.[0], identity_verified: users[place]?.[1] }));
  const payload = JSON.stringify(anAcceptedAnswer());
  await insertRows('quarantined_answers', place => ({ payload, quarantined_at: timeOf(place) }));
}

beforeAll(async () => {
  api = await createApi();
  tenant = await makeTenant(api);
  await makeTeam();
  await Promise.all([makeAnswers(), makeConversations(), makeQuestions(), makeUsers()]);
});
afterAll(() => api[Symbol.asyncDispose]());

describe('a list read one row at a time', () => {
  test('is walked here for each operation that returns a list', () => {
    expect(LISTS.map(({ id }) => id).sort()).toEqual(Object.keys(WALKS).sort());
    expect(LISTS.filter(list => !isPaged(list)).map(({ id }) => id)).toEqual(['listSessions']);
  });

  test.each(LISTS.map(list => [list.id, list] as const))(
    '%s returns each row once, in order, also rows with the same sort key',
    async (id, list) => {
      for (const walk of (await WALKS[id]?.()) ?? []) {
        const { path, sortedBy, isUnique = false } = walk;
        const { data, has_more } = await readPage(walk, isPaged(list) ? { limit: '100' } : {});
        expect([path, data.length >= (walk.least ?? ROWS), has_more]).toEqual([path, true, false]);
        const keys = data.map(sortedBy);
        expect([path, new Set(keys).size === keys.length]).toEqual([path, isUnique]);
        const expected = sorted(data, walk).map(idOf);
        expect([path, data.map(idOf)]).toEqual([path, expected]);
        if (!isPaged(list)) continue;
        const read = await readOneByOne(walk, data.length);
        expect([path, read.map(idOf)]).toEqual([path, expected]);
      }
    },
  );
});
