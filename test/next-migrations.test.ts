import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createLog } from '../src/platform/log.ts';
import { isCompatible, migrate, readSchemaState } from '../src/storage/database/migrate.ts';
import { createDatabase, type TestDatabase } from './support/database.ts';
import { connect } from './support/migrations.ts';
import { NEXT_MIGRATIONS } from './support/next-migrations.ts';
import { startProcess } from './support/process.ts';
import { waitFor } from './support/wait.ts';

const log = createLog('silent', 'test');
const PRELOAD = ['--import', fileURLToPath(new URL('./support/next-migrations.ts', import.meta.url))];

const isWaiting = async (database: TestDatabase, statement: string) =>
  (
    await database.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query ilike $1",
      [`%${statement}%`],
    )
  ).length > 0;

test('a migration that cannot lock a table lets writers go first, and is retried', async () => {
  await using database = await createDatabase();
  await using reader = await connect(database.url);
  await reader.query('begin; select from answers');
  let isMigrated = false;
  const migrating = migrate(database.url, log).finally(() => {
    isMigrated = true;
  });
  const isBlocked = () => isWaiting(database, 'alter table answers');
  await waitFor(isBlocked);
  const startedAt = Date.now();
  await database.query("update answers set comment = 'x'"); // queued for the lock behind the migration, while the reader continues
  expect(Date.now() - startedAt).toBeLessThan(30_000); // otherwise until the reader commits, below
  expect(isMigrated).toBe(false);
  await waitFor(isBlocked); // the next attempt
  await reader.query('commit');
  expect(await migrating).toEqual(NEXT_MIGRATIONS);
  expect(isCompatible(await readSchemaState(database.url))).toBe(true);
});

test('a migrator killed while it creates an index leaves no statement running', async () => {
  await using database = await createDatabase();
  await database.query('alter table answers add column next_note text');
  await database.query('insert into schema_migrations (name) values ($1)', [NEXT_MIGRATIONS[0]]);
  await using owner = await connect(database.url);
  await using other = await connect(database.url);
  await other.query('begin');
  await other.query('lock table answers in row exclusive mode'); // blocks the creation of the index until it ends
  const creating = async () =>
    (
      await owner.query(
        `select from pg_stat_activity where datname = current_database() and state = 'active' and query like 'create  index%'`,
      )
    ).rowCount;
  const secret = { SECRET_KEY: randomBytes(32).toString('base64') };
  await using migrator = await startProcess('migrate', { DATABASE_URL: database.url, ...secret }, PRELOAD);
  await waitFor(async () => (await creating()) === 1, 30_000);
  migrator.kill('SIGKILL');
  await waitFor(async () => (await creating()) === 0, 10_000);
  await other.query('commit');
  expect(await migrate(database.url, log)).toEqual(NEXT_MIGRATIONS.slice(1));
});
