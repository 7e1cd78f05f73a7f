import { randomBytes, randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLog } from '../src/platform/log.ts';
import { awaitDatabase, isCompatible, migrate, readSchemaState } from '../src/storage/migrate.ts';
import { MIGRATIONS, NEEDED_SCHEMA } from '../src/storage/migrations/index.ts';
import { openOrm } from '../src/storage/orm.ts';
import { createApi, type TestApi, waitFor } from './support/api.ts';
import { createDatabase, createEmptyDatabase, type TestDatabase } from './support/database.ts';
import { makeTenant } from './support/make.ts';
import { partition } from './support/partitions.ts';
import { startProcess } from './support/process.ts';
import { createProxy } from './support/proxy.ts';

const log = createLog('silent', 'test');

/** A connection of the owner, closed at the end of the scope. */
async function connect(url: string): Promise<Client & AsyncDisposable> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

async function tablesOf(client: Client): Promise<string[]> {
  const { rows } = await client.query("select tablename from pg_tables where schemaname = 'public' order by 1");
  return rows.map(row => row.tablename);
}

test('the schema after all migrations matches the entities', async () => {
  await using database = await createEmptyDatabase(); // the queue's own tables would be counted too
  await migrate(database.url, log);
  const orm = await openOrm(database.url, log);
  const statements = async () =>
    (await orm.schema.getUpdateSchemaSQL({ wrap: false, safe: false }))
      .split('\n')
      .filter(line => line.trim() !== '' && !line.startsWith('set names'));
  expect(await statements()).toEqual([]);
  await using owner = await connect(database.url);
  await owner.query('alter table members add column nickname text');
  expect(await statements()).toHaveLength(1);
  await orm.close(true);
});

test('the last migration records its schema version', async () => {
  await using database = await createDatabase();
  expect(await readSchemaState(database.url)).toEqual({
    version: NEEDED_SCHEMA,
    oldest_compatible: expect.any(Number),
  });
  const applied = await database.query<{ name: string }>('select name from schema_migrations order by id');
  expect(applied.map(({ name }) => name)).toEqual(MIGRATIONS.map(({ name }) => name));
});

const VACUUM_SOONER = [
  'autovacuum_analyze_scale_factor=0.02',
  'autovacuum_vacuum_insert_scale_factor=0.05',
  'autovacuum_vacuum_scale_factor=0.05',
];

/** The storage parameters of tables whose names have this prefix. */
async function optionsOf(database: TestDatabase, start: string): Promise<Record<string, string[] | null>> {
  const rows = await database.query<{ relname: string; options: string[] | null }>(
    `select relname, array(select unnest(reloptions) order by 1) as options from pg_class
     where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace and starts_with(relname, $1)`,
    [start],
  );
  return Object.fromEntries(rows.map(({ relname, options }) => [relname, options]));
}

test('large tables are vacuumed and analyzed after smaller changes than by default', async () => {
  await using database = await createDatabase();
  expect(await optionsOf(database, 'answers')).toEqual({ answers: VACUUM_SOONER });
  expect(await optionsOf(database, 'messages')).toEqual({ messages: VACUUM_SOONER });
  expect(await optionsOf(database, 'card_records')).toEqual({ card_records: [...VACUUM_SOONER, 'fillfactor=70'] });
  expect(await optionsOf(database, 'questions')).toEqual({ questions: [] });
});

test("partitions of a large table are vacuumed sooner too, and an operator's own factor is kept", async () => {
  await using database = await createDatabase();
  await partition(database, 'answers');
  await database.query('alter table messages set (autovacuum_vacuum_scale_factor = 0.5)');
  await database.query('alter table messages reset (autovacuum_analyze_scale_factor)');
  await database.query("delete from schema_migrations where name = '20261213-vacuum-sooner'");
  expect(await migrate(database.url, log)).toEqual(['20261213-vacuum-sooner']);
  const options = await optionsOf(database, 'answers');
  expect(Object.keys(options)).toHaveLength(5);
  for (const [table, set] of Object.entries(options)) expect(set).toEqual(table === 'answers' ? [] : VACUUM_SOONER);
  expect(await optionsOf(database, 'messages')).toEqual({
    messages: [...VACUUM_SOONER.slice(0, 2), 'autovacuum_vacuum_scale_factor=0.5'],
  });
});

