import { afterAll, beforeAll, expect, test } from 'vitest';
import { diagnose } from '../../src/commands/doctor.ts';
import { createLog } from '../../src/platform/log.ts';
import { withClient } from '../../src/platform/postgres-client.ts';
import { createEmptyDatabase } from '../support/database.ts';
import { newSecretKey } from '../support/keychain.ts';
import { runCommand, startProcess } from '../support/process.ts';
import { waitFor } from '../support/wait.ts';

const REFUSAL =
  'The database was made by a build from before the first release, which this build cannot upgrade: use an empty database.';

let database: Awaited<ReturnType<typeof createEmptyDatabase>>;
let environment: Record<string, string>;

const query = (sql: string) => withClient(database.url, async client => (await client.query(sql)).rows);

beforeAll(async () => {
  database = await createEmptyDatabase();
  environment = { DATABASE_URL: database.url, SECRET_KEY: newSecretKey() };
  await query(`
create table schema_migrations (id serial primary key, name varchar(255) not null, executed_at timestamptz not null default now());
insert into schema_migrations (name) values ('20261121-foundation'), ('20270201-mails');
create table schema_state (version int primary key, oldest_compatible int not null);
insert into schema_state values (1, 1), (60, 11)`);
});
afterAll(() => database[Symbol.asyncDispose]());

/** All objects of the database that a migration could add or change, and the applied migrations. */
const contents = () =>
  query(`
select relname, relnamespace::regnamespace::text, xmin::text from pg_class
union all select proname, pronamespace::regnamespace::text, xmin::text from pg_proc
union all select nspname, nspacl::text, xmin::text from pg_namespace
union all select name, '', xmin::text from schema_migrations
union all select version::text, '', xmin::text from schema_state order by 1, 2`);

test.each(['migrate', 'start'])('%s refuses a database of an earlier build, and changes nothing', async command => {
  const before = await contents();
  const { code, stderr } = await runCommand([command], environment);
  expect(code).not.toBe(0);
  expect(stderr).toContain(REFUSAL);
  expect(stderr).not.toContain('    at ');
  expect(await contents()).toEqual(before);
});

test('doctor says that an earlier build made the database', async () => {
  const { checks } = await diagnose(environment, createLog('silent', 'test'));
  expect(checks.find(({ name }) => name === 'schema')).toEqual({
    ...{ name: 'schema', ok: false, detail: 'version 60', mend: REFUSAL },
  });
});

test.each(['serve', 'work'])('/readyz of %s says that an earlier build made the database', async role => {
  await using process = await startProcess(role, environment);
  await process.awaitProbe('/livez');
  const body = await waitFor(async () => {
    const response = await fetch(`${process.metricsUrl}/readyz`);
    const health = (await response.json()) as { degraded: string[] };
    return response.status === 503 && health.degraded.some(reason => reason.startsWith('database:')) && health;
  });
  expect(body).toMatchObject({ status: 'starting', degraded: expect.arrayContaining([`database: ${REFUSAL}`]) });
  expect(process.output()).toContain(REFUSAL);
  expect(process.output()).not.toContain('run `parley migrate`');
});
