import { randomBytes, randomUUID } from 'node:crypto';
import { Pool } from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { createLog } from '../../src/platform/log.ts';
import { withClient } from '../../src/platform/postgres-client.ts';
import { migrate } from '../../src/storage/database/migrate.ts';
import { openStorage, type Storage } from '../../src/storage/database/orm.ts';
import { findPoolerFault } from '../../src/storage/database/pooling.ts';
import { openPostgres, openValkey } from '../faults/stores.ts';
import { runCommand, startProcess } from '../support/process.ts';
import { diagnose, startRoles } from '../support/roles.ts';
import { waitFor } from '../support/wait.ts';
import { buildPooler, openPooler } from './pooler.ts';

const SECRET_KEY = randomBytes(32).toString('base64');

beforeAll(buildPooler, 600_000); // the first run downloads a Debian package

/**
 * Returns the role in which a connection that has set a role executes statements while another one is in a transaction.
 */
const roleThatWasSet = (url: string): Promise<string | undefined> =>
  withClient(url, own =>
    withClient(url, async other => {
      await own.query('set role parley_app');
      await other.query('begin'); // gets the most recently released session: the one with the role
      const { rows } = await own.query<{ role: string }>('select current_user::text as role');
      await other.query('rollback');
      return rows[0]?.role;
    }),
  );

/** A Valkey that passes the doctor's checks. */
const openLimitedValkey = (settings: Record<string, string> = {}) =>
  openValkey({ settings: { maxmemory: '512mb', ...settings } });

describe.each(['PostgreSQL', 'Valkey'])('behind PgBouncer, with the queue in %s', queue => {
  test.each(['session', 'transaction'] as const)(
    'in %s mode the migration, both roles and the whole demo work',
    async mode => {
      await using postgres = await openPostgres();
      await using valkey = queue === 'Valkey' ? await openLimitedValkey() : undefined;
      await using pooler = await openPooler(mode, postgres.url);
      const environment = {
        DATABASE_URL: pooler.url,
        ...(mode === 'transaction' ? { DATABASE_DIRECT_URL: postgres.url } : {}),
        SECRET_KEY,
        RATE_LIMITS: 'on',
        INGESTION_CHECK_S: '1',
        ...(valkey ? { REDIS_URL: valkey.url } : {}),
      };
      expect(await runCommand(['migrate'], environment)).toMatchObject({ code: 0 });
      await using roles = await startRoles(environment);
      await roles.runDemo();
      expect(await diagnose(environment)).toMatchObject({ ok: true });
      expect(JSON.parse((await runCommand(['secrets', 'rotate'], environment)).stdout)).toMatchObject({
        unreadable: 0,
      });
      expect(await roles.degraded()).toEqual([]);
      expect(roles.output()).not.toMatch(/"level":"error"|startup parameter/);
    },
  );
});

test('in transaction mode, statements of two roles and many tenants never share a role or a tenant', async () => {
  await using postgres = await openPostgres();
  await using pooler = await openPooler('transaction', postgres.url, { default_pool_size: '3' });
  const log = createLog('silent', 'test');
  await migrate(postgres.url, log);
  const url = {
    readUrl: () => pooler.url,
    readDirectUrl: () => postgres.url,
    isPooled: true,
    rolePrefix: 'parley',
  };
  const roles = ['parley_app', 'parley_worker'] as const;
  const storages = roles.map(role => openStorage({ url, role, connections: 8, log }));
  const sql = "select current_user::text as role, current_setting('parley.tenant') as tenant";
  const isOwn = async (index: number): Promise<boolean> => {
    const tenant = randomUUID();
    const run = (storages[index % 2] as Storage).forTenant(tenant);
    const inTransaction = () =>
      run.transaction(async tx => {
        await tx.query('select pg_sleep(0.001)');
        return tx.query(sql);
      });
    const [row] = await (index % 3 === 0 ? inTransaction() : run.query(sql));
    return row?.role === roles[index % 2] && row?.tenant === tenant;
  };
  const lanes = Array.from({ length: 16 }, async (_, lane) => {
    const own: boolean[] = [];
    for (let turn = 0; turn < 75; turn++) own.push(await isOwn(lane + turn));
    return own;
  });
  const seen = (await Promise.all(lanes)).flat();
  expect(seen.filter(own => !own)).toEqual([]);
  // The sessions that were shared keep neither.
  const left = await withClient(pooler.url, client =>
    client.query("select current_user::text as role, coalesce(current_setting('parley.tenant', true), '') as tenant"),
  );
  expect(left.rows).toEqual([{ role: 'postgres', tenant: '' }]);
  await Promise.all(storages.map(storage => storage.close()));
});

