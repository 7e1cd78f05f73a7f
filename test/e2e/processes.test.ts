import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { describe, expect, test } from 'vitest';
import { backends, createApi, type TestApi, waitFor } from '../support/api.ts';
import { type Ledger, sendAnswers } from '../support/load.ts';
import { makeTenant, publishQuestion } from '../support/make.ts';
import { runCommand, startProcess } from '../support/process.ts';
import { createProxy } from '../support/proxy.ts';

/** A folder that the user of an embedded PostgreSQL may enter, removed at the end of the scope. */
function temporaryFolder() {
  const path = mkdtempSync(join(tmpdir(), 'parley-e2e-'));
  chmodSync(path, 0o755);
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** Every acknowledged answer is stored once, and nothing is stored that nobody sent. */
function expectKept(ledger: Ledger, stored: string[]): void {
  const rows = new Set(stored);
  expect(rows.size).toBe(stored.length);
  expect([...ledger.acknowledged].filter(id => !rows.has(id))).toEqual([]);
  expect(stored.filter(id => !ledger.acknowledged.has(id) && !ledger.ambiguous.has(id))).toEqual([]);
}

/** The environment of processes that share the stores of an API. */
const environmentOf = (api: TestApi): Record<string, string> => ({
  DATABASE_URL: api.database.url,
  SECRET_KEY: api.secretKey,
  ...(api.config.REDIS_URL ? { REDIS_URL: api.config.REDIS_URL } : {}),
});

const storedIds = async (api: TestApi): Promise<string[]> =>
  (await api.database.query<{ id: string }>('select id from answers')).map(row => row.id);

describe.each(backends())('with the queue in %s', backend => {
  test('two APIs and two workers take turns in stopping under load, and no request fails', async () => {
    await using setup = await createApi({ backend });
    const tenant = await makeTenant(setup);
    const question = await publishQuestion(setup, tenant);
    const environment = environmentOf(setup);
    await using firstApi = await startProcess('serve', environment);
    await using secondApi = await startProcess('serve', environment);
    await using firstWorker = await startProcess('work', environment);
    await using secondWorker = await startProcess('work', environment);
    await Promise.all([firstApi, secondApi, firstWorker, secondWorker].map(each => each.awaitProbe('/readyz')));

    const sender = sendAnswers([firstApi.baseUrl, secondApi.baseUrl], tenant.key.apiKey, question.id);
    await waitFor(() => sender.ledger.acknowledged.size > 100);
    firstWorker.kill('SIGTERM');
    expect(await firstWorker.exited).toBe(0);
    const before = sender.ledger.acknowledged.size;
    await waitFor(() => sender.ledger.acknowledged.size > before + 100);
    const ledger = await sender.stop();
    expect(ledger.refused).toBe(0);
    secondApi.kill('SIGTERM');
    expect(await secondApi.exited).toBe(0);

    await waitFor(async () => (await storedIds(setup)).length >= ledger.acknowledged.size);
    expectKept(ledger, await storedIds(setup));
  });

  test('kill -9 of an API and a worker in the middle of it loses and doubles nothing', async () => {
    await using setup = await createApi({ backend });
    const tenant = await makeTenant(setup);
    const question = await publishQuestion(setup, tenant);
    const environment = environmentOf(setup);
    await using firstApi = await startProcess('serve', environment);
    await using secondApi = await startProcess('serve', environment);
    await using firstWorker = await startProcess('work', environment);
    await Promise.all([firstApi, secondApi, firstWorker].map(each => each.awaitProbe('/readyz')));

    const sender = sendAnswers([firstApi.baseUrl, secondApi.baseUrl], tenant.key.apiKey, question.id);
    await waitFor(() => sender.ledger.acknowledged.size > 100);
    firstWorker.kill('SIGKILL');
    await waitFor(() => sender.ledger.acknowledged.size > 200);
    firstApi.kill('SIGKILL');
    const before = sender.ledger.acknowledged.size;
    await waitFor(() => sender.ledger.acknowledged.size > before + 100);
    const ledger = await sender.stop();
    await using secondWorker = await startProcess('work', environment);
    await secondWorker.awaitProbe('/readyz');

    await waitFor(async () => {
      const { body } = await setup.request('GET', '/v1/ingestion', { as: tenant.key.apiKey });
      return body.queued === 0 && body.accepted === body.stored + body.repeated + body.quarantined;
    }, 40_000);
    expectKept(ledger, await storedIds(setup));
  });

  test('each role stops within 20 s of SIGTERM although its stores have fallen silent', async () => {
    await using setup = await createApi({ backend });
    await using database = await createProxy(setup.database.url);
    await using redis = await createProxy(setup.config.REDIS_URL ?? setup.database.url);
    const environment = {
      ...environmentOf(setup),
      DATABASE_URL: database.through(setup.database.url),
      ...(setup.config.REDIS_URL ? { REDIS_URL: redis.through(setup.config.REDIS_URL) } : {}),
    };
    const roles = await Promise.all(['serve', 'work'].map(role => startProcess(role, environment)));
    await Promise.all(roles.map(role => role.awaitProbe('/readyz')));
    database.freeze();
    redis.freeze();
    const startedAt = Date.now();
    for (const role of roles) role.kill('SIGTERM');
    const codes = await Promise.all(roles.map(role => role.exited));
    expect(Date.now() - startedAt).toBeLessThan(20_000);
    for (const code of codes) expect([0, 1]).toContain(code);
  });

  test('roles that start before their stores wait alive, and then become ready by themselves', async () => {
    await using setup = await createApi({ backend });
    await using database = await createProxy(setup.database.url);
    database.cut();
    const environment = { ...environmentOf(setup), DATABASE_URL: database.through(setup.database.url) };
    await using api = await startProcess('serve', environment);
    await using worker = await startProcess('work', environment);
    await api.awaitProbe('/livez');
    await api.awaitProbe('/readyz', 503);
    await worker.awaitProbe('/readyz', 503);
    database.mend();
    await api.awaitProbe('/readyz');
    await worker.awaitProbe('/readyz');
  });
});

describe('npm start', () => {
  interface Started {
    tenant: string;
    key: string;
    question: string;
  }

  async function makeOverCommandLine(environment: Record<string, string>, baseUrl: string): Promise<Started> {
    const made = JSON.parse((await runCommand(['tenant', 'create', '--name', 'Acme'], environment)).stdout);
    const keyArgs = ['api-key', 'create', '--tenant', made.id, '--name', 'backend'];
    const key = JSON.parse((await runCommand(keyArgs, environment)).stdout).api_key;
    const post = async (path: string, body?: object) =>
      (
        await fetch(`${baseUrl}${path}`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
          ...(body ? { body: JSON.stringify(body) } : {}),
        })
      ).json() as Promise<{ id: string }>;
    const { id } = await post('/v1/questions', { type: 'nps', title: 'How likely?' });
    await post(`/v1/questions/${id}/publish`);
    return { tenant: made.id, key, question: id };
  }

  const embeddedUrl = (folder: string): string => {
    const { port, password } = JSON.parse(readFileSync(join(folder, 'postgres.json'), 'utf8'));
    return `postgresql://parley:${password}@127.0.0.1:${port}/parley`;
  };

  async function readStored(folder: string): Promise<string[]> {
    const client = new Client({ connectionString: embeddedUrl(folder) });
    await client.connect();
    const { rows } = await client.query<{ id: string }>('select id from answers');
    await client.end();
    return rows.map(row => row.id);
  }

  test('kill -9 of everything and a restart lose nothing; SIGTERM drains before the database stops', async () => {
    using folder = temporaryFolder();
    const environment = { DATA_DIR: folder.path };
    const first = await startProcess('start', environment);
    await first.awaitProbe('/readyz', 200, 60_000);
    const made = await makeOverCommandLine(environment, first.baseUrl);
    const before = sendAnswers([first.baseUrl], made.key, made.question);
    await waitFor(() => before.ledger.acknowledged.size > 100);
    const postmaster = Number(readFileSync(join(folder.path, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]);
    first.kill('SIGKILL');
    execFileSync('kill', ['-KILL', String(postmaster)]);
    const killed = await before.stop();

    await using second = await startProcess('start', environment);
    await second.awaitProbe('/readyz', 200, 60_000);
    await waitFor(async () => (await readStored(folder.path)).length >= killed.acknowledged.size);
    expectKept(killed, await readStored(folder.path));

    const during = sendAnswers([second.baseUrl], made.key, made.question);
    await waitFor(() => during.ledger.acknowledged.size > 100);
    second.kill('SIGTERM');
    const stopped = await second.exited;
    const drained = await during.stop();
    expect(stopped).toBe(0);
    expect(second.output()).not.toContain('did not stop cleanly');

    await using third = await startProcess('start', environment);
    await third.awaitProbe('/readyz', 200, 60_000);
    const everything = {
      acknowledged: new Set([...killed.acknowledged, ...drained.acknowledged]),
      ambiguous: new Set([...killed.ambiguous, ...drained.ambiguous]),
      refused: 0,
    };
    await waitFor(async () => (await readStored(folder.path)).length >= everything.acknowledged.size);
    expectKept(everything, await readStored(folder.path));
  }, 90_000);

  test('an embedded PostgreSQL that is killed comes back without a restart of Parley', async () => {
    using folder = temporaryFolder();
    const environment = { DATA_DIR: folder.path };
    await using parley = await startProcess('start', environment);
    await parley.awaitProbe('/readyz', 200, 60_000);
    const pidFile = join(folder.path, 'postgres/postmaster.pid');
    const postmaster = () => Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
    const killed = postmaster();
    execFileSync('kill', ['-KILL', String(killed)]);
    await waitFor(() => existsSync(pidFile) && postmaster() !== killed);
    await waitFor(async () => (await runCommand(['tenant', 'create', '--name', 'Acme'], environment)).code === 0);
    await parley.awaitProbe('/readyz');
    expect(parley.isRunning()).toBe(true);
  }, 60_000);

  test('a second one on the same data folder says who uses it', async () => {
    using folder = temporaryFolder();
    await using first = await startProcess('start', { DATA_DIR: folder.path });
    await first.awaitProbe('/readyz', 200, 60_000);
    await using second = await startProcess('start', { DATA_DIR: folder.path });
    expect(await second.exited).toBe(1);
    expect(second.output()).toContain(`Another Parley (process ${first.pid}) uses`);
    await first.awaitProbe('/readyz');
  }, 60_000);
});