test('members of the previous version become persons, one per address, and it can still add some', async () => {
  await using database = await createEmptyDatabase();
  const orm = await openOrm(database.url, log);
  await orm.migrator.up({ to: '20261123-conservation' });
  await using owner = await connect(database.url);
  const tenants = [randomUUID(), randomUUID()];
  const insert = (tenant: string, email: string, hash: string, day: number) =>
    owner.query(
      'insert into members (tenant_id, id, email, role, password_hash, created_at) values ($1, $2, $3, $4, $5, $6)',
      [tenant, randomUUID(), email, 'owner', hash, new Date(Date.UTC(2026, 0, day))],
    );
  await insert(tenants[0] as string, 'ada@x.example', 'older', 1);
  await insert(tenants[1] as string, 'ada@x.example', 'newer', 2);
  await insert(tenants[1] as string, 'bob@x.example', 'his', 3);
  await orm.migrator.up();
  await orm.close(true);
  await insert(tenants[0] as string, 'bob@x.example', 'ignored', 4);
  await insert(tenants[0] as string, 'eve@x.example', 'hers', 5);
  const { rows } = await owner.query(
    `select accounts.email, accounts.password_hash, count(*)::int as tenants from accounts
     join members on members.account_id = accounts.id group by 1, 2 order by 1`,
  );
  expect(rows).toEqual([
    { email: 'ada@x.example', password_hash: 'newer', tenants: 2 },
    { email: 'bob@x.example', password_hash: 'his', tenants: 2 },
    { email: 'eve@x.example', password_hash: 'hers', tenants: 1 },
  ]);
});

/** A database of the version before results: one tenant with a question, and answers on several days. */
async function createUncounted(days: string[]) {
  const database = await createEmptyDatabase();
  const orm = await openOrm(database.url, log);
  await orm.migrator.up({ to: '20261124-accounts' });
  await orm.close(true);
  const owner = await connect(database.url);
  const [tenant, question] = [randomUUID(), randomUUID()];
  await owner.query(
    `insert into questions (tenant_id, id, name, status, version, type, title, description, config, frequency,
       allow_public, priority, created_at, updated_at)
     values ($1, $2, 'x', 'live', 1, 'nps', 'x', '', '{}', '{}', false, 0, now(), now())`,
    [tenant, question],
  );
  const addAnswer = (day: string) =>
    owner.query(
      `insert into answers (tenant_id, id, identity, identity_verified, card_id, question_id, question_version, revision,
         state, "values", metadata, content_hash, received_at, stored_at, updated_at, tags)
       values ($1, gen_random_uuid(), 'ada', true, gen_random_uuid(), $2, 1, 1, 'completed', '{"main": 9}', '{}', '',
         $3::date, now(), now(), '{}')`,
      [tenant, question, day],
    );
  for (const day of days) await addAnswer(day);
  const counts = async () =>
    (await owner.query('select day::text, completed from question_results order by day')).rows as {
      day: string;
      completed: number;
    }[];
  return {
    ...{ url: database.url, owner, addAnswer, counts },
    async [Symbol.asyncDispose]() {
      await owner.end();
      await database[Symbol.asyncDispose]();
    },
  };
}

