import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createMetrics } from '../../src/platform/metrics.ts';
import { createSeals } from '../../src/platform/secrets.ts';
import type { Storage } from '../../src/storage/database/orm.ts';
import { OLD_DELIVERIES } from '../../src/storage/tenants/retention.ts';
import { insertTenant } from '../../src/storage/tenants/tenants.ts';
import { assignment } from '../../src/worker/assign.ts';
import { erasure } from '../../src/worker/erasure.ts';
import { mailing } from '../../src/worker/mails.ts';
import { EXPIRY, expiring, forgetting, OLD } from '../../src/worker/retention.ts';
import { runSequencer } from '../../src/worker/sequencer.ts';
import { createTenantRounds, type TenantWork } from '../../src/worker/tenant-rounds.ts';
import { schedules, silence, snoozes } from '../../src/worker/wake.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { loopDeps } from '../support/loops.ts';
import { insertMany } from '../support/rows.ts';
import { waitFor } from '../support/wait.ts';

const BACKLOG = 100_000;

let database: TestDatabase;
let worker: Storage;
let app: Storage;
beforeEach(async () => {
  database = await createDatabase();
  for (const [table, kept] of Object.entries(KEPT_INDEXES)) await dropIndexes(table, kept);
  [worker, app] = [database.storage('parley_worker'), database.storage('parley_app')];
});
afterEach(() => database[Symbol.asyncDispose]());

/** The indexes of large tables that loops use. Without the others, the tables are filled in a tenth of the time. */
const KEPT_INDEXES = {
  conversations: /to_assign|waiting|snoozed|of_status|merged/,
  answers: /received/,
  questions: /questions_(starting|to_end)/,
};

async function dropIndexes(table: string, kept: RegExp): Promise<void> {
  const rows = await database.query<{ name: string }>(
    `select indexrelid::regclass::text as name from pg_index
     where indrelid = $1::regclass and not exists (select from pg_constraint where conindid = indexrelid)`,
    [table],
  );
  for (const { name } of rows) if (!kept.test(name)) await database.query(`drop index ${name}`);
}

/** In order of their ids: a tenant whose work always fails, one with a backlog, and a third one. */
interface Tenants {
  failing: string;
  busy: string;
  third: string;
}

async function makeTenants(): Promise<Tenants> {
  const make = async (name: string) => (await insertTenant(app, name, new Date())).id;
  return { failing: await make('Failing'), busy: await make('Busy'), third: await make('Third') };
}

/** Makes each write of a tenant to a table fail, until the end of the test. */
async function refuse(table: string, event: string, tenantId: string): Promise<void> {
  await database.query(
    `create or replace function refuse() returns trigger language plpgsql as $$ begin
       if to_jsonb(coalesce(new, old)) ->> 'tenant_id' = tg_argv[0] then raise exception 'refused'; end if;
       return coalesce(new, old);
     end $$`,
  );
  await database.query(
    `create trigger refuse before ${event} on ${table} for each row execute function refuse('${tenantId}')`,
  );
}

const count = async (table: string, tenantId: string, where = 'true'): Promise<number> =>
  (
    await database.query<{ count: number }>(
      `select count(*)::int as count from ${table} where tenant_id = $1 and ${where}`,
      [tenantId],
    )
  )[0]?.count ?? 0;

/** The work of a loop in a test. */
interface Loop {
  work(): TenantWork;
  /** The table, and the write to it, with which the work of the failing tenant fails. */
  fails: [table: string, event: string];
  /** The rows that are the work of a tenant, in SQL. */
  rows: [table: string, where: string];
  /** Makes this number of them. */
  make(tenantId: string, rows: number): Promise<unknown>;
}

const set = (tenantId: string, columns: string) =>
  database.query(`update tenants set ${columns} where id = $1`, [tenantId]);
const of = (tenantId: string) => ({ tenant_id: `'${tenantId}'` });
const deps = () => ({ ...loopDeps(), storage: worker, tenants: app });
const batchDeps = () => ({ ...deps(), now: () => new Date() });
const old = `now() - interval '400 days' + n * interval '1 second'`;

const makeConversations = (tenantId: string, rows: number, columns: Record<string, string>) =>
  insertMany(database, 'conversations', { ...of(tenantId), identity_verified: 'true', ...columns }, rows);

