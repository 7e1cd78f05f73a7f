import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkRoles } from '../../src/storage/database/database-roles.ts';
import type { Storage } from '../../src/storage/database/orm.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { type Column, insertSample, readColumns } from '../support/rows.ts';

/** Tables that the worker writes for many tenants in one statement, and its bookkeeping. */
const WORKER_TABLES = [
  'answer_words',
  'answers',
  'card_records',
  'conversation_tombstones',
  'deleted_answers',
  'deleted_conversations',
  'deliveries',
  'event_batches',
  'events',
  'held_events',
  'ingestion_totals',
  'mails',
  'marked_tenants',
  'profile_changes',
  'quarantined_answers',
  'question_results',
  'question_step_results',
  'response_quotas',
  'webhooks',
];
const SHARED_TABLES = [
  'deleted_tenants',
  'event_numbering',
  'flush_producers',
  'last_backup',
  'lasting_keys',
  'lost_flushes',
  'mail_counts',
  'processes',
  'rate_counters',
  'recorded_flushes',
  'schema_state',
];
/** Tables of persons, who may be members of several tenants. */
const PERSONAL_TABLES = ['account_links', 'account_subjects', 'accounts', 'sessions'];
/** Tables that the worker also reads: for the steps of answers, and to find old events. */
const READ_BY_WORKER = ['event_sequences', 'question_versions'];
/** Insert-only tables, and those that only a function of the database writes. */
const APPEND_ONLY = ['audit_log', 'events'];
const READ_ONLY = ['event_batches', 'event_sequences'];

let database: TestDatabase;
let app: Storage;
let worker: Storage;
/** Every table whose rows belong to a tenant, with the column of the tenant. */
let owned: { table: string; tenantColumn: string }[];
let columns: Column[];
const [tenantA, tenantB] = [randomUUID(), randomUUID()];

/** An INSERT into a table for a tenant. */
const insertFor = (table: string, tenantColumn: string, tenantId: string): [string, unknown[]] =>
  insertSample(columns, table, { [tenantColumn]: tenantId });

const names = () => owned.map(({ table }) => table);

const tablesWithPrivilege = async (role: string, privilege: string): Promise<string[]> =>
  (
    await database.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
       and has_table_privilege($1, oid, $2) order by 1`,
      [role, privilege],
    )
  ).map(({ name }) => name);

/** The tables from which a statement returns rows. */
async function tablesWithRows(
  read: (sql: string) => Promise<unknown[]>,
  sql = 'select from $table',
): Promise<string[]> {
  const found: string[] = [];
  for (const table of names()) if ((await read(sql.replace('$table', table))).length > 0) found.push(table);
  return found;
}

beforeAll(async () => {
  database = await createDatabase();
  app = database.storage('parley_app');
  worker = database.storage('parley_worker');
  columns = (await readColumns(database)).filter(({ nullable }) => !nullable);
  owned = [
    { table: 'tenants', tenantColumn: 'id' },
    ...(
      await database.query<{ table: string }>(
        `select table_name as table from information_schema.columns
         where table_schema = 'public' and column_name = 'tenant_id' order by 1`,
      )
    ).map(({ table }) => ({ table, tenantColumn: 'tenant_id' })),
  ];
  for (const { table, tenantColumn } of owned)
    for (const tenantId of [tenantA, tenantB]) await database.query(...insertFor(table, tenantColumn, tenantId));
});
afterAll(() => database[Symbol.asyncDispose]());

test('a table either belongs to tenants or is listed as shared', async () => {
  const tables = await database.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = 'public' and tablename <> 'schema_migrations'",
  );
  expect(tables.map(({ name }) => name).toSorted()).toEqual(
    [...names(), ...SHARED_TABLES, ...PERSONAL_TABLES].toSorted(),
  );
});

test('every table of tenants has row-level security and a policy for one tenant', async () => {
  const walled = await database.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relrowsecurity
     and exists (select from pg_policy where polrelid = pg_class.oid and polcmd = '*' and polpermissive
       and polroles = array['parley_app'::regrole::oid] and pg_get_expr(polqual, polrelid) like '%parley.tenant%')`,
  );
  expect(walled.map(({ name }) => name).toSorted()).toEqual(names().toSorted());
});

