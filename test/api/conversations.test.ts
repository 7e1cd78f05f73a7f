import { Client } from 'pg';
import { pino } from 'pino';
import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { conversationRoutes } from '../../src/api/routes/conversations.ts';
import { messageRoutes } from '../../src/api/routes/messages.ts';
import { createIncrementalReads } from '../../src/api/watch/incremental-reads.ts';
import { parseTypeId, toTypeId } from '../../src/domain/ids.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { countUnread } from '../../src/storage/conversation-lists.ts';
import { createApi, type TestApi, type TestReply, waitFor } from '../support/api.ts';
import { claimToken, makeTenant, type TestTenant } from '../support/make.ts';
import { makeMember as logIn } from '../support/person.ts';

type Body = Record<string, unknown>;

/** One user and the team of a fresh tenant. */
interface Parties {
  tenant: TestTenant;
  /** The team's API key. */
  team: string;
  /** The token of `user|42`. */
  user: string;
}

let api: TestApi;
beforeAll(async () => {
  api = await createApi();
});
afterAll(() => api[Symbol.asyncDispose]());

async function makeParties(): Promise<Parties> {
  const tenant = await makeTenant(api);
  return { tenant, team: tenant.key.apiKey, user: await tenant.sign('user|42') };
}

const get = (as: string, path: string, headers: Record<string, string> = {}) =>
  api.request('GET', path, { as, headers });
const post = (as: string, path: string, body: Body) => api.request('POST', path, { as, body });
const patch = (as: string, path: string, body: Body, headers: Record<string, string> = {}) =>
  api.request('PATCH', path, { as, body, headers });
const markRead = (as: string, id: string, seq: number) =>
  api.request('PUT', `/v1/conversations/${id}/read`, { as, body: { seq } });

const start = (as: string, fields: Body = {}) => post(as, '/v1/conversations', { message: 'Hello', ...fields });
const write = (as: string, id: string, fields: Body = {}) =>
  post(as, `/v1/conversations/${id}/messages`, { body: 'And more', ...fields });
const read = async (as: string, id: string) => (await get(as, `/v1/conversations/${id}`)).body;
const messages = async (as: string, id: string, query = '?limit=100') =>
  (await get(as, `/v1/conversations/${id}/messages${query}`)).body.data;
const list = async (as: string, query = '') => (await get(as, `/v1/conversations${query}`)).body.data;
const idsOf = (rows: { id: string }[]): string[] => rows.map(({ id }) => id);

/** Posts as one of two members, or as one of two API keys. */
async function teamOf(tenant: TestTenant, kind: 'keys' | 'members') {
  const people = await Promise.all(
    kind === 'keys'
      ? [{ as: tenant.key.apiKey }, { as: (await tenant.addKey()).apiKey }]
      : ['ada', 'bob'].map(async name => {
          const { headers } = await logIn(api, tenant, 'agent', `${name}-${v7()}@acme.example`);
          return { headers };
        }),
  );
  return (number: number, path: string, body: Body) => api.request('POST', path, { ...people[number], body });
}

const uuidOf = (id: string) => parseTypeId('conversation', id) as string;

/** Lets time pass for a conversation: moves moments of its row into the past. */
const backdate = (id: string, column: string, interval: string) =>
  api.database.query(`update conversations set ${column} = ${column} - $2::interval where id = $1`, [
    uuidOf(id),
    interval,
  ]);

const backdateMessages = (id: string, interval: string) =>
  api.database.query('update messages set created_at = created_at - $2::interval where conversation_id = $1', [
    uuidOf(id),
    interval,
  ]);

async function makeMember(tenant: TestTenant): Promise<string> {
  const id = v7();
  await api.database.query(
    "insert into members (tenant_id, id, email, role, password_hash, created_at) values ($1, $2, $3, 'agent', 'x', now())",
    [tenant.uuid, id, `${id}@acme.example`],
  );
  return toTypeId('member', id);
}

/** Every row of a list, page by page; `between` runs after each page but the last. */
async function readPages(as: string, path: string, between: () => Promise<unknown> = async () => {}): Promise<Body[]> {
  const rows: Body[] = [];
  for (let next = path; ; await between()) {
    const { status, headers, body } = await get(as, next);
    expect(status).toBe(200);
    rows.push(...body.data);
    expect(body.has_more).toBe(body.next_cursor !== null);
    const link = headers.get('Link');
    if (!body.has_more) {
      expect(link).toBeNull();
      return rows;
    }
    const [, href = ''] = /^<https:\/\/parley\.test([^>]+)>; rel="next"$/.exec(link ?? '') ?? [];
    expect(new URL(href, 'https://parley.test').searchParams.get('cursor')).toBe(body.next_cursor);
    next = href;
  }
}

/** Many conversations at once, five of each millisecond, so that only the id tells those apart. */
const seed = (tenant: TestTenant, count: number) =>
  api.database.query(
    `insert into conversations (tenant_id, id, identity, identity_verified, subject, status, priority, tags, source_type,
       last_seq, last_note_seq, last_preview, last_author_type, user_read_seq, team_read_seq, user_unread, team_unread,
       created_at, updated_at, team_updated_at, last_activity_at)
     select $1, gen_random_uuid(), 'user|42', true, 'seeded ' || n, 'open', 'none', '{}', 'user', 1, 0, 'Hello', 'user', 1, 0, 0, 1,
       at, at, at, at
     from generate_series(0, $2 - 1) as n, lateral (select timestamptz '2026-01-01' + (n / 5) * interval '1 millisecond' as at)`,
    [tenant.uuid, count],
  );

const problem = (reply: TestReply) => [reply.status, reply.body.code];