const makeAnswers = (tenantId: string, rows: number) =>
  insertMany(database, 'answers', { ...of(tenantId), state: "'completed'", received_at: old }, rows);

const LOOPS: Record<string, Loop> = {
  assignment: {
    work: () => assignment(deps()),
    fails: ['conversations', 'update'],
    rows: ['conversations', "status = 'open' and rules_checked = 0"],
    make: async (tenantId, rows) => {
      const rule = { id: tenantId, name: 'VIP', when: { tag: 'vip' }, then: {} };
      await database.query("insert into assignment_rules values ($1, 1, $2, '{}')", [tenantId, JSON.stringify([rule])]);
      await makeConversations(tenantId, rows, { status: "'open'" });
      await database.query("select mark_tenant($1, 'assignment')", [tenantId]);
    },
  },
  snoozes: {
    work: () => snoozes(deps()),
    fails: ['conversations', 'update'],
    rows: ['conversations', "status = 'snoozed'"],
    make: (tenantId, rows) => makeConversations(tenantId, rows, { status: "'snoozed'", snoozed_until: old }),
  },
  'auto-resolve': {
    work: () => silence(deps()),
    fails: ['conversations', 'update'],
    rows: ['conversations', "status = 'pending'"],
    make: async (tenantId, rows) => {
      await set(tenantId, 'auto_resolve_days = 14');
      await makeConversations(tenantId, rows, { status: "'pending'", last_activity_at: old, team_updated_at: old });
    },
  },
  schedules: {
    work: () => schedules(deps()),
    fails: ['questions', 'update'],
    rows: ['questions', "status = 'live'"],
    make: (tenantId, rows) =>
      insertMany(database, 'questions', { ...of(tenantId), status: "'live'", end_at: old }, rows),
  },
  'retention of answers': {
    work: () => expiring(EXPIRY[0] as never, batchDeps()),
    fails: ['answers', 'delete'],
    rows: ['answers', 'true'],
    make: async (tenantId, rows) => {
      await set(tenantId, 'retention_answers_days = 30');
      await makeAnswers(tenantId, rows);
    },
  },
  'retention of conversations': {
    work: () => expiring(EXPIRY[1] as never, batchDeps()),
    fails: ['conversations', 'delete'],
    rows: ['conversations', "status = 'resolved'"],
    make: async (tenantId, rows) => {
      await set(tenantId, 'retention_conversations_days = 30');
      await makeConversations(tenantId, rows, { status: "'resolved'", last_activity_at: old, resolved_at: old });
    },
  },
  'retention of attempts': {
    work: () => forgetting('deliveries', OLD_DELIVERIES, batchDeps()),
    fails: ['deliveries', 'delete'],
    rows: ['deliveries', 'true'],
    make: (tenantId, rows) => insertMany(database, 'deliveries', { ...of(tenantId), at: old }, rows),
  },
  'retention of events': {
    work: () => forgetting('events', OLD.events as never, batchDeps()),
    fails: ['event_batches', 'delete'],
    rows: ['event_batches', 'true'],
    make: async (tenantId, rows) => {
      await insertMany(database, 'event_batches', { ...of(tenantId), last: 'n', written_until: old }, rows);
      await insertMany(database, 'event_sequences', of(tenantId), 1);
    },
  },
  mails: {
    // without a mail server each attempt ends at once, and the mail waits for the next one
    work: () =>
      mailing({
        ...batchDeps(),
        seals: createSeals({ current: randomBytes(32).toString('base64'), others: [] }),
        server: undefined,
      }),
    fails: ['mails', 'update'],
    rows: ['mails', 'attempts = 0'],
    make: (tenantId, rows) =>
      insertMany(
        database,
        'mails',
        {
          ...{ ...of(tenantId), status: "'queued'", letter_sealed: "'x'" },
          ...{ due_at: old, expires_at: "now() + interval '1 day'" },
        },
        rows,
      ),
  },
  erasure: {
    work: () => erasure(deps()),
    fails: ['test_answers', 'delete'],
    rows: ['test_answers', 'true'],
    make: async (tenantId, rows) => {
      await database.query('insert into deleted_tenants values ($1, now())', [tenantId]);
      await insertMany(database, 'test_answers', of(tenantId), rows);
    },
  },
};