test('the planner knows the tenant of no policy, which would plan for the first tenant of a connection', async () => {
  const known = await database.query<{ table: string; policy: string }>(
    `select tablename as table, policyname as policy from pg_policies
     where concat(qual, with_check) like '%current_setting%' and concat(qual, with_check) not like '%ROW(0, 0) < ROW(0, 1)%'`,
  );
  expect(known, 'use CURRENT_TENANT or CURRENT_ACCOUNT of src/storage/schema/row-scope.ts').toEqual([]);
});

test('every table of tenants has the tenant first in its primary key', async () => {
  const keys = await database.query<{ table: string; first: string }>(
    `select indrelid::regclass::text as table, attname as first from pg_index
     join pg_attribute on attrelid = indrelid and attnum = indkey[0] where indisprimary`,
  );
  const first = new Map(keys.map(row => [row.table, row.first]));
  expect(owned.filter(({ table, tenantColumn }) => first.get(table) !== tenantColumn)).toEqual([]);
});

describe('as parley_app', () => {
  test('a statement without a tenant sees no row of any table, although each has two', async () => {
    expect(await tablesWithRows(sql => database.query(sql), 'select from $table offset 1')).toEqual(names());
    expect(await tablesWithRows(sql => app.query(sql))).toEqual([]);
  });

  test('a tenant sees its own row of every table and none of another tenant', async () => {
    const own = app.forTenant(tenantA);
    expect(await tablesWithRows(sql => own.query(sql))).toEqual(names());
    expect(await tablesWithRows(sql => own.query(sql), 'select from $table offset 1')).toEqual([]);
    for (const { table, tenantColumn } of owned)
      expect([table, await own.query(`select from ${table} where ${tenantColumn} = $1`, [tenantB])]).toEqual([
        table,
        [],
      ]);
  });

  test('an unknown tenant sees nothing', async () => {
    const unknown = app.forTenant(randomUUID());
    expect(await tablesWithRows(sql => unknown.query(sql))).toEqual([]);
  });

  test('no row is written for another tenant, without one, or moved to another', async () => {
    for (const { table, tenantColumn } of owned.filter(({ table }) => !READ_ONLY.includes(table))) {
      const foreign = insertFor(table, tenantColumn, tenantB);
      await expect(app.forTenant(tenantA).query(...foreign), table).rejects.toThrow(/row-level security/);
      await expect(app.query(...foreign), table).rejects.toThrow(/row-level security/);
      const move = app.forTenant(tenantA).query(`update ${table} set ${tenantColumn} = $1`, [randomUUID()]);
      await expect(move, table).rejects.toThrow(
        APPEND_ONLY.includes(table) ? /permission denied/ : /row-level security/,
      );
    }
  });

  test('no row of another tenant is changed or deleted, even by a statement without a where', async () => {
    const rollback = new Error('changes nothing after all');
    for (const { table, tenantColumn } of owned.filter(
      ({ table }) => ![...APPEND_ONLY, ...READ_ONLY].includes(table),
    )) {
      const deleting = app.forTenant(tenantA).transaction(async session => {
        expect(await session.query(`delete from ${table} returning ${tenantColumn} as id`)).toEqual([{ id: tenantA }]);
        throw rollback;
      });
      await expect(deleting, table).rejects.toBe(rollback);
    }
  });

  test('no row of an append-only table is changed, deleted or truncated, even by its own tenant', async () => {
    const own = app.forTenant(tenantA);
    for (const table of [...APPEND_ONLY, ...READ_ONLY])
      for (const sql of [`update ${table} set tenant_id = tenant_id`, `delete from ${table}`, `truncate ${table}`])
        await expect(own.query(sql), sql).rejects.toThrow(/permission denied/);
  });

  test('a person sees only their own account, sessions and memberships', async () => {
    const person = async (email: string, tenantId: string) => {
      const id = randomUUID();
      await database.query(
        `insert into accounts (id, email, name, recovery_hashes, created_at) values ($1, $2, 'x', '{}', now())`,
        [id, email],
      );
      await database.query(
        `insert into sessions (id, account_id, token_hash, user_agent, ip, created_at, last_seen_at, expires_at)
         values ($1, $2, $3, '', '', now(), now(), now())`,
        [randomUUID(), id, Buffer.from(id)],
      );
      await database.query(
        `insert into members (tenant_id, id, account_id, role, created_at) values ($1, $2, $3, 'agent', now())`,
        [tenantId, randomUUID(), id],
      );
      return id;
    };
    const [mine, theirs] = [await person('mine@x.example', tenantA), await person('theirs@x.example', tenantB)];
    const seen = await app.forAccount(mine).transaction(async session => ({
      accounts: await session.query('select id from accounts'),
      sessions: await session.query('select account_id as id from sessions'),
      members: await session.query('select account_id as id from members'),
      tenants: await session.query('select id from tenants'),
    }));
    expect(seen).toEqual({
      accounts: [{ id: mine }],
      sessions: [{ id: mine }],
      members: [{ id: mine }],
      tenants: [{ id: tenantA }],
    });
    for (const sql of [
      'update accounts set name = $2 where id = $1',
      'delete from sessions where account_id = $1 and ip <> $2',
    ])
      expect(
        await app.forAccount(mine).transaction(session => session.query(`${sql} returning id`, [theirs, 'taken over'])),
      ).toEqual([]);
    expect(await app.query('select id from accounts')).toEqual([]);
    expect(await app.query('select id from sessions')).toEqual([]);
    const team = await app.forTenant(tenantA).query('select id, email from accounts');
    expect(team).toEqual([{ id: mine, email: 'mine@x.example' }]);
  });

  test("only the functions of the login read a person's credentials", async () => {
    for (const column of ['password_hash', 'totp_sealed', 'recovery_hashes', '*'])
      await expect(app.query(`select ${column} from accounts`)).rejects.toThrow(/permission denied/);
    await expect(app.query('select from account_links')).rejects.toThrow(/permission denied/);
  });

  test('the tenant of one statement does not remain for the next one on the connection', async () => {
    const single = Array.from({ length: 20 }, async (_, index) => {
      const tenantId = index % 2 === 0 ? tenantA : tenantB;
      const [row] = await app.forTenant(tenantId).query<{ id: string }>('select id from tenants');
      return row?.id === tenantId && (await app.query('select from tenants')).length === 0;
    });
    expect(await Promise.all(single)).toEqual(Array(20).fill(true));
  });

  test('a transaction and a unit of work are bound to their tenant too', async () => {
    const own = app.forTenant(tenantA);
    const inTransaction = await own.transaction(session => session.query('select id from tenants'));
    const inUnit = await own.unitOfWork(em => em.execute('select id from tenants'));
    expect([inTransaction, inUnit]).toEqual([[{ id: tenantA }], [{ id: tenantA }]]);
    expect(await app.transaction(session => session.query('select id from tenants'))).toEqual([]);
  });

  test('the role of the owner cannot be set, nor row-level security disabled', async () => {
    await expect(app.query('alter table answers disable row level security')).rejects.toThrow(/must be owner/);
    await expect(app.query('truncate answers')).rejects.toThrow(/permission denied/);
    await expect(app.query('update schema_state set oldest_compatible = 0')).rejects.toThrow(/permission denied/);
  });
});

