import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { parseTypeId, toTypeId } from '../../src/domain/ids.ts';
import { followMerges } from '../../src/storage/conversations/conversation-locks.ts';
import { createApi, type TestApi, type TestReply, waitFor } from '../support/api.ts';
import { conversationsOf, uuidOf } from '../support/conversations.ts';

let api: TestApi;
beforeAll(async () => {
  api = await createApi();
});
afterAll(() => api[Symbol.asyncDispose]());

const { makeParties, post, patch, start, write, read, messages, backdate, makeMember } = conversationsOf(() => api);

/** Opens a transaction that stands for another request. */
async function begin() {
  const client = new pg.Client({ connectionString: api.database.url });
  await client.connect();
  await client.query("begin; set local deadlock_timeout = '100ms'");
  return {
    lock: (id: string) => client.query('select from conversations where id = $1 for update', [uuidOf(id)]),
    query: (sql: string, params: unknown[]) => client.query(sql, params),
    commit: () => client.query('commit'),
    [Symbol.asyncDispose]: () => client.end(),
  };
}

/** Waits until so many statements wait for a lock. */
const waiting = (count: number): Promise<unknown> =>
  waitFor(async () => {
    const rows = await api.database.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      [],
    );
    return rows.length >= count;
  });

const statusOf = ({ status, body }: TestReply) => [status, body?.code];

/** Makes a conversation and two others of the same user, in order of their ids. */
async function makeThree() {
  const parties = await makeParties();
  const started = [await start(parties.user), await start(parties.user), await start(parties.user)];
  const ids = started.map(({ body }) => body.id as string);
  const [first, second, third] = ids.toSorted((one, other) => (uuidOf(one) < uuidOf(other) ? -1 : 1));
  return { ...parties, first, second, third } as typeof parties & Record<'first' | 'second' | 'third', string>;
}

const makeMacro = async (as: string, fields: object): Promise<string> =>
  (await post(as, '/v1/macros', { name: 'Text', body: 'Of a macro', ...fields })).body.id;

test('a macro on a conversation that is merged meanwhile locks the other one first', async () => {
  const { team, first, second } = await makeThree();
  const macro = await makeMacro(team, { changes: { add_tags: ['macro'] } });
  await using merge = await begin();
  await merge.query("update conversations set merged_into_id = $2, status = 'resolved' where id = $1", [
    uuidOf(second),
    uuidOf(first),
  ]);
  const applied = post(team, `/v1/conversations/${second}/macros/${macro}`, {});
  await waiting(1);
  const changed = post(team, '/v1/conversations/bulk', { ids: [second, first], change: { add_tags: ['bulk'] } });
  await waiting(2);
  await merge.commit();
  expect([statusOf(await applied), statusOf(await changed)]).toEqual([
    [200, undefined],
    [200, undefined],
  ]);
  expect((await read(team, second)).tags.toSorted()).toEqual(['bulk', 'macro']);
  expect(await messages(team, first)).toContainEqual(expect.objectContaining({ body: 'Of a macro' }));
});

test('a macro and a message on a conversation that was merged twice go to the last one', async () => {
  const { team, user, first, second, third } = await makeThree();
  await post(team, `/v1/conversations/${second}/merge`, { into: third });
  await post(team, `/v1/conversations/${third}/merge`, { into: first });
  const macro = await makeMacro(team, {});
  await using other = await begin();
  await other.lock(first);
  const applied = post(team, `/v1/conversations/${second}/macros/${macro}`, {});
  await waiting(1);
  await other.lock(third);
  await other.commit();
  expect((await applied).body.message).toMatchObject({ conversation_id: first });
  expect((await write(user, second)).body).toMatchObject({ conversation_id: first });
});

test('a deletion locks the conversations that were merged into the deleted one in order of their ids', async () => {
  const { team, first, third } = await makeThree();
  await post(team, `/v1/conversations/${first}/merge`, { into: third });
  await using other = await begin();
  await other.lock(first);
  const deleted = api.request('DELETE', `/v1/conversations/${third}`, { as: team });
  await waiting(1);
  await other.lock(third);
  await other.commit();
  expect(statusOf(await deleted)).toEqual([204, undefined]);
  expect((await read(team, first)).merged_into_id).toBeNull();
});

test('a conversation that is merged into one while that is deleted continues on its own', async () => {
  const { team, user, first, second, third } = await makeThree();
  await post(team, `/v1/conversations/${first}/merge`, { into: third });
  await using other = await begin();
  await other.lock(first);
  const deleted = api.request('DELETE', `/v1/conversations/${third}`, { as: team });
  await waiting(1);
  await post(team, `/v1/conversations/${second}/merge`, { into: third });
  await other.commit();
  expect((await deleted).status).toBe(204);
  for (const id of [first, second])
    expect(await write(user, id)).toMatchObject({ status: 201, body: { conversation_id: id } });
});

