import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createLog } from '../../../src/platform/log.ts';
import { migrate } from '../../../src/storage/database/migrate.ts';
import { NEEDED_SCHEMA } from '../../../src/storage/migrations/index.ts';
import { functionNames, readFunction } from '../../../src/storage/schema/sql-files.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { connect } from '../../support/migrations.ts';
import { waitFor } from '../../support/wait.ts';

const log = createLog('silent', 'test');

const OLD = 'sha256 of an earlier text';

const findFunction = async (database: TestDatabase, name: string) =>
  (
    await database.query<{ body: string; digest: string }>(
      "select prosrc as body, obj_description(oid, 'pg_proc') as digest from pg_proc where proname = $1",
      [name],
    )
  )[0];

test('each file has one function of its name, preceded by a comment', () => {
  for (const name of functionNames()) {
    const text = readFunction(name);
    expect(text, name).toMatch(new RegExp(`^-- [^]*?\\ncreate or replace function ${name}\\(`));
    expect(text.match(/create or replace function /g), name).toHaveLength(1);
  }
  expect(readdirSync(new URL('../../../src/storage/functions/', import.meta.url))).toHaveLength(functionNames().length);
});

test('the database has the functions of the files, and no others', async () => {
  await using database = await createDatabase();
  const rows = await database.query<{ name: string }>(
    'select proname as name from pg_proc where pronamespace = \'public\'::regnamespace order by proname collate "C"',
  );
  expect(rows.map(({ name }) => name)).toEqual(functionNames());
});

test('migrate applies a function whose text has changed, and drops one that has no file any more', async () => {
  await using database = await createDatabase();
  const current = await findFunction(database, 'has_owner');
  await database.query("create or replace function has_owner() returns boolean language sql as 'select false'");
  await database.query(`comment on function has_owner is '${OLD}'`);
  await database.query("create function removed(n int) returns int language sql as 'select 1'");
  await database.query(`comment on function removed is '${OLD}'`);
  await database.query("create function removed_trigger() returns trigger language plpgsql as 'begin return new; end'");
  await database.query(`comment on function removed_trigger is '${OLD}'`);
  await database.query(
    'create trigger removed before insert on tenants for each row execute function removed_trigger()',
  );
  await database.query("create function of_an_operator() returns int language sql as 'select 1'");
  await migrate(database.url, log);
  expect(await findFunction(database, 'has_owner')).toEqual(current);
  expect(await findFunction(database, 'removed')).toBe(undefined);
  expect(await findFunction(database, 'removed_trigger')).toBe(undefined);
  expect(await findFunction(database, 'of_an_operator')).toBeDefined();
  const access = await database.query<{ all: boolean }>(
    "select has_function_privilege('public', 'has_owner()', 'execute') as all",
  );
  expect(access).toEqual([{ all: false }]);
});

test('migrate leaves an unchanged function alone, and all of a newer build', async () => {
  await using database = await createDatabase();
  const versions = () =>
    database.query('select proname, xmin::text from pg_proc where pronamespace = $1::regnamespace', ['public']);
  const before = await versions();
  await migrate(database.url, log);
  expect(await versions()).toEqual(before);
  await database.query(`comment on function has_owner is 'sha256 of a later text'`);
  await database.query('insert into schema_state values ($1, $2)', [NEEDED_SCHEMA + 1, NEEDED_SCHEMA]);
  await migrate(database.url, log);
  expect(await versions()).toEqual(before);
  expect((await findFunction(database, 'has_owner'))?.digest).toBe('sha256 of a later text');
});

test('migrate waits for the lock of a trigger that it replaces, and lets writers go first', async () => {
  await using database = await createDatabase();
  await using writer = await connect(database.url);
  await writer.query("begin; update questions set name = 'x'");
  await database.query(`comment on function announce_change is '${OLD}'`);
  const migrating = migrate(database.url, log);
  const isWaiting = async () =>
    (
      await database.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query ilike '%trigger announce%'",
      )
    ).length > 0;
  await waitFor(isWaiting);
  await waitFor(async () => !(await isWaiting())); // the attempt ends after the lock time-out
  await writer.query('commit');
  await migrating;
  expect((await findFunction(database, 'announce_change'))?.digest).toMatch(/^sha256 [0-9a-f]{64}$/);
});