describe('as parley_worker', () => {
  test('only the tables that the worker writes are accessible, for every tenant', async () => {
    for (const privilege of ['select', 'insert', 'update', 'delete'])
      expect((await tablesWithPrivilege('parley_worker', privilege)).filter(name => names().includes(name))).toEqual(
        privilege === 'select' ? [...WORKER_TABLES, ...READ_BY_WORKER].sort() : WORKER_TABLES,
      );
    const beyond = names().filter(name => ![...WORKER_TABLES, ...READ_BY_WORKER].includes(name));
    for (const table of beyond) await expect(worker.query(`select from ${table}`)).rejects.toThrow(/permission denied/);
    for (const table of WORKER_TABLES) expect(await worker.query(`select from ${table}`)).toHaveLength(2);
  });

  test('of the shared tables, its own marks, the deleted tenants, the processes and the schema version are accessible', async () => {
    const shared = async (privilege: string) =>
      (await tablesWithPrivilege('parley_worker', privilege)).filter(name => SHARED_TABLES.includes(name));
    expect(await shared('select')).toEqual(['deleted_tenants', 'processes', 'recorded_flushes', 'schema_state']);
    expect(await shared('insert')).toEqual(['processes', 'recorded_flushes']);
    expect(await shared('update')).toEqual(['processes']);
  });
});

