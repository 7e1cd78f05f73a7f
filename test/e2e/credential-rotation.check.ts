import { randomBytes } from 'node:crypto';
import { mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { withClient } from '../../src/platform/postgres-client.ts';
import { askValkey, openPostgres, openValkey } from '../faults/stores.ts';
import { runCommand, type TestProcess } from '../support/process.ts';
import { startRoles } from '../support/roles.ts';
import { waitFor } from '../support/wait.ts';

const SECRET_KEY = randomBytes(32).toString('base64');

const hasRecovered = (api: TestProcess) =>
  waitFor(async () => {
    const { degraded } = (await (await fetch(`${api.baseUrl}/readyz`)).json()) as { degraded: string[] };
    return degraded.length === 0;
  }, 300_000);

/** Stores with passwords, and a folder with the secrets with which API and worker log in. */
async function createStores() {
  await using stack = new AsyncDisposableStack();
  const postgres = stack.use(await openPostgres());
  const valkey = stack.use(await openValkey({ settings: { maxmemory: '512mb' } }));
  const folder = mkdtempSync(join(tmpdir(), 'parley-secrets-'));
  /** Replaces a secret by a rename, and returns its file. */
  const put = (name: string, text: string): string => {
    const file = join(folder, name);
    writeFileSync(`${file}.next`, `${text}\n`);
    renameSync(`${file}.next`, file);
    return file;
  };
  const asUser = (user: string, password: string): string => {
    const url = new URL(postgres.url);
    [url.username, url.password] = [user, password];
    return url.href;
  };
  await askValkey(valkey.url, redis => redis.call('ACL', 'SETUSER', 'default', 'resetpass', '>before'));
  const owner = { DATABASE_URL: postgres.url, DATABASE_SERVICE_URL: asUser('parley_service', 'first'), SECRET_KEY };
  expect(await runCommand(['migrate'], owner)).toMatchObject({ code: 0 });
  const kept = stack.move();
  return {
    put,
    asUser,
    asOwner: (sql: string) => withClient(postgres.url, client => client.query(sql)),
    /** Runs commands in the queue's store, logged in with a password. */
    askQueue: (password: string, ...commands: [string, ...string[]][]) =>
      askValkey(valkey.url.replace('redis://', `redis://:${password}@`), async redis => {
        for (const command of commands) await redis.call(...command);
      }),
    remove: (name: string) => renameSync(join(folder, name), join(folder, 'gone')),
    environment: {
      DATABASE_URL_FILE: put('database_url', asUser('parley_service', 'first')),
      REDIS_URL: valkey.url,
      REDIS_PASSWORD_FILE: put('redis_password', 'before'),
      SECRET_KEY,
      RATE_LIMITS: 'on',
      INGESTION_CHECK_S: '1',
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

test.runIf(inject('hasDocker'))(
  'replaced credentials of both stores are used without a restart',
  async () => {
    await using stores = await createStores();
    const { put, asUser, asOwner, askQueue, environment } = stores;
    await using roles = await startRoles(environment);
    const { api, worker } = roles;

    /** Expects that everything works: intake, storing, notices, rate limits, commands. */
    const expectWorking = async () => {
      await Promise.all([api.awaitProbe('/readyz'), worker.awaitProbe('/readyz')]);
      await hasRecovered(api);
      await roles.runDemo();
    };
    await expectWorking();

    // A new password, with all connections closed.
    put('database_url', asUser('parley_service', 'second'));
    await asOwner("alter role parley_service password 'second'");
    const closeConnections = () =>
      asOwner("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'parley_service'");
    await closeConnections();
    await expectWorking();

    // Another user, and the former one is gone.
    await asOwner("create role parley_other login noinherit password 'third'");
    await asOwner('grant parley_app, parley_worker to parley_other');
    put('database_url', asUser('parley_other', 'third'));
    await asOwner('alter role parley_service nologin');
    await closeConnections();
    await expectWorking();
    const { rows } = await asOwner(
      "select distinct usename::text as name from pg_stat_activity where usename like 'parley%'",
    );
    expect(rows).toEqual([{ name: 'parley_other' }]);

    // The queue's password: both are valid, then only the new one.
    const kills = ['normal', 'pubsub'].map((type): [string, ...string[]] => ['CLIENT', 'KILL', 'TYPE', type]);
    await askQueue('before', ['ACL', 'SETUSER', 'default', '>after']);
    put('redis_password', 'after');
    await askQueue('after', ['ACL', 'SETUSER', 'default', '<before'], ...kills);
    await expectWorking();
    expect(api.isRunning() && worker.isRunning()).toBe(true);

    // While a file is missing, the former secret is used.
    stores.remove('redis_password');
    await askQueue('after', ...kills);
    await hasRecovered(api);
  },
  240_000,
);
