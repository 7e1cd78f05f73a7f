import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { withClient } from '../../src/platform/postgres-client.ts';
import { openPostgres, openValkey } from '../faults/stores.ts';
import { runCommand, startProcess } from '../support/process.ts';
import { waitFor } from '../support/wait.ts';
import { ROOT } from './docker.ts';
import { buildPooler, openPooler } from './pooler.ts';

const SECRET_KEY = randomBytes(32).toString('base64');

beforeAll(buildPooler, 600_000); // the first run downloads a Debian package

const diagnose = async (environment: Record<string, string>) =>
  JSON.parse((await runCommand(['doctor'], environment)).stdout) as {
    ok: boolean;
    checks: { name: string; ok: boolean; mend?: string }[];
  };

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
  test('in session mode the migration, both roles and the whole demo work', async () => {
    await using postgres = await openPostgres();
    await using valkey = queue === 'Valkey' ? await openLimitedValkey() : undefined;
    await using pooler = await openPooler('session', postgres.url);
    const environment = {
      DATABASE_URL: pooler.url,
      SECRET_KEY,
      RATE_LIMITS: 'on',
      INGESTION_CHECK_S: '1',
      ...(valkey ? { REDIS_URL: valkey.url } : {}),
    };
    expect(await runCommand(['migrate'], environment)).toMatchObject({ code: 0 });
    await using api = await startProcess('serve', environment);
    await using worker = await startProcess('work', environment);
    await Promise.all([api.awaitProbe('/readyz'), worker.awaitProbe('/readyz')]);
    await promisify(execFile)(process.execPath, ['docs/demo.ts'], {
      cwd: ROOT,
      env: {
        PATH: process.env.PATH,
        ...environment,
        BASE_URL: api.baseUrl,
        PARLEY_CLI: `${process.execPath} src/main.ts`,
      },
    });
    expect(await diagnose(environment)).toMatchObject({ ok: true });
    const ready = (await (await fetch(`${api.baseUrl}/readyz`)).json()) as object;
    expect(ready).toMatchObject({ degraded: [] });
    expect(api.output() + worker.output()).not.toMatch(/"level":"error"|startup parameter/);
  });
});

test('behind PgBouncer in transaction mode no role becomes ready, and each reports the reason, like the doctor', async () => {
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
  expect(refused.stdout + refused.stderr).toContain('session mode');
  await using api = await startProcess('serve', environment);
  await using worker = await startProcess('work', environment);
  await waitFor(() => [api, worker].every(role => role.output().includes('to session mode')), 30_000);
  expect((await fetch(`${api.baseUrl}/readyz`)).status).toBe(503);
  expect((await fetch(`${worker.metricsUrl}/readyz`)).status).toBe(503);
  const { ok, checks } = await diagnose(environment);
  expect(ok).toBe(false);
  expect(checks.filter(check => !check.ok)).toEqual([
    expect.objectContaining({ name: 'pooler', mend: expect.stringContaining('session mode') }),
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
    expect.objectContaining({ name: 'queue', detail: expect.stringContaining('it is a cluster') }),
  ]);
});
