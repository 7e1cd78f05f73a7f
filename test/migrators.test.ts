import { randomBytes } from 'node:crypto';
import type { Client } from 'pg';
import { expect, test } from 'vitest';
import { createLog } from '../src/platform/log.ts';
import { awaitDatabase, isCompatible, migrate, readSchemaState } from '../src/storage/database/migrate.ts';
import { MIGRATIONS } from '../src/storage/migrations/index.ts';
import { waitFor } from './support/api.ts';
import { createDatabase, createEmptyDatabase } from './support/database.ts';
import { connect } from './support/migrations.ts';
import { startProcess } from './support/process.ts';
import { createProxy } from './support/proxy.ts';

const log = createLog('silent', 'test');

async function tablesOf(client: Client): Promise<string[]> {
  const { rows } = await client.query("select tablename from pg_tables where schemaname = 'public' order by 1");
  return rows.map(row => row.tablename);
}

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

test('a migration that fails for another reason is not tried again', async () => {
  await using database = await createEmptyDatabase();
  await using owner = await connect(database.url);
  await owner.query('create table conversations ()');
  await expect(migrate(database.url, log)).rejects.toThrow('relation "conversations" already exists');
  expect(isCompatible(await readSchemaState(database.url))).toBe(false);
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