test('a migration that cannot lock a table lets writers go first, and is retried', async () => {
  await using database = await createUncounted(['2026-11-20']);
  await using reader = await connect(database.url);
  await reader.query('begin; select from answers');
  let isMigrated = false;
  const migrating = migrate(database.url, log).finally(() => {
    isMigrated = true;
  });
  const isWaiting = async () =>
    (
      await database.owner.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query ilike '%alter table answers%'",
      )
    ).rows.length > 0;
  await waitFor(isWaiting);
  const startedAt = Date.now();
  await database.addAnswer('2026-11-20'); // queued for the lock behind the migration, while the reader continues
  expect(Date.now() - startedAt).toBeLessThan(5000);
  expect(isMigrated).toBe(false);
  await waitFor(isWaiting); // the next attempt
  await reader.query('commit');
  expect(await migrating).toContain('20261125-results');
  expect(isCompatible(await readSchemaState(database.url))).toBe(true);
  expect(await database.counts()).toEqual([{ day: '2026-11-20', completed: 2 }]);
});

test('a count of stored answers continues where it stopped, and counts nothing twice', async () => {
  await using database = await createUncounted(['2026-01-01', '2026-11-19', '2026-11-19', '2026-11-21']);
  await migrate(database.url, log);
  const all = [
    { day: '2026-01-01', completed: 1 },
    { day: '2026-11-19', completed: 2 },
    { day: '2026-11-21', completed: 1 },
  ];
  expect(await database.counts()).toEqual(all);
  const stopAfter = async (day: string) => {
    await database.owner.query('delete from question_results where day < $1', [day]);
    await database.owner.query("delete from schema_migrations where name = '20261202-counts'");
  };
  await stopAfter('2026-11-21');
  expect(await migrate(database.url, log)).toEqual(['20261202-counts']);
  expect(await database.counts()).toEqual(all);
  await stopAfter('2000-01-01');
  await migrate(database.url, log);
  expect(await database.counts()).toEqual(all);
});

test('an invalid index of an earlier attempt is created again', async () => {
  await using database = await createDatabase();
  const isValid = async () =>
    (
      await database.query<{ valid: boolean }>(
        "select indisvalid as valid from pg_index where indexrelid = 'answers_tagged'::regclass",
      )
    )[0]?.valid;
  await database.query("update pg_index set indisvalid = false where indexrelid = 'answers_tagged'::regclass");
  await database.query("delete from schema_migrations where name = '20261202-indexes'");
  expect(await isValid()).toBe(false);
  expect(await migrate(database.url, log)).toEqual(['20261202-indexes']);
  expect(await isValid()).toBe(true);
});

test('the index of answers by identity stores each identity once, and replaces the one that did not', async () => {
  await using database = await createEmptyDatabase();
  const orm = await openOrm(database.url, log);
  await orm.migrator.up({ to: '20261201-card-record-room' });
  await using owner = await connect(database.url);
  await owner.query(
    `insert into answers (tenant_id, id, identity, identity_verified, card_id, question_id, question_version, revision, state,
       "values", metadata, content_hash, tags, received_at, stored_at, updated_at)
     select $1, gen_random_uuid(), 'user|' || n % 400, true, $1, $1, 1, 1, 'completed', '{}', '{}', 'x', '{}',
       now() + n * interval '1 second', now(), now() from generate_series(1, 10000) as n`,
    [randomUUID()],
  );
  const sizeOf = async (name: string) =>
    Number((await owner.query('select pg_relation_size(to_regclass($1)) as size', [name])).rows[0]?.size);
  const before = await sizeOf('answers_of_identity');
  await orm.migrator.up();
  await orm.close(true);
  expect(await sizeOf('answers_of_identity')).toBe(0);
  expect(before / (await sizeOf('answers_by_identity'))).toBeGreaterThan(4);
});

