import { afterAll, beforeAll, expect, test } from 'vitest';
import { diagnose } from '../../../src/commands/doctor.ts';
import { BUILD } from '../../../src/platform/build-info.ts';
import { createLog } from '../../../src/platform/log.ts';
import { openStorage, type Storage } from '../../../src/storage/database/orm.ts';
import { findRunningProcesses, keepProcessRow, requireUpgraded } from '../../../src/storage/database/processes.ts';
import { NEEDED_SCHEMA } from '../../../src/storage/migrations/index.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { newSecretKey } from '../../support/keychain.ts';
import { startProcess } from '../../support/process.ts';
import { waitFor } from '../../support/wait.ts';

const log = createLog('silent', 'test');
let database: TestDatabase;
let app: Storage;
let worker: Storage;

beforeAll(async () => {
  database = await createDatabase();
  app = openStorage({ url: database.url, role: 'parley_app', connections: 1, log });
  worker = openStorage({ url: database.url, role: 'parley_worker', connections: 1, log });
});
afterAll(async () => {
  await Promise.all([app.close(), worker.close()]);
  await database[Symbol.asyncDispose]();
});

const build = { version: BUILD.version, schema: NEEDED_SCHEMA };
const counts = async () => (await findRunningProcesses(app)).map(({ role, count }) => [role, count]);

test('each process has a row while it runs, whichever of the two database roles it uses', async () => {
  const rows = [
    keepProcessRow(app, 'serve', log),
    keepProcessRow(app, 'serve', log),
    keepProcessRow(worker, 'work', log),
  ];
  await waitFor(async () => (await counts()).flat().join() === 'serve,2,work,1');
  expect(await findRunningProcesses(app)).toEqual([
    { role: 'serve', ...build, count: 2 },
    { role: 'work', ...build, count: 1 },
  ]);
  await Promise.all(rows.map(row => row.close()));
  expect(await counts()).toEqual([]);
});

test('a process that was killed is not listed after a minute, and the next one deletes its row', async () => {
  const insert = "insert into processes values (gen_random_uuid(), 'serve', '0.1.0', 21, now() - $1::interval)";
  await database.query(insert, ['59 seconds']);
  expect(await counts()).toEqual([['serve', 1]]);
  await database.query('delete from processes');
  await database.query(insert, ['61 seconds']);
  expect(await counts()).toEqual([]);
  const row = keepProcessRow(app, 'start', log);
  await waitFor(
    async () =>
      (await database.query<{ role: string }>('select role from processes')).map(({ role }) => role).join() === 'start',
  );
  await row.close();
});

test('a paused process that lost its row lists itself again, also after an outage', async () => {
  const row = keepProcessRow(app, 'serve', log);
  await waitFor(async () => (await counts()).length === 1);
  await database.query("update processes set seen_at = now() - interval '1 hour'");
  const next = keepProcessRow(app, 'serve', log);
  await waitFor(async () => (await counts()).join() === 'serve,1');
  await Promise.all([row.close(), next.close()]);
});

test('doctor lists running processes, and hints at different versions', async () => {
  const environment = { DATABASE_URL: database.url, SECRET_KEY: newSecretKey() };
  const inspect = async () => (await diagnose(environment, log)).checks.find(({ name }) => name === 'processes');
  expect(await inspect()).toEqual({ name: 'processes', ok: true, detail: 'none is running' });
  await using worker = await startProcess('work', environment);
  await worker.awaitProbe('/readyz');
  const detail = `1 work ${BUILD.version} (schema ${NEEDED_SCHEMA})`;
  await waitFor(async () => (await inspect())?.detail === `${detail}; no API`);
  await database.query("insert into processes values (gen_random_uuid(), 'serve', '0.1.0', 21, now())");
  expect(await inspect()).toMatchObject({
    ok: true,
    detail: `1 serve 0.1.0 (schema 21), ${detail}`,
    hint: expect.stringContaining('Different versions'),
  });
  worker.kill('SIGTERM');
  expect(await worker.exited).toBe(0);
  expect((await inspect())?.detail).toBe('1 serve 0.1.0 (schema 21); no worker');
});

test('a feature is refused while an API process of an older schema runs, but not for workers and ended processes', async () => {
  const require = () => app.transaction(tx => requireUpgraded(tx, NEEDED_SCHEMA, 'Macros'));
  const run = (role: string, schema: number, ago: string) =>
    database.query(
      "insert into processes values (gen_random_uuid(), $1, '0.1.9', $2, clock_timestamp() - $3::interval)",
      [role, schema, ago],
    );
  await database.query('delete from processes'); // of other tests
  await run('work', NEEDED_SCHEMA - 1, '1 second');
  await run('serve', NEEDED_SCHEMA - 1, '61 seconds');
  await run('serve', NEEDED_SCHEMA, '1 second');
  await require();
  await run('start', NEEDED_SCHEMA - 1, '1 second');
  await expect(require()).rejects.toMatchObject({
    code: 'upgrade-unfinished',
    message: expect.stringContaining('Macros need all API processes to run this version'),
    options: { extra: { oldest_version: '0.1.9' } },
  });
  await database.query('delete from processes');
});