describe('starting a conversation', () => {
  test("a user's conversation waits for the team, and shows each side its own fields", async () => {
    const { user, team } = await makeParties();
    const started = await start(user, { subject: 'Billing', message: 'Why twice?', client_message_id: 'm1' });
    expect(started.status).toBe(201);
    const { id, created_at } = started.body;
    expect(id).toMatch(/^conversation_[0-9a-z]{26}$/);
    expect(started.headers.get('Location')).toBe(`/v1/conversations/${id}`);
    const forUser = {
      id,
      identity: 'user|42',
      identity_verified: true,
      subject: 'Billing',
      status: 'open',
      source: { type: 'user' },
      last_message: { seq: 1, preview: 'Why twice?', author_type: 'user', at: created_at },
      message_count: 1,
      unread_count: 0,
      waiting_since: created_at,
      first_reply_at: null,
      resolved_at: null,
      previous_id: null,
      created_at,
      updated_at: created_at,
      last_activity_at: created_at,
    };
    expect(started.body).toEqual(forUser);
    expect(await read(user, id)).toEqual(forUser);
    expect(await read(team, id)).toEqual({
      ...forUser,
      unread_count: 1,
      priority: 'none',
      assignee_id: null,
      tags: [],
    });
    expect(await messages(user, id)).toEqual([
      {
        id: expect.stringMatching(/^message_/),
        conversation_id: id,
        seq: 1,
        author: { type: 'user', id: 'user|42', name: null },
        kind: 'reply',
        body: 'Why twice?',
        format: 'text',
        client_message_id: 'm1',
        created_at,
        edited_at: null,
        redacted: false,
      },
    ]);
  });

  test("the team's conversation names its user, who sees it unread and nobody waits", async () => {
    const { user, team, tenant } = await makeParties();
    const started = await start(team, { identity: 'user|42' });
    expect(started.body).toMatchObject({
      source: { type: 'api' },
      status: 'open',
      unread_count: 0,
      waiting_since: null,
    });
    expect(await read(user, started.body.id)).toMatchObject({ unread_count: 1, identity: 'user|42' });
    const author = async (as: string) => (await messages(as, started.body.id))[0].author;
    expect(await author(team)).toEqual({ type: 'api', id: tenant.key.id, name: null });
    expect(await author(user)).toEqual({ type: 'api', id: null, name: null });
  });

  test('a key has to name the user, and a token may not', async () => {
    const { user, team } = await makeParties();
    for (const reply of [await start(team), await start(user, { identity: 'user|42' })]) {
      expect(problem(reply)).toEqual([422, 'validation-failed']);
      expect(reply.body.errors).toEqual([expect.objectContaining({ pointer: '/identity' })]);
    }
  });

  test.each<[string, Body]>([
    ['no message', { message: undefined }],
    ['an empty message', { message: '' }],
    ['a message of 10,001 characters', { message: 'x'.repeat(10_001) }],
    ['a subject of 201 characters', { subject: 'x'.repeat(201) }],
    ['U+0000', { message: 'a\u0000b' }],
    ['a lone surrogate', { subject: '\ud800' }],
    ['an unknown field', { custom_field: 1 }],
    ['a read-only field', { status: 'resolved' }],
    ['a message that is no text', { message: 5 }],
    ['an empty client_message_id', { client_message_id: '' }],
  ])('%s is refused', async (_, fields) => {
    const { user } = await makeParties();
    expect(problem(await start(user, fields))).toEqual([422, 'validation-failed']);
    expect(await list(user)).toEqual([]);
  });

  test('the longest texts are taken, and the preview is cut between characters', async () => {
    const { user } = await makeParties();
    const started = await start(user, { subject: 'x'.repeat(200), message: '😀'.repeat(5000) });
    expect(started.status).toBe(201);
    expect(started.body.last_message.preview).toBe('😀'.repeat(140));
  });

  test('the same client_message_id gives the first conversation, to its sender alone', async () => {
    const { user, team, tenant } = await makeParties();
    const first = await start(user, { client_message_id: 'c1' });
    const again = await start(user, { client_message_id: 'c1', message: 'Another text' });
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('Location')).toBe(first.headers.get('Location'));
    const others = [
      await start(await tenant.sign('user|43'), { client_message_id: 'c1' }),
      await start(team, { client_message_id: 'c1', identity: 'user|42' }),
      await start(user, { client_message_id: 'c2' }),
    ];
    expect(others.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(idsOf([first, ...others].map(({ body }) => body))).size).toBe(4);
  });

  test.each(['keys', 'members'] as const)(
    'the same client_message_id of two %s starts one conversation each',
    async kind => {
      const { tenant } = await makeParties();
      const startAs = await teamOf(tenant, kind);
      const fields = { client_message_id: 'c1', identity: 'user|42', message: 'Hello' };
      const replies = [];
      for (const as of [0, 1, 0, 1]) replies.push(await startAs(as, '/v1/conversations', fields));
      expect(replies.map(({ status }) => status)).toEqual([201, 201, 200, 200]);
      const ids = idsOf(replies.map(({ body }) => body));
      expect(ids).toEqual([ids[0], ids[1], ids[0], ids[1]]);
      expect(ids[0]).not.toBe(ids[1]);
    },
  );

  test('a client_message_id that the version before took is found again by its author alone', async () => {
    const { tenant } = await makeParties();
    const startAs = await teamOf(tenant, 'keys');
    const fields = { client_message_id: 'c1', identity: 'user|42', message: 'Hello' };
    const first = await startAs(0, '/v1/conversations', fields);
    await api.database.query("update conversations set started_by = '' where tenant_id = $1", [tenant.uuid]);
    expect(await startAs(0, '/v1/conversations', fields)).toMatchObject({ status: 200, body: { id: first.body.id } });
    expect((await startAs(1, '/v1/conversations', fields)).status).toBe(201);
  });

  test('the same client_message_id sent eight times at once starts one conversation', async () => {
    const { user } = await makeParties();
    const replies = await Promise.all(Array.from({ length: 8 }, () => start(user, { client_message_id: 'c1' })));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([...Array(7).fill(200), 201]);
    expect(new Set(idsOf(replies.map(({ body }) => body))).size).toBe(1);
    expect(await list(user)).toHaveLength(1);
  });
});

describe('credentials', () => {
  test('a public token reaches no operation on conversations', async () => {
    const { tenant, user } = await makeParties();
    const { id } = (await start(user)).body;
    const token = await claimToken(api, tenant, 'user|42');
    for (const { method, path } of [...conversationRoutes, ...messageRoutes]) {
      const at = path.replace('{id}', id).replace('{message_id}', 'message_0');
      const reply = await api.request(method.toUpperCase(), at, { as: token });
      expect([at, ...problem(reply)]).toEqual([at, 403, 'public-access-restricted']);
    }
  });

  test('a key without the scope is refused for reading and for writing', async () => {
    const { tenant, user } = await makeParties();
    const { id } = (await start(user)).body;
    const reader = (await tenant.addKey({ scopes: ['conversations:read'] })).apiKey;
    const writer = (await tenant.addKey({ scopes: ['conversations:write'] })).apiKey;
    expect((await get(reader, `/v1/conversations/${id}`)).status).toBe(200);
    expect(problem(await write(reader, id))).toEqual([403, 'insufficient-scope']);
    expect((await write(writer, id)).status).toBe(201);
    expect(problem(await get(writer, `/v1/conversations/${id}`))).toEqual([403, 'insufficient-scope']);
  });

  test('a user neither deletes a conversation nor does a key count what is unread', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    const deleted = await api.request('DELETE', `/v1/conversations/${id}`, { as: user });
    expect(problem(deleted)).toEqual([403, 'insufficient-scope']);
    expect(problem(await get(team, '/v1/conversations/unread-count'))).toEqual([403, 'insufficient-scope']);
    expect((await read(user, id)).id).toBe(id);
  });
});