test('without DATABASE_DIRECT_URL, no role becomes ready in transaction mode, and each reports the reason', async () => {
  await using postgres = await openPostgres();
  await using valkey = await openLimitedValkey();
  await using pooler = await openPooler('transaction', postgres.url);
  const direct = { DATABASE_URL: postgres.url, SECRET_KEY, REDIS_URL: valkey.url };
  const environment = { ...direct, DATABASE_URL: pooler.url };
  expect(await runCommand(['migrate'], direct)).toMatchObject({ code: 0 });
  expect(await roleThatWasSet(postgres.url)).toBe('parley_app');
  expect(await roleThatWasSet(pooler.url)).toBe('postgres'); // without an error, row-level security is bypassed

  const refused = await runCommand(['migrate'], environment);
  expect(refused.code).not.toBe(0);
  expect(refused.stdout + refused.stderr).toContain('set DATABASE_DIRECT_URL');
  await using api = await startProcess('serve', environment);
  await using worker = await startProcess('work', environment);
  await waitFor(() => [api, worker].every(role => role.output().includes('set DATABASE_DIRECT_URL')), 30_000);
  expect((await fetch(`${api.baseUrl}/readyz`)).status).toBe(503);
  expect((await fetch(`${worker.metricsUrl}/readyz`)).status).toBe(503);
  const { ok, checks } = await diagnose(environment);
  expect(ok).toBe(false);
  expect(checks.filter(check => !check.ok)).toEqual([
    expect.objectContaining({ name: 'pooler', mend: expect.stringContaining('DATABASE_DIRECT_URL') }),
  ]);
  const twice = await diagnose({ ...environment, DATABASE_DIRECT_URL: pooler.url });
  expect(twice.checks.filter(check => !check.ok)).toEqual([
    expect.objectContaining({
      name: 'pooler',
      detail: expect.stringContaining('DATABASE_DIRECT_URL leads to a pooler'),
    }),
  ]);
});

/** Executes short statements on many connections through a pooler, so that each released session is soon taken. */
async function keepBusy(url: string): Promise<AsyncDisposable> {
  const pool = new Pool({ connectionString: url, max: 8 });
  let isOver = false;
  const lanes = Array.from({ length: 8 }, async () => {
    while (!isOver) await pool.query('select pg_sleep(0.001)');
  });
  return {
    [Symbol.asyncDispose]: async () => {
      isOver = true;
      await Promise.all(lanes);
      await pool.end();
    },
  };
}

/** Judges a pooler twenty times, four at a time. */
async function judgeOften(judge: () => Promise<string | undefined>): Promise<(string | undefined)[]> {
  const lanes = Array.from({ length: 4 }, async () => {
    const judged: (string | undefined)[] = [];
    while (judged.length < 5) judged.push(await judge());
    return judged;
  });
  return (await Promise.all(lanes)).flat();
}

test.each([
  ['session', '60', undefined],
  ['transaction', '3', 'a pooler is in transaction mode'],
  ['transaction', '60', 'a pooler is in transaction mode'],
] as const)('under load, %s mode with %s sessions is recognized each time', async (mode, size, detail) => {
  await using postgres = await openPostgres();
  await using pooler = await openPooler(mode, postgres.url, { default_pool_size: size });
  const judge = async () => (await findPoolerFault(pooler.url))?.detail;
  await using _load = await keepBusy(pooler.url);
  expect(await judgeOften(judge)).toEqual(Array(20).fill(detail));
});

test.each([
  [{}, undefined],
  [{ max_prepared_statements: '0' }, 'the pooler does not keep prepared statements'],
] as const)(
  'under load, a pooler with %j keeps prepared statements or not, as it reports each time',
  async (more, detail) => {
    await using postgres = await openPostgres();
    await using pooler = await openPooler('transaction', postgres.url, { default_pool_size: '3', ...more });
    await using _load = await keepBusy(pooler.url);
    const database = {
      readUrl: () => pooler.url,
      readDirectUrl: () => postgres.url,
      isPooled: true,
      rolePrefix: 'parley',
    };
    const judge = async () => (await findPoolerFault(database))?.detail;
    expect(await judgeOften(judge)).toEqual(Array(20).fill(detail));
  },
);

test('a pooler that loses prepared statements is reported', async () => {
  await using postgres = await openPostgres();
  await using pooler = await openPooler('transaction', postgres.url, { max_prepared_statements: '0' });
  await migrate(postgres.url, createLog('silent', 'test'));
  const { checks } = await diagnose({ DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: postgres.url, SECRET_KEY });
  expect(checks.filter(check => !check.ok)).toEqual([
    expect.objectContaining({ name: 'pooler', mend: expect.stringContaining('max_prepared_statements') }),
  ]);
});

test('a Valkey Cluster is rejected as a queue, with the reason', async () => {
  await using postgres = await openPostgres();
  await using valkey = await openLimitedValkey({ 'cluster-enabled': 'yes' });
  await valkey.exec('valkey-cli', 'cluster', 'addslotsrange', '0', '16383');
  const environment = { DATABASE_URL: postgres.url, SECRET_KEY, REDIS_URL: valkey.url };
  expect(await runCommand(['migrate'], environment)).toMatchObject({ code: 0 });
  await using api = await startProcess('serve', environment);
  await api.awaitProbe('/readyz');
  expect(await (await fetch(`${api.baseUrl}/readyz`)).json()).toMatchObject({
    degraded: [expect.stringContaining('it is a cluster')],
  });
  const { checks } = await diagnose(environment);
  expect(checks.filter(check => !check.ok)).toEqual([
    expect.objectContaining({ name: 'processes', detail: expect.stringContaining('no worker') }), // none was started here
    expect.objectContaining({ name: 'queue', detail: expect.stringContaining('it is a cluster') }),
  ]);
});
