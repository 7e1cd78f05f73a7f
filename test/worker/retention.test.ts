import { v7 } from 'uuid';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { toTypeId } from '../../src/domain/ids.ts';
import { createLog } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { listDayCounts, rebuildResults } from '../../src/storage/answers/results.ts';
import { expireAnswers, trimConversation } from '../../src/storage/tenants/retention.ts';
import { createRecordAnswers } from '../../src/worker/handlers/answers.ts';
import { createRetention } from '../../src/worker/retention.ts';
import { createApi, createWorker, waitFor } from '../support/api.ts';
import { anAcceptedAnswer, makeTenant, publishQuestion, storageOf, type TestTenant } from '../support/make.ts';
import { connect } from '../support/migrations.ts';
import { makeMember } from '../support/person.ts';

const api = await createApi();
afterAll(() => api[Symbol.asyncDispose]());
const worker = api.database.storage('parley_worker');
const log = createLog('silent', 'test');
const DAY_MS = 86_400_000;

let tenant: TestTenant;
let questionId: string;
beforeEach(async () => {
  tenant = await makeTenant(api);
  const question = await publishQuestion(api, tenant);
  [{ id: questionId }] = (await api.database.query('select id from questions where tenant_id = $1', [tenant.uuid])) as [
    { id: string },
  ];
  expect(question.status).toBe('live');
});

/** Stores answers through the worker's handler, received this many days ago. */
async function store(daysAgo: number, count = 1, ids = Array.from({ length: count }, () => v7())): Promise<string[]> {
  const received_at = new Date(Date.now() - daysAgo * DAY_MS).toISOString();
  const answers = ids.map(id =>
    anAcceptedAnswer({ tenant_id: tenant.uuid, id, question_id: questionId, identity: `user|${id}`, received_at }),
  );
  await createRecordAnswers({ storage: worker, metrics: createMetrics('work'), log })({ v: 1, flush: v7(), answers });
  return ids;
}

const retain = (retention: { answers_days?: number | null; conversations_days?: number | null }, of = tenant) =>
  api.database.query(
    `update tenants set retention_answers_days = $2, retention_conversations_days = $3 where id = $1`,
    [of.uuid, retention.answers_days ?? null, retention.conversations_days ?? null],
  );

/** Deletes expired data by a worker's clock. Returns the counts of the metric by kind. */
async function expire(now = () => new Date(), metrics = createMetrics('work')): Promise<Record<string, number>> {
  await createRetention({ storage: worker, metrics, log, signal: new AbortController().signal, now }).run();
  return Object.fromEntries((await metrics.expired.get()).values.map(({ labels, value }) => [labels.kind, value]));
}

const idsIn = async (table: string, of = tenant) =>
  (await api.database.query<{ id: string }>(`select id from ${table} where tenant_id = $1`, [of.uuid]))
    .map(({ id }) => id)
    .toSorted();
const countsOf = async () =>
  (await listDayCounts(storageOf(api).forTenant(tenant.uuid), questionId, {})).map(({ day, completed }) => ({
    day,
    completed,
  }));