describe('listing conversations', () => {
  test('gives ten by default, those with the newest activity first', async () => {
    const { user, team } = await makeParties();
    const ids: string[] = [];
    for (let count = 0; count < 12; count++) ids.unshift((await start(user)).body.id);
    const page = (await get(user, '/v1/conversations')).body;
    expect(idsOf(page.data)).toEqual(ids.slice(0, 10));
    expect(page).toMatchObject({ has_more: true, next_cursor: expect.any(String) });

    const oldest = ids.at(-1) as string;
    await write(team, oldest);
    expect(idsOf(await list(user, '?limit=2'))).toEqual([oldest, ids[0]]);
  });

  test.each(['0', '101', '-1', '1e1', '01x', ''])('a limit of "%s" is refused', async limit => {
    const { team } = await makeParties();
    expect((await get(team, `/v1/conversations?limit=${limit}`)).status).toBe(422);
  });

  test('filters the team can set each give just what they name', async () => {
    const { user, team, tenant } = await makeParties();
    const member = await makeMember(tenant);
    const plain = (await start(await tenant.sign('user|43'))).body.id;
    const marked = (await start(user)).body.id;
    const byTeam = (await start(team, { identity: 'user|44' })).body.id;
    await patch(team, `/v1/conversations/${marked}`, { tags: ['vip', 'bug'], priority: 'high', assignee_id: member });
    await write(team, plain);
    const expected: Record<string, string[]> = {
      'identity=user%7C42': [marked],
      'identity=nobody': [],
      'verified=false': [],
      'status=pending': [plain],
      'status=open': [byTeam, marked],
      'status=resolved': [],
      [`assignee=${member}`]: [marked],
      'assignee=none': [plain, byTeam],
      [`assignee=${toTypeId('member', v7())}`]: [],
      'tag=bug': [marked],
      'tag=bu': [],
      'priority=high': [marked],
      'priority=none': [plain, byTeam],
      'source=user': [plain, marked],
      'source=api': [byTeam],
      'unread=true': [plain, marked],
      'unread=false': [byTeam],
      'status=open&source=user&tag=vip': [marked],
      'q=hello': [plain, byTeam, marked],
      'q=and+MORE': [plain],
      'q=mor+an': [plain],
      'q=hello&tag=vip': [marked],
      'q=nowhere': [],
      'q=_': [],
      'sort=created_at': [plain, marked, byTeam],
      'sort=-created_at': [byTeam, marked, plain],
      'sort=last_activity_at': [marked, byTeam, plain],
      'sort=-last_activity_at': [plain, byTeam, marked],
    };
    const found: Record<string, string[]> = {};
    for (const query of Object.keys(expected)) found[query] = idsOf(await list(team, `?${query}`));
    expect(found).toEqual(expected);
  });

  test.each([
    'status=closed',
    'status=',
    'assignee=key_01h455vb4pex5vsknk084sn02q',
    'assignee=me',
    'priority=top',
    'source=web',
    'unread=yes',
    'updated_since=yesterday',
    'updated_since=2026-13-01T00:00:00Z',
    'sort=subject',
    'q=',
    'q=+',
    'q=%00',
    'identity=',
    'identity=%00',
    'tag=',
  ])('a filter that can not match, %s, is refused', async query => {
    const { team } = await makeParties();
    expect(problem(await get(team, `/v1/conversations?${query}`))).toEqual([422, 'validation-failed']);
  });

  test('words are found in subjects, messages and notes, and no longer in what was redacted or is an event', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user, { subject: "Müller's invoice", message: 'paid-up at https://pay.example/x' }))
      .body;
    const found = async (q: string) => idsOf(await list(team, `?q=${encodeURIComponent(q)}`));
    for (const q of ['müller', 'INVOICE', 'invo', 'paid', 'pay.example', "Müller's", "' \\ & | ! :* <->  invoice"])
      expect([q, await found(q)]).toEqual([q, [id]]);
    expect(await found('zebra')).toEqual([]);
    await write(team, id, { kind: 'note', body: 'a zebra for the team' });
    expect(await found('zebra invoice')).toEqual([]); // a subject and a note are two texts
    expect(await found('zebra')).toEqual([id]);
    const reply = (await write(team, id, { body: 'the quagga' })).body;
    expect(await found('quagga')).toEqual([id]);
    await api.request('DELETE', `/v1/conversations/${id}/messages/${reply.id}`, { as: team });
    expect(await found('quagga')).toEqual([]);
    await patch(team, `/v1/conversations/${id}`, { priority: 'urgent' });
    expect(await found('urgent')).toEqual([]);
    const { team: other } = await makeParties();
    expect(await list(other, '?q=zebra')).toEqual([]);
  });

  test('words of more conversations than the index is asked for are found all the same', async () => {
    const { tenant, team, user } = await makeParties();
    await seed(tenant, 2100);
    const { id } = (await start(user, { subject: 'seeded by hand', message: 'not a seed' })).body;
    expect(idsOf(await list(team, '?q=seeded&limit=1'))).toEqual([id]);
    expect(await readPages(team, '/v1/conversations?q=seeded&limit=100')).toHaveLength(2101);
    expect(idsOf(await list(team, '?q=seeded+hand'))).toEqual([id]);
    expect(await list(team, '?q=seeded&source=api')).toEqual([]);
    await api.database.query(
      `insert into messages (tenant_id, id, conversation_id, seq, note_seq, kind, author_type, body, format, created_at, redacted)
       select $1, gen_random_uuid(), $2, n, 0, 'reply', 'user', 'chatty', 'text', now(), false from generate_series(2, 2500) as n`,
      [tenant.uuid, uuidOf(id)],
    );
    const other = (await start(user, { message: 'chatty too' })).body.id;
    expect(idsOf(await list(team, '?q=chatty'))).toEqual([other, id]);
  });

  test('an unknown parameter and one given twice are refused', async () => {
    const { team } = await makeParties();
    expect(problem(await get(team, '/v1/conversations?state=open'))).toEqual([400, 'unknown-parameter']);
    expect(problem(await get(team, '/v1/conversations?status=open&status=open'))).toEqual([400, 'repeated-parameter']);
  });

  test('moments at the edge of time are answered, never with a failure', async () => {
    const { team, user } = await makeParties();
    for (const since of ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z'])
      for (const as of [team, user])
        expect((await get(as, `/v1/conversations?updated_since=${since}`)).status, since).toBe(200);
    for (const since of ['0000-01-01T00:00:00Z', '0001-01-01T00:00:00%2B23:59', '9999-12-31T23:59:59-23:59'])
      expect([200, 422], since).toContain((await get(team, `/v1/conversations?updated_since=${since}`)).status);
  });

  test('a user filters by status and unread, and not by what is for the team', async () => {
    const { user, team } = await makeParties();
    const quiet = (await start(user)).body.id;
    const replied = (await start(user)).body.id;
    await write(team, replied);
    expect(idsOf(await list(user, '?status=pending'))).toEqual([replied]);
    expect(idsOf(await list(user, '?unread=true'))).toEqual([replied]);
    expect(idsOf(await list(user, '?unread=false'))).toEqual([quiet]);
    for (const name of [
      'identity=user%7C43',
      'verified=true',
      'assignee=none',
      'tag=x',
      'priority=low',
      'source=user',
      'sort=created_at',
    ]) {
      const refused = await get(user, `/v1/conversations?${name}`);
      expect(problem(refused), name).toEqual([400, 'unknown-parameter']);
      expect(refused.body.errors).toHaveLength(1);
    }
  });

  test('a user sees its own conversations alone, without the fields of the team', async () => {
    const { user, tenant } = await makeParties();
    const own = (await start(user)).body;
    await start(await tenant.sign('user|43'));
    const seen = await list(user);
    expect(seen).toEqual([own]);
    for (const name of ['priority', 'assignee_id', 'tags']) expect(seen[0]).not.toHaveProperty(name);
  });

  test.each([
    '',
    '&sort=last_activity_at',
    '&sort=created_at',
    '&sort=-created_at',
    '&updated_since=2025-01-01T00:00:00Z',
  ])('pages of seven give the whole list, each row once and in order (%s)', async query => {
    const { tenant, team } = await makeParties();
    await seed(tenant, 123);
    const deep = idsOf((await readPages(team, `/v1/conversations?limit=7${query}`)) as { id: string }[]);
    const descending = query === '' || query === '&sort=-created_at';
    const rows = await api.database.query<{ id: string }>(
      `select id from conversations where tenant_id = $1 order by created_at, id`,
      [tenant.uuid],
    );
    const all = rows.map(({ id }) => toTypeId('conversation', id));
    expect(deep).toEqual(descending ? all.toReversed() : all);
    expect(idsOf((await readPages(team, `/v1/conversations?limit=100${query}`)) as { id: string }[])).toEqual(deep);
  });

  test('while others write, a reader of pages meets each row once and misses none', async () => {
    const { tenant, team, user } = await makeParties();
    await seed(tenant, 45);
    const before = idsOf(await list(team, '?limit=100'));
    const added: string[] = [];
    const disturb = async () => {
      const replies = await Promise.all([start(user), start(user)]);
      added.push(...idsOf(replies.map(({ body }) => body)));
    };
    const newestFirst = await readPages(team, '/v1/conversations?limit=10', disturb);
    expect(idsOf(newestFirst as { id: string }[])).toEqual(before);
    expect(added).toHaveLength(8);

    const oldestFirst = idsOf(
      (await readPages(team, '/v1/conversations?limit=10&sort=created_at', disturb)) as { id: string }[],
    );
    expect(new Set(oldestFirst).size).toBe(oldestFirst.length);
    expect(oldestFirst.slice(0, 45)).toEqual(before.toReversed());
    expect(oldestFirst).toEqual(expect.arrayContaining(added.slice(0, 8)));
  });

  test('a cursor works for its own filters alone', async () => {
    const { tenant, team } = await makeParties();
    await seed(tenant, 3);
    const cursor = (await get(team, '/v1/conversations?limit=1&status=open')).body.next_cursor;
    expect((await get(team, `/v1/conversations?limit=2&status=open&cursor=${cursor}`)).status).toBe(200);
    for (const query of [
      `cursor=${cursor}`,
      `status=pending&cursor=${cursor}`,
      `status=open&cursor=${cursor}x`,
      'cursor=x',
      'cursor=',
    ])
      expect(problem(await get(team, `/v1/conversations?limit=1&${query}`)), query).toEqual([400, 'invalid-cursor']);
  });
});

