import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toTypeId } from '../../src/domain/ids.ts';
import { toTsvector } from '../../src/storage/search/lexemes.ts';
import { createApi, type TestApi } from '../support/api.ts';
import { conversationsOf, idsOf, problem, uuidOf } from '../support/conversations.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createApi();
});
afterAll(() => api[Symbol.asyncDispose]());

const { makeParties, get, patch, start, write, list, makeMember, readPages, seed } = conversationsOf(() => api);

describe('listing conversations', () => {
  test('returns ten by default, latest activity first', async () => {
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

  test.each(['0', '101', '-1', '1e1', '01x', ''])('a limit of "%s" is rejected', async limit => {
    const { team } = await makeParties();
    expect((await get(team, `/v1/conversations?limit=${limit}`)).status).toBe(422);
  });

  test('each filter of the team returns only matching conversations', async () => {
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
  ])('a filter that cannot match, %s, is rejected', async query => {
    const { team } = await makeParties();
    expect(problem(await get(team, `/v1/conversations?${query}`))).toEqual([422, 'validation-failed']);
  });

  test('words are found in subjects, messages and notes, but not in redacted messages and events', async () => {
    const { user, team } = await makeParties();
    const { id } = (await start(user, { subject: "Müller's invoice", message: 'paid-up at https://pay.example/x' }))
      .body;
    const found = async (q: string) => idsOf(await list(team, `?q=${encodeURIComponent(q)}`));
    for (const q of ['müller', 'INVOICE', 'invo', 'paid', 'pay.example', "Müller's", "' \\ & | ! :* <->  invoice"])
      expect([q, await found(q)]).toEqual([q, [id]]);
    expect(await found('zebra')).toEqual([]);
    await write(team, id, { kind: 'note', body: 'a zebra for the team' });
    expect(await found('zebra invoice')).toEqual([]); // the words are in different texts
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

  test('words of more conversations than one index query returns are still found', async () => {
    const { tenant, team } = await makeParties();
    await seed(tenant, 2100);
    await api.database.query(
      'insert into message_words select tenant_id, id, id, $2::tsvector from conversations where tenant_id = $1',
      [tenant.uuid, toTsvector(tenant.uuid, 'seeded')],
    );
    const user = await tenant.sign('user|43'); // the other one has too many to start one
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
    await api.database.query(
      `insert into message_words select tenant_id, conversation_id, id, $3::tsvector from messages
       where tenant_id = $1 and conversation_id = $2 and body = 'chatty'`,
      [tenant.uuid, uuidOf(id), toTsvector(tenant.uuid, 'chatty')],
    );
    const other = (await start(user, { message: 'chatty too' })).body.id;
    expect(idsOf(await list(team, '?q=chatty'))).toEqual([other, id]);
  });

  test('unknown and repeated parameters are rejected', async () => {
    const { team } = await makeParties();
    expect(problem(await get(team, '/v1/conversations?state=open'))).toEqual([400, 'unknown-parameter']);
    expect(problem(await get(team, '/v1/conversations?status=open&status=open'))).toEqual([400, 'repeated-parameter']);
  });

  test('extreme timestamps never cause a server error', async () => {
    const { team, user } = await makeParties();
    for (const since of ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z'])
      for (const as of [team, user])
        expect((await get(as, `/v1/conversations?updated_since=${since}`)).status, since).toBe(200);
    for (const since of ['0000-01-01T00:00:00Z', '0001-01-01T00:00:00%2B23:59', '9999-12-31T23:59:59-23:59'])
      expect([200, 422], since).toContain((await get(team, `/v1/conversations?updated_since=${since}`)).status);
  });

  test('a user filters by status and unread, but not by fields of the team', async () => {
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

  test("a user only sees their own conversations, without the team's fields", async () => {
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
  ])('pages of seven return the whole list, each row once and in order (%s)', async query => {
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

  test('during concurrent writes, paging returns each row once and misses none', async () => {
    const { tenant, team } = await makeParties();
    await seed(tenant, 45);
    const before = idsOf(await list(team, '?limit=100'));
    const added: string[] = [];
    const disturb = async () => {
      const replies = await Promise.all([start(team, { identity: 'user|42' }), start(team, { identity: 'user|42' })]);
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

  test('a cursor only works with its own filters', async () => {
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
