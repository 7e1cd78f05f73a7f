import { expect, test } from 'vitest';
import { createLog } from '../src/platform/log.ts';
import { ensureRoles } from '../src/storage/database/database-roles.ts';
import { isCompatible, migrate, readSchemaState } from '../src/storage/database/migrate.ts';
import { openOrm } from '../src/storage/database/orm.ts';
import { createIndexConcurrently, dropIndexConcurrently } from '../src/storage/migrations/concurrent-index.ts';
import { MIGRATIONS, NEEDED_SCHEMA, OLDEST_COMPATIBLE } from '../src/storage/migrations/index.ts';
import { createDatabase, createEmptyDatabase, type TestDatabase } from './support/database.ts';
import { connect } from './support/migrations.ts';

const log = createLog('silent', 'test');

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

test('migrate records the schema version', async () => {
  await using database = await createDatabase();
  expect(await readSchemaState(database.url)).toEqual({
    version: NEEDED_SCHEMA,
    oldest_compatible: OLDEST_COMPATIBLE,
  });
  const applied = await database.query<{ name: string }>('select name from schema_migrations order by id');
  expect(applied.map(({ name }) => name)).toEqual(MIGRATIONS.map(({ name }) => name));
});

/** The functions whose changes are events of the feed. */
const WITH_EVENTS = [
  'expire_answers',
  'expire_conversations',
  'move_scheduled_questions',
  'note_full_limit',
  'resolve_pending_conversations',
  'wake_conversations',
];

test('each function that makes changes without a request writes their events', async () => {
  await using database = await createDatabase();
  const rows = await database.query<{ name: string }>(
    "select proname as name from pg_proc where prosrc ~ 'insert into events' and proname = any($1) order by 1",
    [WITH_EVENTS],
  );
  expect(rows.map(({ name }) => name)).toEqual(WITH_EVENTS);
});

test('processes of this version wait until the migrations and the functions are applied', async () => {
  await using database = await createEmptyDatabase();
  await using lock = await connect(database.url);
  await ensureRoles(lock, 'parley');
  const orm = await openOrm(database.url, log);
  const isReady = async () => isCompatible(await readSchemaState(database.url));
  await orm.migrator.up();
  await orm.close(true);
  expect(await isReady()).toBe(false);
  expect(await migrate(database.url, log)).toEqual([]);
  expect(await isReady()).toBe(true);
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

test('a concurrent index replaces an invalid one of an earlier attempt, and may be created again', async () => {
  await using database = await createDatabase();
  const create = async () => {
    await using owner = await connect(database.url);
    const [name, definition] = ['answers_tagged', "answers (tenant_id, received_at, id) where tags <> '{}'"];
    for (const sql of createIndexConcurrently(name, definition)) await owner.query(sql);
  };
  const isValid = async () =>
    (
      await database.query<{ valid: boolean }>(
        "select indisvalid as valid from pg_index where indexrelid = to_regclass('answers_tagged')",
      )
    )[0]?.valid;
  await database.query("update pg_index set indisvalid = false where indexrelid = 'answers_tagged'::regclass");
  expect(await isValid()).toBe(false);
  await create();
  expect(await isValid()).toBe(true);
  await create();
  await using owner = await connect(database.url);
  for (const sql of dropIndexConcurrently('answers_tagged')) await owner.query(sql);
  expect(await isValid()).toBe(undefined);
});