describe('reading incrementally', () => {
  test('gives what changed since, in the order of the change, to each side', async () => {
    const { user, team } = await makeParties();
    const first = (await start(user)).body;
    const second = (await start(user)).body;
    await write(team, first.id);
    const { updated_at: since } = second;
    for (const as of [team, user]) {
      const changed = await waitFor(async () => {
        const rows = await list(as, `?updated_since=${since}`);
        return rows.length === 2 && rows;
      });
      expect(idsOf(changed)).toEqual([second.id, first.id]);
    }
  });

  test('never passes a write that is still open, and gives it once it commits', async () => {
    const { user, team } = await makeParties();
    const late = (await start(user)).body;
    await using writer = await openTransaction();
    await writer.query(
      `update conversations set subject = 'late', updated_at = clock_timestamp(), team_updated_at = clock_timestamp()
       where id = $1`,
      [uuidOf(late.id)],
    );
    const quick = (await start(user)).body;
    expect(Date.parse(quick.updated_at)).toBeGreaterThan(Date.parse(late.updated_at));
    const since = `?updated_since=${new Date(Date.parse(late.updated_at) + 1).toISOString()}`;
    for (const as of [team, user]) {
      const held = await get(as, `/v1/conversations${since}`);
      expect(held.body.data).toEqual([]); // its commit may still come before
      expect(Date.parse(held.headers.get('Updated-Until') as string)).toBeLessThan(Date.parse(late.updated_at) + 1000);
      expect(held.headers.get('Access-Control-Expose-Headers')).toContain('Updated-Until');
    }

    await writer.query('commit');
    for (const as of [team, user]) {
      const changed = await waitFor(async () => {
        const rows = await list(as, since);
        return rows.length === 2 && rows;
      });
      expect(idsOf(changed)).toEqual([late.id, quick.id]);
      expect(changed[0].subject).toBe('late');
    }
  });

  test('says with `Updated-Until` which changes were in the walk, and nothing without `updated_since`', async () => {
    const { team, user } = await makeParties();
    expect((await get(team, '/v1/conversations')).headers.get('Updated-Until')).toBeNull();
    const { updated_at } = (await start(user)).body;
    const since = '/v1/conversations?limit=1&updated_since=2026-01-01T00:00:00.000Z';
    const whole = await waitFor(async () => {
      const reply = await get(team, since);
      return Date.parse(reply.headers.get('Updated-Until') as string) > Date.parse(updated_at) && reply;
    });
    expect(whole.body).toMatchObject({ has_more: false, data: [{ updated_at }] });
  });

  test('shows the age of an open write as a metric, and reports who holds readers back, once a minute', async () => {
    await using writer = await openTransaction();
    await writer.query("set application_name = 'an operator'");
    await writer.query('select pg_current_xact_id()');
    const age = async () =>
      Number(/^parley_oldest_open_write_seconds (\S+)$/m.exec(await api.metrics.render())?.[1] ?? Number.NaN);
    await waitFor(async () => (await age()) > 0.05);

    const lines: Record<string, unknown>[] = [];
    const log = pino({ base: null }, { write: line => void lines.push(JSON.parse(line)) });
    let passed = 0;
    const reads = createIncrementalReads(api.database.storage(), createMetrics('serve'), log, {
      now: () => Date.now() + passed,
      reportedFromS: 0.05,
    });
    for (let round = 0; round < 3; round++) await reads.open(new Date());
    expect(lines).toMatchObject([{ application: 'an operator', pid: expect.any(Number), age_s: expect.any(Number) }]);
    passed = 61_000;
    for (let round = 0; round < 3; round++) await reads.open(new Date());
    expect(lines).toHaveLength(2);
    await writer.query('commit');
    await waitFor(async () => (await age()) < 0.05);
  });

  test('is not held up by a transaction that only reads', async () => {
    const { user, team } = await makeParties();
    await using reader = await openTransaction();
    await reader.query('select count(*) from conversations');
    const { id, updated_at } = (await start(user)).body;
    await waitFor(async () => idsOf(await list(team, `?updated_since=${updated_at}`)).includes(id));
  });

  test.each(['team', 'user'] as const)(
    '%s that goes on from the last change it saw ends with the state of everything',
    async side => {
      const parties = await makeParties();
      const as = parties[side];
      const known = new Map<string, Body>();
      let since = '2026-01-01T00:00:00.000Z';
      let writing = true;
      const catchUp = async () => {
        for (const row of await readPages(as, `/v1/conversations?limit=3&updated_since=${since}`)) {
          known.set(row.id as string, row);
          since = row.updated_at as string;
        }
      };
      const reader = (async () => {
        while (writing) await catchUp();
      })();
      const lane = async () => {
        for (let count = 0; count < 6; count++) {
          const { id } = (await start(parties.user)).body;
          await Promise.all([
            write(parties.team, id),
            write(parties.user, id),
            patch(parties.team, `/v1/conversations/${id}`, { subject: 'changed' }),
          ]);
          await markRead(parties.user, id, 2);
        }
      };
      await Promise.all([lane(), lane(), lane(), lane()]);
      writing = false;
      await reader;

      const final = new Map((await list(as, '?limit=100')).map((row: { id: string }) => [row.id, row]));
      expect(final.size).toBe(24);
      const newest = Math.max(
        ...[...final.values()].map(row => Date.parse((row as { updated_at: string }).updated_at)),
      );
      await waitFor(async () => {
        await catchUp();
        return Date.parse(since) === newest;
      });
      expect(Object.fromEntries(known)).toEqual(Object.fromEntries(final));
    },
  );
});

