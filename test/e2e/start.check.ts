import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { withClient } from '../../src/platform/postgres-client.ts';
import { waitFor } from '../support/api.ts';
import { newSecretKey } from '../support/keychain.ts';
import { expectKept, sendAnswers } from '../support/load.ts';
import { freePort, runCommand, startProcess, type TestProcess } from '../support/process.ts';

/** A folder that the user of an embedded PostgreSQL may enter, removed at the end of the scope. */
function temporaryFolder() {
  const path = mkdtempSync(join(tmpdir(), 'parley-e2e-'));
  chmodSync(path, 0o755);
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

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

  const readStored = (folder: string): Promise<string[]> =>
    withClient(embeddedUrl(folder), async client =>
      (await client.query<{ id: string }>('select id from answers')).rows.map(row => row.id),
    );

  /** Compares ids instead of counts, because answers without a 202 may be stored too. */
  async function areStored(folder: string, ids: Set<string>): Promise<boolean> {
    const stored = new Set(await readStored(folder));
    return [...ids].every(id => stored.has(id));
  }

  test('kill -9 of all processes and a restart lose nothing; SIGTERM drains before the database stops', async () => {
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
    await waitFor(() => areStored(folder.path, killed.acknowledged));
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
      refusals: {},
    };
    await waitFor(() => areStored(folder.path, everything.acknowledged));
    expectKept(everything, await readStored(folder.path));
  }, 300_000);

  test('prints the setup link until it is used, which signs in over plain HTTP', async () => {
    using folder = temporaryFolder();
    const port = String(await freePort());
    const environment = { DATA_DIR: folder.path, PORT: port };
    const LINK = /http:\/\/localhost:(\d+)\/dashboard\/setup#token=([\w-]{43})/;
    const first = await startProcess('start', environment);
    await waitFor(() => LINK.test(first.output()), 60_000);
    const [, linked, token] = LINK.exec(first.output()) ?? [];
    expect(linked).toBe(port);
    await first.awaitProbe('/readyz', 200, 60_000);
    const reply = await fetch(`${first.baseUrl}/v1/setup`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: `http://localhost:${port}` },
      body: JSON.stringify({
        token,
        tenant_name: 'Acme',
        name: 'Ada',
        email: 'ada@acme.example',
        password: 'x'.repeat(12),
      }),
    });
    expect(reply.status).toBe(201);
    const cookie = reply.headers.get('Set-Cookie')?.split(';')[0] ?? '';
    expect(cookie).toMatch(/^parley_session=/);
    const me = await fetch(`${first.baseUrl}/v1/me`, { headers: { Cookie: cookie } });
    expect(await me.json()).toMatchObject({ account: { memberships: [{ role: 'owner' }] } });
    first.kill('SIGTERM');
    expect(await first.exited).toBe(0);

    await using second = await startProcess('start', environment);
    await waitFor(() => second.output().includes('Parley is ready.'), 60_000);
    expect(second.output()).not.toMatch(LINK);
  }, 300_000);

  test('a killed embedded PostgreSQL restarts without a restart of Parley', async () => {
    using folder = temporaryFolder();
    const environment = { DATA_DIR: folder.path };
    await using parley = await startProcess('start', environment);
    await parley.awaitProbe('/readyz', 200, 60_000);
    const pidFile = join(folder.path, 'postgres/postmaster.pid');
    const postmaster = () => Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
    const killed = postmaster();
    execFileSync('kill', ['-KILL', String(killed)]);
    const isBack = () => existsSync(pidFile) && postmaster() !== killed;
    await waitFor(() => isBack() || !parley.isRunning());
    expect(parley.isRunning(), parley.output()).toBe(true);
    await waitFor(async () => (await runCommand(['tenant', 'create', '--name', 'Acme'], environment)).code === 0);
    await parley.awaitProbe('/readyz');
  }, 300_000);

  test('a second one on the same data folder reports the first', async () => {
    using folder = temporaryFolder();
    await using first = await startProcess('start', { DATA_DIR: folder.path });
    await first.awaitProbe('/readyz', 200, 60_000);
    await using second = await startProcess('start', { DATA_DIR: folder.path });
    expect(await second.exited).toBe(1);
    expect(second.output()).toContain(`Another Parley process (${first.pid}) is using`);
    await first.awaitProbe('/readyz');
  }, 300_000);
});

/** A server that accepts connections and never replies. */
async function openSilentServer() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { port: String(port), address: `127.0.0.1:${port}`, [Symbol.dispose]: () => server.close() };
}

describe('SIGTERM during the start', () => {
  type Moment = [name: string, comes: (parley: TestProcess) => Promise<unknown>];

  /** Moments before and while the modules are loaded; where in the start they are depends on the machine. */
  const EARLY: Moment[] = [0, 80, 250, 500, 900, 1500].map(ms => [`${ms} ms`, () => sleep(ms)]);
  const LISTENING: Moment = ['listening', parley => waitFor(() => parley.output().includes('"listening"'), 60_000)];

  /** A process limits its stop to 1 s while it starts. The rest is for slow machines. */
  const MOST_MS = 10_000;

  /** Stops a process at this moment of its start, and returns its output. */
  async function stopAt([name, comes]: Moment, role: string, environment: Record<string, string>): Promise<string> {
    await using parley = await startProcess(role, environment);
    await comes(parley);
    parley.kill('SIGTERM');
    const begun = Date.now();
    expect([0, 143, 'SIGTERM'], name).toContain(await parley.exited);
    expect(Date.now() - begun, name).toBeLessThan(MOST_MS);
    return parley.output();
  }

  test.each(['serve', 'work'])(
    '%s ends at once at any moment while its stores do not reply',
    async role => {
      using silent = await openSilentServer();
      const environment = {
        DATABASE_URL: `postgresql://parley@${silent.address}/parley`,
        REDIS_URL: `redis://${silent.address}`,
        SECRET_KEY: newSecretKey(),
      };
      expect(await stopAt(LISTENING, role, environment)).not.toContain('"stopped"'); // it does not wait for its stores
      for (const moment of EARLY) await stopAt(moment, role, environment);
    },
    300_000,
  );

  test('start ends at once at any moment of its first start, and the next one succeeds', async () => {
    using folder = temporaryFolder();
    const environment = { DATA_DIR: folder.path };
    const exists = (path: string) => waitFor(() => existsSync(join(folder.path, path)), 60_000);
    const created: Moment = ['while the cluster is created', () => exists('postgres.new')];
    const running: Moment = ['while the server starts', () => exists('postgres/postmaster.pid')];
    expect(await stopAt(created, 'start', environment)).not.toContain('"listening"'); // it does not finish its start
    for (const moment of [running, ...EARLY]) await stopAt(moment, 'start', environment);
    await using last = await startProcess('start', environment);
    await last.awaitProbe('/readyz', 200, 60_000);
  }, 300_000);
});

test('a taken port is one line before anything is written', async () => {
  using folder = temporaryFolder();
  const dataDir = join(folder.path, 'data');
  using other = await openSilentServer();
  await using parley = await startProcess('start', { DATA_DIR: dataDir, PORT: other.port });
  expect(await parley.exited).toBe(1);
  expect(parley.output()).toBe(
    `parley: Another process uses port ${other.port} of 127.0.0.1. Stop it, or set PORT to another port.\n`,
  );
  expect(existsSync(dataDir)).toBe(false);
});