test('a migrator killed while it creates an index leaves no statement running', async () => {
  await using database = await createDatabase();
  await using owner = await connect(database.url);
  await using other = await connect(database.url);
  await database.query("delete from schema_migrations where name = '20261212-narrow-identity-index'");
  await database.query('drop index answers_by_identity');
  await other.query('begin');
  await other.query('lock table answers in row exclusive mode'); // blocks the creation of the index until it ends
  const creating = async () =>
    (
      await owner.query(
        `select from pg_stat_activity where datname = current_database() and state = 'active' and query like 'create  index%'`,
      )
    ).rowCount;
  const secret = { SECRET_KEY: randomBytes(32).toString('base64') };
  await using migrator = await startProcess('migrate', { DATABASE_URL: database.url, ...secret });
  await waitFor(async () => (await creating()) === 1, 30_000);
  migrator.kill('SIGKILL');
  await waitFor(async () => (await creating()) === 0, 10_000);
  await other.query('commit');
  expect(await migrate(database.url, log)).toEqual(['20261212-narrow-identity-index']);
});

test('stored texts are marked for indexing, for tenants that have some', async () => {
  await using database = await createEmptyDatabase();
  const orm = await openOrm(database.url, log);
  await orm.migrator.up({ to: '20261201-card-record-room' });
  await using owner = await connect(database.url);
  const [busy, idle] = [randomUUID(), randomUUID()];
  for (const id of [busy, idle])
    await owner.query("insert into tenants (id, name, created_at) values ($1, 'x', now())", [id]);
  await owner.query(
    `insert into answers (tenant_id, id, identity, identity_verified, card_id, question_id, question_version, revision, state,
       "values", comment, metadata, content_hash, tags, received_at, stored_at, updated_at)
     values ($1, $1, 'ada', true, $1, $1, 1, 1, 'completed', '{}', 'words', '{}', 'x', '{}', now(), now(), now())`,
    [busy],
  );
  await orm.migrator.up();
  await orm.close(true);
  const { rows } = await owner.query('select tenant_id, kind from search_backlog');
  expect(rows).toEqual([{ tenant_id: busy, kind: 'answer' }]);
});

test('migrations are not run again in a migrated database', async () => {
  await using database = await createDatabase();
  expect(await migrate(database.url, log)).toEqual([]);
});

test('of two concurrent migrators one runs the migrations and the other has nothing to do', async () => {
  await using database = await createEmptyDatabase();
  const runs = await Promise.all([migrate(database.url, log), migrate(database.url, log)]);
  const names = MIGRATIONS.map(({ name }) => name);
  expect(runs.toSorted((one, other) => one.length - other.length)).toEqual([[], names]);
  expect(isCompatible(await readSchemaState(database.url))).toBe(true);
});

test('a migrator waits for a database that does not respond yet', async () => {
  await using database = await createEmptyDatabase();
  await using proxy = await createProxy(database.url);
  proxy.cut();
  await using migrator = await startProcess('migrate', {
    DATABASE_URL: proxy.through(database.url),
    SECRET_KEY: randomBytes(32).toString('base64'),
  });
  await waitFor(() => migrator.output().includes('waiting for the database'));
  proxy.mend();
  expect(await migrator.exited).toBe(0);
  expect(isCompatible(await readSchemaState(database.url))).toBe(true);
});

test('a migrator does not wait for a database that does not exist', async () => {
  await using database = await createEmptyDatabase();
  const elsewhere = new URL(database.url);
  elsewhere.pathname = '/nowhere';
  await expect(awaitDatabase(elsewhere.href, log, 60_000)).rejects.toThrow(/"nowhere" does not exist/);
});

test('a migrator killed halfway leaves no changes, and the next one succeeds', async () => {
  await using database = await createEmptyDatabase();
  await using blocker = await connect(database.url);
  await blocker.query('begin');
  await blocker.query('create table conversations ()'); // the migration has to wait for this name
  await using watch = await connect(database.url);
  await using migrator = await startProcess('migrate', {
    DATABASE_URL: database.url,
    SECRET_KEY: randomBytes(32).toString('base64'),
  });
  const pid = await waitFor(async () => {
    if (!migrator.isRunning()) throw new Error(migrator.output());
    const waiting = await watch.query(
      `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
       and query like '%create table conversations%'`,
    );
    return waiting.rows[0]?.pid;
  });
  migrator.kill('SIGKILL');
  expect(await migrator.exited).toBe('SIGKILL');
  await blocker.query('rollback');
  await waitFor(async () => {
    const server = await watch.query('select from pg_stat_activity where pid = $1', [pid]);
    return server.rows.length === 0;
  });
  expect((await tablesOf(watch)).filter(name => name !== 'schema_migrations')).toEqual([]);
  expect(isCompatible(await readSchemaState(database.url))).toBe(false);

  expect(await migrate(database.url, log)).toEqual(MIGRATIONS.map(({ name }) => name));
  expect(isCompatible(await readSchemaState(database.url))).toBe(true);
});