/** A transaction of the database's owner, rolled back at the end of the scope unless it was committed. */
async function openTransaction(): Promise<Client & AsyncDisposable> {
  const client = new Client({ connectionString: api.database.url });
  await client.connect();
  await client.query('begin');
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

describe('reading one conversation', () => {
  test('carries a strong ETag with which it is not sent again', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    const path = `/v1/conversations/${id}`;
    const etag = (await get(user, path)).headers.get('ETag') as string;
    expect(etag).toMatch(/^"[\w-]+"$/);
    const unchanged = await get(user, path, { 'If-None-Match': etag });
    expect([unchanged.status, unchanged.body, unchanged.headers.get('ETag')]).toEqual([304, '', etag]);
    await write(team, id);
    expect((await get(user, path, { 'If-None-Match': etag })).status).toBe(200);
  });

  test.each(['conversation_x', 'message_01h455vb4pex5vsknk084sn02q', 'CONVERSATION_01h455vb4pex5vsknk084sn02q', '%00'])(
    'an id that is none, %s, is one at which there is nothing',
    async id => {
      const { team } = await makeParties();
      expect(problem(await get(team, `/v1/conversations/${id}`))).toEqual([404, 'resource-not-found']);
    },
  );
});

describe('the status of a conversation', () => {
  const statusOf = async (as: string, id: string) => (await read(as, id)).status;

  test('follows the replies: the team makes it pending, the user opens it', async () => {
    const { user, team } = await makeParties();
    const { id, created_at } = (await start(user)).body;
    const replied = await write(team, id);
    expect(await read(user, id)).toMatchObject({
      status: 'pending',
      waiting_since: null,
      first_reply_at: replied.body.created_at,
      last_message: { seq: 2, preview: 'And more', author_type: 'api', at: replied.body.created_at },
    });
    const asked = await write(user, id);
    await write(user, id);
    await write(team, id, { kind: 'note' });
    expect(await read(user, id)).toMatchObject({
      status: 'open',
      waiting_since: asked.body.created_at,
      first_reply_at: replied.body.created_at,
      created_at,
      message_count: 4,
    });
  });

  test('can be set to any other by the team, which is told to the user', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    for (const status of ['pending', 'resolved', 'open', 'resolved', 'pending', 'open']) {
      const changed = await patch(team, `/v1/conversations/${id}`, { status });
      expect([changed.status, changed.body.status]).toEqual([200, status]);
      expect(changed.body.resolved_at === null).toBe(status !== 'resolved');
      expect(await statusOf(user, id)).toBe(status);
    }
  });

  test.each(['open', 'pending', 'resolved'])(
    'set to %s twice is a conflict that names what can follow',
    async status => {
      const { user, team } = await makeParties();
      const { id } = (await start(user)).body;
      if (status !== 'open') await patch(team, `/v1/conversations/${id}`, { status });
      const again = await patch(team, `/v1/conversations/${id}`, { status, subject: 'not taken' });
      expect(problem(again)).toEqual([409, 'invalid-transition']);
      expect(again.body.from).toBe(status);
      expect(again.body.allowed.toSorted()).toEqual(['open', 'pending', 'resolved'].filter(other => other !== status));
      expect((await read(team, id)).subject).toBe('');
    },
  );

  test('can be set to resolved by the user, and to nothing else', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    await write(team, id);
    const path = `/v1/conversations/${id}`;
    for (const body of [
      { status: 'open' },
      { status: 'pending' },
      { subject: 'Mine' },
      { tags: [] },
      { priority: 'low' },
      { assignee_id: null },
      { status: 'resolved', subject: 'Mine' },
    ])
      expect(problem(await patch(user, path, body)), JSON.stringify(body)).toEqual([422, 'validation-failed']);
    const resolved = await patch(user, path, { status: 'resolved' });
    expect(resolved.body).toMatchObject({ status: 'resolved', resolved_at: expect.any(String), subject: '' });
    expect(resolved.body).not.toHaveProperty('priority');
    expect(problem(await patch(user, path, { status: 'resolved' }))).toEqual([409, 'invalid-transition']);
  });

  test("is open again by a user's message within 30 days of its resolution, in the same conversation", async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    await patch(team, `/v1/conversations/${id}`, { status: 'resolved' });
    await backdate(id, 'resolved_at', '29 days 23 hours');
    const written = await write(user, id);
    expect(written.body).toMatchObject({ conversation_id: id, seq: 2 });
    expect(await read(user, id)).toMatchObject({ status: 'open', resolved_at: null, previous_id: null });
    expect(await list(user)).toHaveLength(1);
  });

  test("stays resolved after 30 days: a user's message starts a conversation that names the old one", async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user, { subject: 'Billing' })).body;
    await patch(team, `/v1/conversations/${id}`, { status: 'resolved' });
    await backdate(id, 'resolved_at', '30 days 1 minute');
    const old = await read(user, id);

    const written = await write(user, id, { body: '**Still** wrong', format: 'markdown', client_message_id: 'm9' });
    expect(written.status).toBe(201);
    const { conversation_id: next } = written.body;
    expect(next).not.toBe(id);
    expect(written.body).toMatchObject({ seq: 1, format: 'markdown', body: '**Still** wrong' });
    expect(written.headers.get('Location')).toBe(`/v1/conversations/${next}/messages/${written.body.id}`);
    expect(await read(user, next)).toMatchObject({
      previous_id: id,
      subject: 'Billing',
      status: 'open',
      message_count: 1,
    });
    expect(await read(user, id)).toEqual(old);

    const again = await write(user, id, { client_message_id: 'm9' });
    expect([again.status, again.body]).toEqual([200, written.body]);
  });

  test('leads all messages to a conversation long resolved into one that follows it', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    await patch(team, `/v1/conversations/${id}`, { status: 'resolved' });
    await backdate(id, 'resolved_at', '31 days');
    const outbox = await Promise.all(['a', 'b', 'c'].map(name => write(user, id, { client_message_id: name })));
    expect(outbox.map(({ status }) => status)).toEqual([201, 201, 201]);
    const followers = new Set(outbox.map(({ body }) => body.conversation_id));
    expect(followers.size).toBe(1);
    expect(outbox.map(({ body }) => body.seq).toSorted()).toEqual([1, 2, 3]);

    const [next] = followers;
    await patch(team, `/v1/conversations/${next}`, { status: 'resolved' });
    await backdate(next, 'resolved_at', '31 days');
    const third = await write(user, id, { client_message_id: 'd' });
    expect((await read(user, third.body.conversation_id)).previous_id).toBe(next);
  });

  test('takes a client_message_id for the following conversation that started another one', async () => {
    const { user, team } = await makeParties();
    await start(user, { client_message_id: 'm1' });
    const { id } = (await start(user, { client_message_id: 'm2' })).body;
    await patch(team, `/v1/conversations/${id}`, { status: 'resolved' });
    await backdate(id, 'resolved_at', '31 days');
    const written = await write(user, id, { client_message_id: 'm1' });
    expect(written.status).toBe(201);
    expect((await read(user, written.body.conversation_id)).previous_id).toBe(id);
  });

  test("is pending after the team's reply, however long it was resolved", async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    await patch(team, `/v1/conversations/${id}`, { status: 'resolved' });
    await backdate(id, 'resolved_at', '90 days');
    expect((await write(team, id)).body.conversation_id).toBe(id);
    expect(await read(user, id)).toMatchObject({ status: 'pending', resolved_at: null });
  });
});