describe('roles', () => {
  test('neither role bypasses row-level security, logs in, owns objects or creates roles', async () => {
    const roles = await database.query(
      `select rolname, rolsuper, rolbypassrls, rolcanlogin, rolcreaterole, rolcreatedb,
         (select count(*)::int from pg_class where relowner = pg_roles.oid) as owned
       from pg_roles where rolname in ('parley_app', 'parley_worker') order by 1`,
    );
    const harmless = {
      rolsuper: false,
      rolbypassrls: false,
      rolcanlogin: false,
      rolcreaterole: false,
      rolcreatedb: false,
    };
    expect(roles).toEqual([
      { rolname: 'parley_app', ...harmless, owned: 0 },
      { rolname: 'parley_worker', ...harmless, owned: 0 },
    ]);
  });

  test('every connection uses the role of its storage', async () => {
    const actors = (storage: Storage) =>
      Promise.all(Array.from({ length: 5 }, () => storage.query('select current_user as actor')));
    expect(new Set((await actors(app)).flat().map(row => row.actor))).toEqual(new Set(['parley_app']));
    expect(new Set((await actors(worker)).flat().map(row => row.actor))).toEqual(new Set(['parley_worker']));
  });

  test('no other role has privileges on tables of tenants', async () => {
    const strangers = await database.query<{ grantee: string }>(
      `select distinct grantee from information_schema.role_table_grants where table_schema = 'public'
       and grantee not in (current_user, 'parley_app', 'parley_worker')`,
    );
    expect(strangers).toEqual([]);
    for (const privilege of ['truncate', 'references', 'trigger'])
      expect(await tablesWithPrivilege('parley_app', privilege)).toEqual([]);
  });

  test('definer functions are closed to the public and fix their search path', async () => {
    const open = await database.query(
      `select proname from pg_proc where pronamespace = 'public'::regnamespace and prosecdef
       and (has_function_privilege('public', oid, 'execute') or proconfig is null
         or not proconfig @> array['search_path=public, pg_temp'])`,
    );
    expect(open).toEqual([]);
    expect(await database.query('select from pg_proc where prosecdef')).not.toEqual([]);
  });

  test('the role check reports no problems in a migrated database', async () => {
    expect(await checkRoles(database.url)).toEqual([]);
  });

  test('the role check reports a role that is missing, bypasses row-level security, or cannot be set', async () => {
    const suffix = randomUUID().slice(0, 8);
    const [bypassing, user] = [`bypassing_${suffix}`, `user_${suffix}`];
    await database.query(`create role ${bypassing} nologin bypassrls`);
    await database.query(`create role ${user} login password 'test'`);
    await database.query(`grant parley_app, ${bypassing} to ${user}`);
    const url = new URL(database.url);
    [url.username, url.password] = [user, 'test'];
    try {
      expect(await checkRoles(database.url, ['parley_app', bypassing])).toEqual([
        {
          detail: `the role ${bypassing} bypasses row-level security`,
          remedy: `ALTER ROLE ${bypassing} NOSUPERUSER NOBYPASSRLS.`,
        },
      ]);
      expect(await checkRoles(database.url, ['parley_app', `missing_${suffix}`])).toEqual([
        { detail: expect.stringContaining('are missing'), remedy: 'Run `parley migrate`.' },
      ]);
      const faults = await checkRoles(url.href);
      expect(faults).toEqual([
        {
          detail: 'the database user is not a member of parley_worker',
          remedy: `GRANT parley_worker TO "${user}".`,
        },
      ]);
    } finally {
      await database.query(`drop role ${bypassing}, ${user}`);
    }
  });

  test('the role check reports an owner that cannot see the open writes of the processes', async () => {
    const owner = `owner_${randomUUID().slice(0, 8)}`;
    await database.query(`create role ${owner}`);
    try {
      await database.query(`alter function oldest_open_write() owner to ${owner}`);
      expect(await checkRoles(database.url)).toEqual([
        {
          detail: `the owner of the tables (${owner}) cannot read open transactions`,
          remedy: `GRANT "${new URL(database.url).username}" TO "${owner}".`,
        },
      ]);
      await database.query(`grant pg_read_all_stats to ${owner}`);
      expect(await checkRoles(database.url)).toEqual([]);
    } finally {
      await database.query('alter function oldest_open_write() owner to current_user');
      await database.query(`drop role ${owner}`);
    }
  });
});