describe('answers', () => {
  test('are kept forever by default', async () => {
    const ids = await store(3650, 3);
    expect(await expire()).toEqual({});
    expect(await idsIn('answers')).toEqual(ids.toSorted());
  });

  test('older than the retention are deleted, in as many batches as needed, and all others are kept', async () => {
    await store(31, 1203);
    const young = await store(29, 2);
    const other = await makeTenant(api);
    await api.database.query(
      `insert into answers select (jsonb_populate_record(answers, jsonb_build_object('tenant_id', $2::text))).*
       from answers where tenant_id = $1 limit 1`,
      [tenant.uuid, other.uuid],
    );
    await retain({ answers_days: 30 });
    await retain({ conversations_days: 1 }, other);
    expect(await expire()).toEqual({ answers: 1203 });
    expect(await idsIn('answers')).toEqual(young.toSorted());
    expect(await idsIn('answers', other)).toHaveLength(1);
    expect(await expire()).toEqual({});
  });

  test('are deleted from the quarantine too', async () => {
    const put = (ago: string) =>
      api.database.query(
        "insert into quarantined_answers values ($1, $2, $2, 'unstorable', '', '{}', now() - $3::interval)",
        [tenant.uuid, v7(), ago],
      );
    for (const ago of ['31 days', '29 days']) await put(ago);
    await retain({ answers_days: 30 });
    expect(await expire()).toEqual({ answers: 1 });
    expect(await idsIn('quarantined_answers')).toHaveLength(1);
  });

  test('that expired stay in the results, even after a rebuild', async () => {
    await store(60, 2);
    await store(30.5, 3);
    await store(1, 4);
    const before = await countsOf();
    expect(before.map(({ completed }) => completed).toSorted()).toEqual([2, 3, 4]);
    await retain({ answers_days: 30 });
    expect(await expire()).toEqual({ answers: 5 });
    expect(await countsOf()).toEqual(expect.arrayContaining(before));
    await retain({});
    await api.database.query(
      `update question_results set completed = 99 where tenant_id = $1 and day > now() - interval '2 days'`,
      [tenant.uuid],
    );
    await rebuildResults(storageOf(api), tenant.uuid);
    expect((await countsOf()).toSorted((a, b) => a.day.localeCompare(b.day))).toEqual(
      before.toSorted((a, b) => a.day.localeCompare(b.day)),
    );
  });

  test('that expired are not stored again when sent again, and count once', async () => {
    const ids = await store(31, 2);
    await retain({ answers_days: 30 });
    await expire();
    const before = await countsOf();
    await store(0, 2, ids);
    expect(await idsIn('answers')).toEqual([]);
    expect(await countsOf()).toEqual(before);
  });

  test('that expired are reported neither as lost nor as deleted by the team', async () => {
    await store(31, 2);
    await retain({ answers_days: 30 });
    await expire();
    expect(await api.database.query('select from vanished_answers where tenant_id = $1', [tenant.uuid])).toEqual([]);
    const rows = await api.database.query('select expired from deleted_answers where tenant_id = $1', [tenant.uuid]);
    expect(rows).toEqual([{ expired: true }, { expired: true }]);
  });

  test('stay while the clocks of the database and of the worker differ by more than 5 minutes', async () => {
    await store(100);
    await retain({ answers_days: 30 });
    for (const offset of [-365 * DAY_MS, -6 * 60_000, 6 * 60_000]) {
      const metrics = createMetrics('work');
      expect(await expire(() => new Date(Date.now() + offset), metrics)).toEqual({});
      const skew = (await metrics.databaseClockSkew.get()).values[0]?.value;
      expect(Math.abs((skew as number) + offset / 1000)).toBeLessThan(60);
    }
    expect(await expire(() => new Date(Date.now() - 4 * 60_000))).toEqual({ answers: 1 });
  });

  test('are aged by the earlier of the two clocks, if one jumps during a run', async () => {
    await store(31);
    await retain({ answers_days: 30 });
    expect(await expireAnswers(worker, tenant.uuid, new Date(Date.now() - 2 * DAY_MS))).toBe(0); // the database's clock is ahead
    await store(29);
    expect(await expireAnswers(worker, tenant.uuid, new Date(Date.now() + 2 * DAY_MS))).toBe(1); // the worker's clock is ahead
  });

  test('that expired reserve their ids for 90 days; those of answers deleted by the team stay reserved permanently', async () => {
    const put = (count: number, ago: string, expired: boolean) =>
      api.database.query(
        `insert into deleted_answers select $1, gen_random_uuid(), now() - $2::interval, $3
         from generate_series(1, $4::int)`,
        [tenant.uuid, ago, expired, count],
      );
    await put(2500, '91 days', true);
    await put(3, '89 days', true);
    await put(2, '4000 days', false);
    await expire(() => new Date(Date.now() - 365 * DAY_MS));
    expect(await idsIn('deleted_answers')).toHaveLength(2505);
    await expire();
    const left = await api.database.query(
      'select expired, count(*)::int as count from deleted_answers where tenant_id = $1 group by 1 order by 1',
      [tenant.uuid],
    );
    expect(left).toEqual([
      { expired: false, count: 2 },
      { expired: true, count: 3 },
    ]);
  });

  test('and conversations that were deleted leave no trace after 90 days', async () => {
    const put = (count: number, ago: string) =>
      api.database.query(
        `insert into deleted_conversations select $1, uuid_send(gen_random_uuid()), now() - $2::interval
         from generate_series(1, $3::int)`,
        [tenant.uuid, ago, count],
      );
    await put(1500, '91 days');
    await put(3, '89 days');
    await expire();
    const left = await api.database.query('select from deleted_conversations where tenant_id = $1', [tenant.uuid]);
    expect(left).toHaveLength(3);
  });

  test('and conversations that were deleted are shown to incremental readers for 30 days', async () => {
    const put = (count: number, ago: string) =>
      api.database.query(
        `insert into conversation_tombstones select $1, gen_random_uuid(), 'user|42', true, now() - $2::interval
         from generate_series(1, $3::int)`,
        [tenant.uuid, ago, count],
      );
    await put(1500, '31 days');
    await put(3, '29 days');
    await expire();
    const left = await api.database.query('select from conversation_tombstones where tenant_id = $1', [tenant.uuid]);
    expect(left).toHaveLength(3);
  });

  test('are deleted once by concurrent workers', async () => {
    await store(31, 700);
    await retain({ answers_days: 30 });
    const totals = await Promise.all([expire(), expire(), expire()]);
    expect(totals.reduce((sum, { answers = 0 }) => sum + answers, 0)).toBe(700);
    expect(await idsIn('answers')).toEqual([]);
  });
});

