import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CANARY_TENANT_ID } from '../../../src/domain/answers/ingestion.ts';
import type { Storage } from '../../../src/storage/database/orm.ts';
import { addMember } from '../../../src/storage/team/members.ts';
import { insertTenant } from '../../../src/storage/tenants/tenants.ts';
import { countLosses } from '../../../src/storage/upkeep/conservation.ts';
import {
  awaitLastWrites,
  type Deleted,
  deleteTenant,
  eraseDeletedTenant,
  findDeletion,
} from '../../../src/storage/upkeep/deleted-tenants.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { type Column, insertSample, readColumns } from '../../support/rows.ts';
import { waitFor } from '../../support/wait.ts';

let database: TestDatabase;
let app: Storage;
let columns: Column[];

beforeAll(async () => {
  database = await createDatabase();
  app = database.storage();
  await database.query('create table later_things (tenant_id uuid, id uuid, primary key (tenant_id, id))');
  columns = await readColumns(database);
});
afterAll(() => database[Symbol.asyncDispose]());

/** Every table with this column. */
const tablesWith = (column: string): string[] => columns.filter(one => one.column === column).map(({ table }) => table);

/** Inserts a row with these values and samples for the other required columns. */
const insert = (table: string, given: Record<string, unknown>) => {
  const needed = columns.filter(({ column, nullable }) => !nullable || column in given);
  return database.query(...insertSample(needed, table, given, randomUUID()));
};

const ONE_PER_TENANT = ['assignment_rules', 'event_batches', 'event_sequences', 'held_events', 'ingestion_totals'];

/** A tenant with rows in every table. */
async function fill(): Promise<string> {
  const { id } = await insertTenant(app, 'Acme', new Date());
  for (const table of tablesWith('tenant_id'))
    for (let row = 0; row < (ONE_PER_TENANT.includes(table) ? 1 : 3); row++) await insert(table, { tenant_id: id });
  return id;
}

/** A person with rows in every table of persons. */
async function makePerson(...tenants: string[]): Promise<string> {
  const id = randomUUID();
  await insert('accounts', { id, email: `${id}@x.example` });
  for (const table of tablesWith('account_id').filter(name => name !== 'members'))
    await insert(table, { account_id: id, subject: id });
  for (const tenant_id of tenants) await insert('members', { tenant_id, account_id: id, email: null });
  return id;
}

const answers = (tenant_id: string, count: number) =>
  database.query(
    `insert into answers (tenant_id, id, identity, identity_verified, card_id, question_id, question_version, revision,
       state, "values", metadata, content_hash, tags, received_at, stored_at, updated_at)
     select $1, gen_random_uuid(), 'u', true, $1, $1, 1, 1, 'seen', '{}', '{}', '', '{}', now(), now(), now()
     from generate_series(1, $2)`,
    [tenant_id, count],
  );

async function erase(id: string, storage = app): Promise<Deleted[]> {
  const batches: Deleted[] = [];
  for await (const batch of eraseDeletedTenant(storage, id)) batches.push(batch);
  return batches;
}

const total = (batches: Deleted[], table: string) => batches.reduce((sum, batch) => sum + (batch[table] ?? 0), 0);

/** The content of every table except for one tenant and one person, and the number of their rows. */
async function look(tenantId: string, accountId: string) {
  const rest: Record<string, unknown> = {};
  const theirs: Record<string, number> = {};
  for (const table of new Set(columns.map(one => one.table))) {
    const owner = `(to_jsonb(t)->>'tenant_id' = $1 or to_jsonb(t)->>'account_id' = $2
      or '${table}' in ('tenants', 'accounts') and to_jsonb(t)->>'id' in ($1, $2))`;
    const [row] = await database.query<{ rest: string; theirs: number }>(
      `select md5(coalesce(string_agg(t::text, '|' order by t::text) filter (where ${owner} is not true), '')) as rest,
         (count(*) filter (where ${owner}))::int as theirs from "${table}" t`,
      [tenantId, accountId],
    );
    if (table !== 'deleted_tenants') rest[table] = row?.rest;
    theirs[table] = row?.theirs ?? 0;
  }
  return { rest, theirs };
}