describe('changing a conversation', () => {
  test('takes subject, tags, priority and assignee, and gives what it became', async () => {
    const { user, team, tenant } = await makeParties();
    const member = await makeMember(tenant);
    const path = `/v1/conversations/${(await start(user)).body.id}`;
    const change = { subject: 'Refund', tags: ['vip', 'billing'], priority: 'urgent', assignee_id: member };
    const changed = await patch(team, path, change);
    expect(changed.status).toBe(200);
    expect(changed.body).toMatchObject(change);
    expect((await get(team, path)).body).toEqual(changed.body);
    const cleared = await patch(team, path, { tags: [], priority: 'none', assignee_id: null, subject: '' });
    expect(cleared.body).toMatchObject({ tags: [], priority: 'none', assignee_id: null, subject: '' });
  });

  test.each<[string, Body]>([
    ['an unknown status', { status: 'closed' }],
    ['a status that only time brings', { status: 'snoozed' }],
    ['21 tags', { tags: Array.from({ length: 21 }, (_, index) => `t${index}`) }],
    ['a tag twice', { tags: ['a', 'a'] }],
    ['an unknown priority', { priority: 'top' }],
    ['an unknown assignee', { assignee_id: 'member_01h455vb4pex5vsknk084sn02q' }],
    ['an assignee that is no member', { assignee_id: 'key_01h455vb4pex5vsknk084sn02q' }],
    ['a long subject', { subject: 'x'.repeat(201) }],
    ['a read-only field', { message_count: 5 }],
  ])('%s is refused and changes nothing', async (_, change) => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    const before = await read(team, id);
    expect(problem(await patch(team, `/v1/conversations/${id}`, change))).toEqual([422, 'validation-failed']);
    expect(await read(team, id)).toEqual(before);
  });

  test('to what it is already moves nothing', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user, { subject: 'Billing' })).body;
    const before = await read(team, id);
    for (const change of [{}, { subject: 'Billing', tags: [], priority: 'none', assignee_id: null }])
      expect((await patch(team, `/v1/conversations/${id}`, change)).body).toEqual(before);
    expect(await messages(team, id)).toHaveLength(1);
  });

  test('needs the version that If-Match names', async () => {
    const { user, team } = await makeParties();
    const path = `/v1/conversations/${(await start(user)).body.id}`;
    const etag = (await get(team, path)).headers.get('ETag') as string;
    const first = await patch(team, path, { subject: 'one' }, { 'If-Match': etag });
    expect(first.status).toBe(200);
    const stale = await patch(team, path, { subject: 'two' }, { 'If-Match': etag });
    expect(problem(stale)).toEqual([412, 'precondition-failed']);
    expect(stale.body.etag).toBe((await get(team, path)).headers.get('ETag'));
    const weak = await patch(team, path, { subject: 'two' }, { 'If-Match': `W/${stale.body.etag}` });
    expect(weak.status).toBe(412); // compared strongly
    expect((await patch(team, path, { subject: 'two' }, { 'If-Match': `"x", ${stale.body.etag}` })).status).toBe(200);
    expect((await patch(team, path, { subject: 'three' }, { 'If-Match': '*' })).status).toBe(200);

    const deletion = (tag: string) => api.request('DELETE', path, { as: team, headers: { 'If-Match': tag } });
    expect(problem(await deletion(etag))).toEqual([412, 'precondition-failed']);
    expect((await deletion((await get(team, path)).headers.get('ETag') as string)).status).toBe(204);
  });

  test('of two with the same If-Match at once, one is refused', async () => {
    const { user, team } = await makeParties();
    const path = `/v1/conversations/${(await start(user)).body.id}`;
    const etag = (await get(team, path)).headers.get('ETag') as string;
    const replies = await Promise.all(
      ['one', 'two'].map(subject => patch(team, path, { subject }, { 'If-Match': etag })),
    );
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 412]);
  });

  test('by deleting it takes it away from both sides, with its messages', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    await write(team, id);
    const deleted = await api.request('DELETE', `/v1/conversations/${id}`, { as: team });
    expect([deleted.status, deleted.body]).toEqual([204, '']);
    for (const as of [team, user])
      for (const path of ['', '/messages']) expect((await get(as, `/v1/conversations/${id}${path}`)).status).toBe(404);
    expect((await write(user, id)).status).toBe(404);
    expect(await list(team)).toEqual([]);
    expect(await api.database.query('select from messages where conversation_id = $1', [uuidOf(id)])).toEqual([]);
  });
});