describe.each(Object.entries(LOOPS))('%s', (_, { work, fails, rows: [table, where], make }) => {
  test(`does a tenant's work next to one that always fails and one with a backlog of ${BACKLOG}`, async () => {
    const { failing, busy, third } = await makeTenants();
    await make(failing, 10);
    await make(busy, BACKLOG);
    await make(third, 10);
    await database.query(`analyze ${table}`);
    await refuse(...fails, failing);
    const metrics = createMetrics('work');
    const inner = work();
    const batches: string[] = [];
    const counted: TenantWork = {
      ...inner,
      batch: tenantId => {
        batches.push(tenantId);
        return inner.batch(tenantId);
      },
    };
    const startedAt = performance.now();
    const rounds = createTenantRounds({ ...loopDeps(), metrics }, counted);
    for (let round = 0; round < 3 && (await count(table, third, where)) > 0; round++) await rounds.run();
    const seconds = (performance.now() - startedAt) / 1000;
    await rounds.ended();
    expect(await count(table, third, where)).toBe(0);
    expect(await count(table, failing, where)).toBeGreaterThan(0);
    expect(await count(table, busy, where)).toBeGreaterThan(0);
    expect(batches.filter(id => id === busy).length).toBeLessThan(13);
    expect((await metrics.workFailures.get()).values[0]?.value).toBeGreaterThan(0);
    await metrics.render();
    expect((await metrics.oldestWork.get()).values[0]?.value).toBeGreaterThan(0);
    if (process.env.PRINT_SECONDS) process.stderr.write(`${inner.loop}: ${seconds.toFixed(2)} s\n`);
  });
});

const NUMBERED = `select coalesce(max(last), 0)::int as last from event_sequences where tenant_id = $1`;

describe('numbering events', () => {
  const numbered = async (tenantId: string): Promise<number> =>
    (await database.query<{ last: number }>(NUMBERED, [tenantId]))[0]?.last ?? 0;

  const write = (tenantId: string, rows: number) =>
    insertMany(database, 'events', { ...of(tenantId), type: "'answer.stored'", object_type: "'answer'" }, rows);

  /** Runs the sequencer until a fact holds. */
  async function number(fact: () => Promise<boolean>): Promise<void> {
    const stop = new AbortController();
    const metrics = createMetrics('work');
    const ended = runSequencer({ ...loopDeps(), storage: worker, metrics, signal: stop.signal });
    await waitFor(fact);
    stop.abort();
    await ended;
  }

  test(`goes on next to a tenant whose numbering fails and one with ${BACKLOG} events, and loses and repeats none`, async () => {
    const { failing, busy, third } = await makeTenants();
    await refuse('event_batches', 'insert', failing);
    for (let round = 1; round <= 3; round++) {
      await write(failing, 10);
      await write(busy, BACKLOG / 4);
      await write(third, 10);
      const startedAt = performance.now();
      await number(async () => (await numbered(third)) === 10 * round);
      if (process.env.PRINT_SECONDS)
        process.stderr.write(`events ${round}: ${((performance.now() - startedAt) / 1000).toFixed(2)} s\n`);
    }
    expect(await numbered(failing)).toBe(0);
    await database.query('drop function refuse() cascade');
    await write(busy, BACKLOG / 4);
    await number(
      async () =>
        (await numbered(failing)) === 30 &&
        (await numbered(busy)) === BACKLOG &&
        (await count('held_events', failing)) === 0,
    );
    await write(failing, 5);
    await number(async () => (await numbered(failing)) === 35);
    for (const tenantId of [failing, busy, third]) {
      const [row] = await database.query(
        `select count(*)::int as listed, count(distinct listed.id)::int as events,
           bool_and(place >= before) as ordered from (
             select ids.id, lag(place, 1, 0::bigint) over (order by last, position) as before, place
             from event_batches cross join unnest(ids) with ordinality as ids (id, position)
               join events on events.tenant_id = event_batches.tenant_id and events.id = ids.id
             where event_batches.tenant_id = $1) as listed`,
        [tenantId],
      );
      const events = await numbered(tenantId);
      expect(row).toEqual({ listed: events, events, ordered: true });
    }
  });
});