test.each([
  { state: undefined, fits: false, why: 'there is none' },
  { state: { version: NEEDED_SCHEMA, oldest_compatible: NEEDED_SCHEMA }, fits: true, why: 'it is the one needed' },
  {
    state: { version: NEEDED_SCHEMA + 1, oldest_compatible: NEEDED_SCHEMA },
    fits: true,
    why: 'it is newer and says so',
  },
  {
    state: { version: NEEDED_SCHEMA + 1, oldest_compatible: NEEDED_SCHEMA + 1 },
    fits: false,
    why: 'it is newer and left this build behind',
  },
  { state: { version: NEEDED_SCHEMA - 1, oldest_compatible: 0 }, fits: false, why: 'it is older' },
])('a schema is compatible: $fits, because $why', ({ state, fits }) => {
  expect(isCompatible(state)).toBe(fits);
});

describe('a build with a newer schema', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await createApi();
  });
  afterAll(() => api[Symbol.asyncDispose]());

  test('is not ready if the schema is incompatible, and is as soon as it is compatible', async () => {
    await api.database.query('insert into schema_state values (99, 99)');
    await using process = await startProcess('serve', { DATABASE_URL: api.database.url, SECRET_KEY: api.secretKey });
    await waitFor(() => process.output().includes('waiting for the migrations'));
    const refused = await fetch(`${process.baseUrl}/readyz`);
    expect(refused.status).toBe(503);

    await api.database.query('update schema_state set oldest_compatible = $1 where version = 99', [NEEDED_SCHEMA]);
    await process.awaitProbe('/readyz', 200);
  });

  test('keeps working while every table gains a column', async () => {
    const tenant = await makeTenant(api);
    const token = await tenant.sign('user|42');
    const asks = async () => {
      const started = await api.request('POST', '/v1/conversations', { as: token, body: { message: 'Hello' } });
      const replies = await Promise.all([
        api.request('GET', `/v1/conversations/${started.body.id}/messages`, { as: tenant.key.apiKey }),
        api.request('GET', '/v1/conversations', { as: token }),
        api.request('GET', '/v1/answers', { as: tenant.key.apiKey }),
        api.request('GET', '/v1/questions', { as: tenant.key.apiKey }),
        api.request('GET', '/v1/cards', { as: token }),
        api.request('POST', '/v1/questions', {
          as: tenant.key.apiKey,
          body: { type: 'nps', title: 'How likely?' },
          headers: { 'Idempotency-Key': randomBytes(8).toString('hex') },
        }),
      ]);
      const other = await makeTenant(api); // a key that the process has not looked up before
      const fresh = await api.request('GET', '/v1/ingestion', { as: other.key.apiKey });
      return [started, ...replies, fresh].map(({ status }) => status);
    };
    const before = [201, 200, 200, 200, 200, 200, 201, 200];
    for (let round = 0; round < 5; round++) expect(await asks()).toEqual(before); // until every connection has prepared the statements

    const tables = await api.database.query<{ name: string }>(
      "select tablename as name from pg_tables where schemaname = 'public'",
    );
    for (const { name } of tables) await api.database.query(`alter table "${name}" add column added_later text`);
    for (let round = 0; round < 5; round++) expect(await asks()).toEqual(before);
  });
});