describe('messages', () => {
  test('are numbered without a gap, also when both sides write at once', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    const replies = await Promise.all(Array.from({ length: 16 }, (_, index) => write(index % 2 ? user : team, id)));
    expect(replies.map(({ status }) => status)).toEqual(Array(16).fill(201));
    const numbers = (await messages(user, id)).map(({ seq }: { seq: number }) => seq);
    expect(numbers).toEqual(Array.from({ length: 17 }, (_, index) => index + 1));
    expect(await read(user, id)).toMatchObject({ message_count: 17, unread_count: 8, last_message: { seq: 17 } });
    expect(await read(team, id)).toMatchObject({ unread_count: 9 });
  });

  test.each(['user', 'team'] as const)(
    'of the %s with the same client_message_id are one, twice and at once',
    async side => {
      const parties = await makeParties();
      const as = parties[side];
      const { id } = (await start(parties.user)).body;
      const first = await write(as, id, { client_message_id: 'm1' });
      const again = await write(as, id, { client_message_id: 'm1', body: 'Another text' });
      expect([first.status, again.status]).toEqual([201, 200]);
      expect(again.body).toEqual(first.body);
      expect(again.headers.get('Location')).toBe(`/v1/conversations/${id}/messages/${first.body.id}`);

      const atOnce = await Promise.all(Array.from({ length: 8 }, () => write(as, id, { client_message_id: 'm2' })));
      expect(atOnce.map(({ status }) => status).toSorted()).toEqual([...Array(7).fill(200), 201]);
      expect(new Set(idsOf(atOnce.map(({ body }) => body))).size).toBe(1);
      expect(await messages(as, id)).toHaveLength(3);
    },
  );

  test.each(['keys', 'members'] as const)('of two %s with the same client_message_id are their own', async kind => {
    const { tenant, user } = await makeParties();
    const { id } = (await start(user)).body;
    const writeAs = await teamOf(tenant, kind);
    const path = `/v1/conversations/${id}/messages`;
    for (const fields of [{ kind: 'reply' }, { kind: 'note', client_message_id: 'm2' }]) {
      const replies = [];
      for (const as of [0, 1, 0, 1])
        replies.push(await writeAs(as, path, { client_message_id: 'm1', body: `By ${as}`, ...fields }));
      expect(replies.map(({ status, body }) => [status, body.body])).toEqual([
        [201, 'By 0'],
        [201, 'By 1'],
        [200, 'By 0'],
        [200, 'By 1'],
      ]);
    }
  });

  test('with the same client_message_id of the other side, or elsewhere, are their own', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    const elsewhere = (await start(user)).body.id;
    const replies = [
      await write(user, id, { client_message_id: 'm1' }),
      await write(team, id, { client_message_id: 'm1' }),
      await write(user, elsewhere, { client_message_id: 'm1' }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201]);
  });

  test.each<[string, Body]>([
    ['an empty body', { body: '' }],
    ['10,001 characters', { body: 'x'.repeat(10_001) }],
    ['an unknown format', { format: 'html' }],
    ['an event', { kind: 'event' }],
    ['U+0000', { body: 'a\u0000' }],
    ['an unknown field', { author: 'me' }],
  ])('%s is refused', async (_, fields) => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    expect(problem(await write(team, id, fields))).toEqual([422, 'validation-failed']);
    expect(await messages(team, id)).toHaveLength(1);
  });

  test('are listed oldest first, page by page and from a number on', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    for (let count = 2; count <= 12; count++) await write(user, id, { body: String(count) });
    const path = `/v1/conversations/${id}/messages`;
    expect((await get(user, path)).body.data).toHaveLength(10);
    for (const as of [user, team]) {
      const whole = await messages(as, id);
      expect(whole).toHaveLength(12);
      expect(await readPages(as, `${path}?limit=5`)).toEqual(whole);
      expect(await readPages(as, `${path}?limit=5&after_seq=4`)).toEqual(whole.slice(4));
      expect(await messages(as, id, '?after_seq=12')).toEqual([]);
      expect(await messages(as, id, '?after_seq=2147483647')).toEqual([]);
    }
    for (const query of ['after_seq=-1', 'after_seq=x', 'after_seq=2147483648', 'after_seq=1.5'])
      expect((await get(user, `${path}?${query}`)).status, query).toBe(422);
  });

  test('that are notes stand for the team where they were written, in a sequence of their own', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    await write(team, id, { body: 'n1', kind: 'note' });
    await write(team, id, { body: 'n2', kind: 'note' });
    await write(user, id, { body: 'r2' });
    await write(team, id, { body: 'n3', kind: 'note', client_message_id: 'm1' });
    await patch(team, `/v1/conversations/${id}`, { priority: 'low' });
    const seen = await messages(team, id);
    expect(seen.map(({ kind, seq, body }: Body) => [kind, seq, body])).toEqual([
      ['reply', 1, 'Hello'],
      ['note', 1, 'n1'],
      ['note', 2, 'n2'],
      ['reply', 2, 'r2'],
      ['note', 3, 'n3'],
      ['event', 4, 'priority: none → low'],
    ]);
    expect(await readPages(team, `/v1/conversations/${id}/messages?limit=1`)).toEqual(seen);
    expect((await messages(user, id)).map(({ body }: Body) => body)).toEqual(['Hello', 'r2']);
    expect(await readPages(user, `/v1/conversations/${id}/messages?limit=1`)).toHaveLength(2);
    const again = await write(team, id, { body: 'n3', kind: 'note', client_message_id: 'm1' });
    expect([again.status, again.body.seq]).toEqual([200, 3]);
  });

  test('of a user are replies alone', async () => {
    const { user } = await makeParties();
    const { id } = (await start(user)).body;
    expect(problem(await write(user, id, { kind: 'note' }))).toEqual([422, 'validation-failed']);
    expect((await write(user, id, { kind: 'reply' })).status).toBe(201);
  });

  test('tell the team of an assignment as an event that names the member as the API does', async () => {
    const { user, team, tenant } = await makeParties();
    const member = await makeMember(tenant);
    const { id } = (await start(user)).body;
    await patch(team, `/v1/conversations/${id}`, { assignee_id: member, status: 'pending' });
    const events = (await messages(team, id)).filter(({ kind }: Body) => kind === 'event');
    expect(events.map(({ body }: Body) => body).toSorted()).toEqual([
      `assignee_id: none → ${member}`,
      'status: open → pending',
    ]);
    expect(events[0].author).toEqual({ type: 'api', id: tenant.key.id, name: null });
  });
});

describe('what the team does among itself', () => {
  test('moves nothing that the user sees', async () => {
    const { user, team, tenant } = await makeParties();
    const member = await makeMember(tenant);
    const { id, updated_at } = (await start(user)).body;
    await write(team, id);
    const path = `/v1/conversations/${id}`;
    const sight = async () => {
      const [one, all, texts, unread] = [
        await get(user, path),
        await get(user, '/v1/conversations'),
        await get(user, `${path}/messages`),
        await get(user, '/v1/conversations/unread-count'),
      ];
      const etags = [one, unread].map(({ headers }) => headers.get('ETag'));
      return { bodies: [one, all, texts, unread].map(({ body }) => body), etags };
    };
    const before = await sight();
    const forTeam = await read(team, id);

    const note = await write(team, id, { body: 'not for you', kind: 'note' });
    expect(note.status).toBe(201);
    expect((await patch(team, path, { tags: ['vip'], priority: 'high', assignee_id: member })).status).toBe(200);
    expect((await patch(team, `${path}/messages/${note.body.id}`, { body: 'still not' })).status).toBe(200);
    const redacted = await api.request('DELETE', `${path}/messages/${note.body.id}`, { as: team });
    expect(redacted.status).toBe(204);
    expect((await markRead(team, id, 1)).status).toBe(204);

    expect(await sight()).toEqual(before);
    const now = await read(team, id);
    expect(Date.parse(now.updated_at)).toBeGreaterThan(Date.parse(forTeam.updated_at));
    expect(now.last_message).toEqual(forTeam.last_message);
    expect(now.last_activity_at).toBe(forTeam.last_activity_at);

    const since = new Date(Date.parse(before.bodies[0].updated_at) + 1).toISOString();
    await waitFor(async () => (await list(team, `?updated_since=${since}`)).length === 1);
    expect(await list(user, `?updated_since=${since}`)).toEqual([]);
    expect(Date.parse(since)).toBeGreaterThan(Date.parse(updated_at));
  });
});