describe('conversations', () => {
  const uuid = 'select id from conversations where tenant_id = $1 order by created_at desc limit 1';
  /** A conversation with a note, whose last message and resolution are this many days old. */
  async function talk(daysAgo: number, status: 'open' | 'resolved', resolvedDaysAgo = daysAgo): Promise<string> {
    const as = await tenant.sign('user|42');
    const { body } = await api.request('POST', '/v1/conversations', { as, body: { message: 'Hello' } });
    const path = `/v1/conversations/${body.id}`;
    const note = { body: 'A note', kind: 'note' };
    await api.request('POST', `${path}/messages`, { as: tenant.key.apiKey, body: note });
    if (status === 'resolved') await api.request('PATCH', path, { as: tenant.key.apiKey, body: { status } });
    const [row] = await api.database.query<{ id: string }>(uuid, [tenant.uuid]);
    await api.database.query(
      `update conversations set last_activity_at = now() - $2::interval, resolved_at = resolved_at - $3::interval
       where id = $1`,
      [row?.id, `${daysAgo} days`, `${resolvedDaysAgo} days`],
    );
    return row?.id as string;
  }

  test('resolved longer ago than the retention are deleted with their messages; open ones never', async () => {
    const gone = await talk(31, 'resolved');
    const kept = [await talk(400, 'open'), await talk(29, 'resolved'), await talk(400, 'resolved', 2)];
    await retain({ conversations_days: 30 });
    expect(await expire()).toEqual({ conversations: 1 });
    expect(await idsIn('conversations')).toEqual(kept.toSorted());
    const messages = await api.database.query<{ conversation_id: string }>(
      'select distinct conversation_id from messages where tenant_id = $1',
      [tenant.uuid],
    );
    expect(messages.map(({ conversation_id }) => conversation_id).toSorted()).toEqual(kept.toSorted());
    expect(messages).not.toContainEqual({ conversation_id: gone });
  });

  const typeId = (id: string) => toTypeId('conversation', id);
  const merge = (id: string, into: string) =>
    api.request('POST', `/v1/conversations/${typeId(id)}/merge`, {
      as: tenant.key.apiKey,
      body: { into: typeId(into) },
    });

  test('that are deleted end the merges into them, and the merged ones continue on their own', async () => {
    const [target, merged, middle, last] = [
      await talk(31, 'resolved'),
      await talk(2, 'resolved'),
      await talk(33, 'resolved'),
      await talk(1, 'resolved'),
    ];
    await merge(merged, target);
    await merge(last, middle);
    await merge(middle, target);
    await api.database.query("update conversations set resolved_at = now() - interval '31 days' where id = $1", [
      middle,
    ]);
    await retain({ conversations_days: 30 });
    expect(await expire()).toEqual({ conversations: 2 });
    expect(await idsIn('conversations')).toEqual([merged, last].toSorted());
    for (const [id, from] of [
      [merged, target],
      [last, middle],
    ] as const) {
      const path = `/v1/conversations/${typeId(id)}`;
      const as = tenant.key.apiKey;
      expect((await api.request('GET', path, { as })).body).toMatchObject({ merged_into_id: null, status: 'resolved' });
      const found = await api.request('GET', `${path}/messages?limit=100`, { as });
      expect(found.body.data.at(-1)).toMatchObject({
        author: { type: 'system' },
        body: `merged_into_id: ${typeId(from)} → none`,
        event: { field: 'merged_into_id', from: typeId(from), to: null, reason: { type: 'timer', id: null } },
      });
      const sent = await api.request('POST', `${path}/messages`, {
        as: await tenant.sign('user|42'),
        body: { body: 'x' },
      });
      expect(sent).toMatchObject({ status: 201, body: { conversation_id: typeId(id) } });
      const events = await api.database.query<{ data: object }>(
        "select data from events where object_id = $1 and type = 'conversation.updated' order by written_at desc limit 1",
        [id],
      );
      expect(events).toEqual([{ data: { by: { type: 'system', id: null } } }]);
    }
  });

  test('all go with those that were merged into them, if all are due', async () => {
    const [target, merged] = [await talk(400, 'resolved'), await talk(31, 'resolved')];
    await merge(merged, target);
    await api.database.query('update conversations set resolved_at = last_activity_at where id = $1', [merged]);
    await retain({ conversations_days: 30 });
    expect(await expire()).toEqual({ conversations: 2 });
    expect(await idsIn('conversations')).toEqual([]);
  });

  test('wait for the next round while one that was merged into them is locked', async () => {
    const [target, merged] = [await talk(31, 'resolved'), await talk(2, 'resolved')];
    await merge(merged, target);
    await retain({ conversations_days: 30 });
    await using client = await connect(api.database.url);
    await client.query('begin');
    await client.query('select from conversations where id = $1 for update', [merged]);
    expect(await expire()).toEqual({});
    await client.query('commit');
    expect(await expire()).toEqual({ conversations: 1 });
    expect(await idsIn('conversations')).toEqual([merged]);
  });

  test('with more messages than a batch lose the oldest ones first, and go with the last ones', async () => {
    const long = await talk(31, 'resolved');
    await talk(32, 'resolved');
    await api.database.query(
      `insert into messages (tenant_id, id, conversation_id, seq, note_seq, kind, author_type, author_id, body, format,
         created_at, redacted)
       select $1, gen_random_uuid(), $2, n, 0, 'reply', 'user', 'user|42', 'x', 'text', now(), false from generate_series(2, 12000) as n`,
      [tenant.uuid, long],
    );
    await api.database.query('update conversations set last_seq = 12000 where id = $1', [long]);
    await retain({ conversations_days: 30 });
    expect(await trimConversation(worker, tenant.uuid, new Date())).toBe(5000);
    const left = () =>
      api.database.query<{ seq: number }>('select seq from messages where conversation_id = $1', [long]);
    expect(Math.min(...(await left()).map(({ seq }) => seq))).toBeGreaterThan(4900);
    const calls: string[] = [];
    const storage = {
      ...worker,
      query: (sql: string, params?: unknown[]) => {
        if (params?.[0] === tenant.uuid)
          calls.push(...(/trim_expired_conversation|expire_conversations/.exec(sql) ?? []));
        return worker.query(sql, params);
      },
    } as typeof worker;
    await createRetention({ storage, metrics: createMetrics('work'), log, signal: new AbortController().signal }).run();
    expect(calls.slice(0, 3)).toEqual([
      'trim_expired_conversation',
      'trim_expired_conversation',
      'expire_conversations',
    ]);
    expect([await left(), await idsIn('conversations')]).toEqual([[], []]);
  });

  test('of one tenant that cannot be deleted do not keep those of others', async () => {
    const [stuck, other] = [tenant, await makeTenant(api)];
    const ids = [await talk(31, 'resolved')];
    tenant = other;
    await talk(31, 'resolved');
    for (const of of [stuck, other]) await retain({ conversations_days: 30 }, of);
    await api.database.query(
      `create function refuse() returns trigger language plpgsql as $$ begin
         if old.tenant_id = '${stuck.uuid}' then raise exception 'refused'; end if;
         return old;
       end $$`,
    );
    await api.database.query('create trigger refuse before delete on messages for each row execute function refuse()');
    expect(await expire()).toEqual({ conversations: 1 });
    expect(await idsIn('conversations', stuck)).toEqual(ids);
    await api.database.query('drop function refuse cascade');
    expect(await expire()).toEqual({ conversations: 1 });
  });

  test('with many messages are deleted in batches', async () => {
    const ids = [await talk(31, 'resolved'), await talk(32, 'resolved'), await talk(33, 'resolved')];
    await api.database.query('update conversations set last_seq = 3000 where id = any($1)', [ids]);
    await retain({ conversations_days: 30 });
    const [first] = await worker.query<{ count: number }>(
      'select expire_conversations($1, 100, 5000, now()) as count',
      [tenant.uuid],
    );
    expect(first?.count).toBe(2);
    expect(await expire()).toEqual({ conversations: 1 });
  });
});

test("a running worker applies a tenant's retention, and only workers may", async () => {
  await store(31, 2);
  const { headers } = await makeMember(api, tenant, 'owner');
  const body = { retention: { answers_days: 30 } };
  expect((await api.request('PATCH', '/v1/tenant', { headers, body })).status).toBe(200);
  await using running = await createWorker(api);
  await waitFor(async () => (await idsIn('answers')).length === 0);
  expect(await running.metrics.render()).toContain('parley_expired_total{kind="answers"}');
  await expect(storageOf(api).query('select expire_answers($1, 1, now())', [tenant.uuid])).rejects.toThrow(
    'permission denied',
  );
});