test('a message holds no lock while it waits for the conversation that continues a stale one', async () => {
  const { team, user, first, second } = await makeThree();
  await patch(team, `/v1/conversations/${second}`, { status: 'resolved' });
  await backdate(second, 'resolved_at', '31 days');
  const { conversation_id: next } = (await write(user, second)).body;
  await post(team, `/v1/conversations/${next}/merge`, { into: first });
  await using other = await begin();
  await other.lock(first);
  const written = write(user, second, { body: 'Late' });
  await waiting(1);
  await other.lock(second);
  await other.commit();
  expect((await written).body).toMatchObject({ body: 'Late', conversation_id: first });
});

test('a message to a conversation whose target is deleted meanwhile goes to the conversation itself', async () => {
  const { team, user, first, second } = await makeThree();
  await post(team, `/v1/conversations/${second}/merge`, { into: first });
  await using other = await begin();
  await other.lock(first);
  const deleted = api.request('DELETE', `/v1/conversations/${first}`, { as: team });
  await waiting(1);
  const written = write(user, second);
  await waiting(2);
  await other.commit();
  expect((await deleted).status).toBe(204);
  expect(await written).toMatchObject({ status: 201, body: { conversation_id: second } });
});

test('notes and macros lock the members that they name before the conversation, as the removal of a member does', async () => {
  const { team, tenant, first, second } = await makeThree();
  const member = await makeMember(tenant);
  const macro = await makeMacro(team, { changes: { assignee_id: member } });
  for (const [id, send] of [
    [first, () => write(team, first, { body: 'Look', kind: 'note', mentions: [member] })],
    [second, () => post(team, `/v1/conversations/${second}/macros/${macro}`, {})],
  ] as const) {
    await using removal = await begin();
    await removal.query('select from members where id = $1 for update', [parseTypeId('member', member)]);
    const sent = send();
    await waiting(1);
    await removal.lock(id);
    await removal.commit();
    expect([200, 201]).toContain((await sent).status);
  }
});

test('a macro is created with the tenant locked before the member that it assigns', async () => {
  const { team, tenant } = await makeParties();
  const member = await makeMember(tenant);
  await using removal = await begin();
  await removal.query('select from tenants where id = $1 for update', [tenant.uuid]);
  const made = post(team, '/v1/macros', { name: 'Assign', changes: { assignee_id: member } });
  await waiting(1);
  await removal.query('delete from members where id = $1', [parseTypeId('member', member)]);
  await removal.commit();
  expect(statusOf(await made)).toEqual([422, 'validation-failed']);
});

test('a message follows hundreds of merges by one statement, and is refused at a target that does not exist', async () => {
  const { tenant, team, user, first } = await makeThree();
  await api.database.query(
    `insert into conversations select (jsonb_populate_record(conversations, jsonb_build_object('id', gen_random_uuid(), 'subject', n))).*
     from conversations, generate_series(1, 900) as n where id = $1`,
    [uuidOf(first)],
  );
  await api.database.query(
    `update conversations set merged_into_id = next.id from conversations as next
     where conversations.tenant_id = $1 and next.tenant_id = $1 and conversations.subject <> ''
       and next.subject = (conversations.subject::int + 1)::text`,
    [tenant.uuid],
  );
  const [begin, end] = await api.database.query<{ id: string }>(
    "select id from conversations where tenant_id = $1 and subject in ('1', '900') order by subject",
    [tenant.uuid],
  );
  const [from, to] = [toTypeId('conversation', begin?.id as string), toTypeId('conversation', end?.id as string)];
  expect((await write(user, from)).body).toMatchObject({ conversation_id: to });
  const { query } = api.database;
  const counted = vi.fn(query) as typeof query;
  expect(await followMerges({ query: counted }, tenant.uuid, begin?.id as string)).toHaveLength(900);
  expect(counted).toHaveBeenCalledTimes(1);
  await api.database.query('update conversations set merged_into_id = gen_random_uuid() where id = $1', [end?.id]);
  for (const as of [user, team]) expect((await write(as, from)).status).toBe(404);
});

test('a message that waits for its conversation has the time at which it was locked', async () => {
  const { user } = await makeParties();
  const { id } = (await start(user)).body;
  await using other = await begin();
  await other.lock(id);
  const writing = write(user, id, { body: 'Later' });
  await waiting(1);
  const [{ at }] = (await other.query('select clock_timestamp() as at', [])).rows as [{ at: Date }];
  await other.commit();
  const { status, body } = await writing;
  expect(status).toBe(201);
  expect(Date.parse(body.created_at)).toBeGreaterThanOrEqual(at.getTime());
});