describe('read horizons', () => {
  test('count for each side what the other wrote beyond its own', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body; // 1
    await write(team, id); // 2
    await write(team, id); // 3
    await write(user, id); // 4
    await write(team, id, { kind: 'note' });
    const unread = async () => [(await read(user, id)).unread_count, (await read(team, id)).unread_count];
    expect(await unread()).toEqual([2, 2]);
    await markRead(user, id, 2);
    expect(await unread()).toEqual([1, 2]);
    await markRead(team, id, 3);
    expect(await unread()).toEqual([1, 1]);
    await markRead(user, id, 4);
    await markRead(team, id, 4);
    expect(await unread()).toEqual([0, 0]);
    await write(team, id);
    expect(await unread()).toEqual([1, 0]);
  });

  test('never move back, and never beyond the last message', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    for (let count = 0; count < 3; count++) await write(team, id);
    const unread = async () => (await read(user, id)).unread_count;
    expect((await markRead(user, id, 3)).status).toBe(204);
    expect(await unread()).toBe(1);
    const { updated_at } = await read(user, id);
    for (const seq of [0, 1, 3]) expect((await markRead(user, id, seq)).status).toBe(204);
    expect(await unread()).toBe(1);
    expect((await read(user, id)).updated_at).toBe(updated_at);
    await markRead(user, id, 2_147_483_647);
    expect(await unread()).toBe(0);
    await write(team, id);
    expect(await unread()).toBe(1); // a horizon beyond the last message would have hidden it
  });

  test('moved by many at once end at the highest', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user)).body;
    for (let count = 0; count < 6; count++) await write(team, id);
    await Promise.all([5, 2, 6, 3, 4].map(seq => markRead(user, id, seq)));
    expect((await read(user, id)).unread_count).toBe(1);
  });

  test.each([-1, 1.5, '1', null, 2_147_483_648])('%j is no horizon', async seq => {
    const { user } = await makeParties();
    const { id } = (await start(user)).body;
    const reply = await api.request('PUT', `/v1/conversations/${id}/read`, { as: user, body: { seq } });
    expect(problem(reply)).toEqual([422, 'validation-failed']);
  });

  test('the count of unread conversations is one request with an ETag', async () => {
    const { user, team, tenant } = await makeParties();
    const ask = (headers = {}) => get(user, '/v1/conversations/unread-count', headers);
    const none = await ask();
    expect(none.body).toEqual({ count: 0 });
    const [one, two] = [(await start(team, { identity: 'user|42' })).body.id, (await start(user)).body.id];
    await start(team, { identity: 'user|43' });
    await write(team, one);
    await write(team, two);
    const both = await ask({ 'If-None-Match': none.headers.get('ETag') as string });
    expect([both.status, both.body]).toEqual([200, { count: 2 }]);
    expect((await ask({ 'If-None-Match': both.headers.get('ETag') as string })).status).toBe(304);
    await markRead(user, one, 2);
    expect((await ask()).body).toEqual({ count: 1 });
    expect((await get(await tenant.sign('user|43'), '/v1/conversations/unread-count')).body).toEqual({ count: 1 });
    expect(problem(await get(user, '/v1/conversations/unread-count?assignee=none'))).toEqual([
      400,
      'unknown-parameter',
    ]);
  });

  test('the count of the team is that of all, of one member, or of what nobody has', async () => {
    const { tenant, team, user } = await makeParties();
    const member = await makeMember(tenant);
    const [assigned] = [
      (await start(user)).body.id,
      await start(user),
      await start(user),
      await start(team, { identity: 'b' }),
    ];
    await patch(team, `/v1/conversations/${assigned}`, { assignee_id: member });
    const storage = api.database.storage().forTenant(tenant.uuid);
    const count = (assignee?: string) => countUnread(storage, 'team', undefined, assignee);
    const uuid = parseTypeId('member', member) as string;
    expect([await count(), await count(uuid), await count('none'), await count(v7())]).toEqual([3, 1, 2, 0]);
  });
});

describe('editing and redacting a message', () => {
  test.each(['user', 'team'] as const)('is for its author, the %s, and shows in the conversation', async side => {
    const parties = await makeParties();
    const as = parties[side];
    const { id } = (await start(as, side === 'team' ? { identity: 'user|42' } : {})).body;
    const [first] = await messages(as, id);
    const path = `/v1/conversations/${id}/messages/${first.id}`;
    const edited = await patch(as, path, { body: 'Hello *again*', format: 'markdown' });
    expect(edited.status).toBe(200);
    expect(edited.body).toEqual({ ...first, body: 'Hello *again*', format: 'markdown', edited_at: expect.any(String) });
    const again = await patch(as, path, { body: 'Hello' });
    expect(again.body).toMatchObject({ body: 'Hello', format: 'markdown' });
    for (const eyes of [parties.user, parties.team]) {
      const seen = await read(eyes, id);
      expect(seen).toMatchObject({ last_message: { seq: 1, preview: 'Hello' }, updated_at: again.body.edited_at });
      expect(seen.last_activity_at).toBe(first.created_at);
    }
  });

  test('of an earlier one leaves the preview of the last', async () => {
    const { user } = await makeParties();
    const { id } = (await start(user)).body;
    await write(user, id, { body: 'Last' });
    const [first] = await messages(user, id);
    await patch(user, `/v1/conversations/${id}/messages/${first.id}`, { body: 'Changed' });
    expect((await read(user, id)).last_message.preview).toBe('Last');
  });

  test('of somebody else is refused', async () => {
    const { user, team, tenant } = await makeParties();
    const { id } = (await start(user)).body;
    await write(team, id);
    const [ofUser, ofTeam] = await messages(team, id);
    const second = (await tenant.addKey()).apiKey;
    const change = (as: string, message: Body) =>
      patch(as, `/v1/conversations/${id}/messages/${message.id}`, { body: 'Mine' });
    const redact = (as: string, message: Body) =>
      api.request('DELETE', `/v1/conversations/${id}/messages/${message.id}`, { as });
    for (const [as, message] of [
      [user, ofTeam],
      [team, ofUser],
      [second, ofTeam],
    ])
      for (const attempt of [change, redact])
        expect(problem(await attempt(as, message))).toEqual([403, 'insufficient-scope']);
    expect(await messages(team, id)).toEqual([ofUser, ofTeam]);
  });

  test('ends 15 minutes after it was written', async () => {
    const { user } = await makeParties();
    const { id } = (await start(user)).body;
    const [message] = await messages(user, id);
    const path = `/v1/conversations/${id}/messages/${message.id}`;
    await backdateMessages(id, '14 minutes 30 seconds');
    expect((await patch(user, path, { body: 'In time' })).status).toBe(200);
    await backdateMessages(id, '31 seconds');
    expect(problem(await patch(user, path, { body: 'Too late' }))).toEqual([409, 'message-not-editable']);
    expect(problem(await api.request('DELETE', path, { as: user }))).toEqual([409, 'message-not-editable']);
    expect((await messages(user, id))[0].body).toBe('In time');
  });

  test('by redaction keeps the place and loses the text, for good', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user, { message: 'My password is 1234' })).body;
    const [message] = await messages(user, id);
    const path = `/v1/conversations/${id}/messages/${message.id}`;
    const redacted = await api.request('DELETE', path, { as: user });
    expect([redacted.status, redacted.body]).toEqual([204, '']);
    for (const as of [user, team]) {
      expect(await messages(as, id)).toEqual([
        expect.objectContaining({ id: message.id, seq: 1, body: '', redacted: true, edited_at: expect.any(String) }),
      ]);
      expect((await read(as, id)).last_message.preview).toBe('');
    }
    expect((await read(team, id)).message_count).toBe(1);
    expect(problem(await patch(user, path, { body: 'Back' }))).toEqual([409, 'message-not-editable']);
    const [left] = await api.database.query<{ found: number }>(
      `select count(*)::int as found from conversations c join messages m on m.conversation_id = c.id
       where c.id = $1 and (c::text || m::text) like '%1234%'`,
      [uuidOf(id)],
    );
    expect(left?.found).toBe(0);
  });

  test.each<Body>([
    {},
    { body: '' },
    { body: 'x'.repeat(10_001) },
    { body: 'x', kind: 'note' },
    { body: 'x', format: 'html' },
  ])('with %j is refused', async change => {
    const { user } = await makeParties();
    const { id } = (await start(user)).body;
    const [message] = await messages(user, id);
    const reply = await patch(user, `/v1/conversations/${id}/messages/${message.id}`, change);
    expect(problem(reply)).toEqual([422, 'validation-failed']);
  });
});