describe('a deleted tenant', () => {
  test('leaves no row in any table, including tables of later versions, and other tenants keep every row', async () => {
    const [gone, kept] = [await fill(), await fill()];
    const leaver = await makePerson(gone);
    const stayer = await makePerson(gone, kept);
    await makePerson(kept);
    await makePerson();
    const before = await look(gone, leaver);
    const filled = Object.entries(before.theirs).flatMap(([table, rows]) => (rows > 0 ? [table] : []));
    expect(filled.toSorted()).toEqual(
      [...new Set([...tablesWith('tenant_id'), ...tablesWith('account_id'), 'tenants', 'accounts'])].toSorted(),
    );
    expect(await deleteTenant(app.forTenant(gone))).toMatchObject({ tenants: 1, members: 5, accounts: 1, sessions: 1 });
    await erase(gone);
    const after = await look(gone, leaver);
    expect(Object.entries(after.theirs).filter(([, rows]) => rows > 0)).toEqual([]);
    expect(after.rest).toEqual(before.rest);
    expect(await database.query('select tenant_id from members where account_id = $1', [stayer])).toEqual([
      { tenant_id: kept },
    ]);
  });

  test('is never reported as loss, and is no longer counted', async () => {
    const { id } = await insertTenant(app, 'Acme', new Date());
    await answers(id, 1500);
    const before = await countLosses(app);
    await deleteTenant(app.forTenant(id));
    const left = [];
    for await (const { answers: rows } of eraseDeletedTenant(app, id)) left.push([rows, await countLosses(app)]);
    expect(left).toEqual([
      [1000, before],
      [500, before],
    ]);
    await app.query('select count_rejected($1, $2)', [[id], [7]]);
    expect(await erase(id)).toEqual([]);
  });

  test('is deleted in batches, and two concurrent deletions delete each row once', async () => {
    const { id } = await insertTenant(app, 'Acme', new Date());
    await answers(id, 4300);
    await deleteTenant(app.forTenant(id));
    const runs = await Promise.all([erase(id), erase(id, database.storage('parley_worker'))]);
    const batches = runs.flat();
    expect(total(batches, 'answers')).toBe(4300);
    expect(Math.max(...batches.map(batch => batch.answers ?? 0))).toBe(1000);
    expect(await database.query('select from answers where tenant_id = $1', [id])).toEqual([]);
  });

  test('cannot be joined, not even by a concurrent request', async () => {
    const { id } = await insertTenant(app, 'Acme', new Date());
    const person = { id: randomUUID(), email: 'late@x.example', name: '', password_hash: null, exists: false };
    await deleteTenant(app.forTenant(id));
    await expect(addMember(app, id, person, 'owner', new Date())).rejects.toMatchObject({ code: 'resource-not-found' });
    expect(await database.query('select from accounts where id = $1', [person.id])).toEqual([]);
  });

  test('keeps a person who concurrently joins another team, or deletes them before', async () => {
    const [gone, other] = [await insertTenant(app, 'Gone', new Date()), await insertTenant(app, 'Other', new Date())];
    const account = await makePerson(gone.id);
    const person = { id: account, email: `${account}@x.example`, name: '', password_hash: null, exists: true };
    const [joined] = await Promise.allSettled([
      addMember(app, other.id, person, 'agent', new Date()),
      deleteTenant(app.forTenant(gone.id)),
    ]);
    const accounts = await database.query('select from accounts where id = $1', [account]);
    const members = await database.query('select from members where account_id = $1', [account]);
    expect([accounts.length, members.length]).toEqual(joined.status === 'fulfilled' ? [1, 1] : [0, 0]);
  });
});

describe('nothing is deleted', () => {
  test('of a tenant that was not deleted', async () => {
    const { id } = await insertTenant(app, 'Acme', new Date());
    await answers(id, 3);
    expect(await erase(id)).toEqual([]);
    expect(await findDeletion(app, id)).toBeUndefined();
    expect(await database.query('select from answers where tenant_id = $1', [id])).toHaveLength(3);
  });

  test('of the canaries, of an unknown tenant, or twice', async () => {
    await answers(CANARY_TENANT_ID, 1);
    expect(await deleteTenant(app.forTenant(CANARY_TENANT_ID))).toBeUndefined();
    expect(await erase(CANARY_TENANT_ID)).toEqual([]);
    expect((await app.query<{ deleted: unknown }>('select delete_tenant() as deleted'))[0]?.deleted).toBeNull();
    const { id } = await insertTenant(app, 'Acme', new Date());
    const both = await Promise.all([deleteTenant(app.forTenant(id)), deleteTenant(app.forTenant(id))]);
    expect(both.filter(Boolean)).toHaveLength(1);
  });

  test('by a worker that has not seen the deletion', async () => {
    await expect(database.storage('parley_worker').query('select delete_tenant()')).rejects.toThrow(
      /permission denied/,
    );
  });
});

test('erasure waits for writes that were in progress when the tenant was deleted', async () => {
  const { id } = await insertTenant(app, 'Acme', new Date());
  const writing = Promise.withResolvers<void>();
  const written = database.storage('parley_worker').transaction(async session => {
    await session.query('insert into recorded_flushes values ($1, now())', [randomUUID()]);
    await session.query("insert into card_records values ($1, 'u', true, $1, now())", [id]);
    await writing.promise;
  });
  await waitFor(async () => {
    const open = 'select from pg_stat_activity where datname = current_database() and backend_xid is not null';
    return (await database.query(open)).length > 0;
  });
  await deleteTenant(app.forTenant(id));
  let isSilent = false;
  const silence = awaitLastWrites(app, (await findDeletion(app, id)) as Date).then(silent => {
    isSilent = silent;
  });
  const startedAt = Date.now();
  await waitFor(() => Date.now() - startedAt > 2000); // a second longer than without a writer
  expect(isSilent).toBe(false);
  writing.resolve();
  await Promise.all([written, silence]);
  expect(isSilent).toBe(true);
  expect(total(await erase(id), 'card_records')).toBe(1);
});
