import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitFor } from '../support/api.ts';
import type { Tenant } from '../support/deployed.ts';
import { type Sender, sendAnswers } from '../support/load.ts';
import { answerTo } from '../support/make.ts';
import { createInstallation, SERVICES, type Service } from './compose.ts';
import { docker, IMAGE, ROOT } from './docker.ts';

const BACK_WITHIN_MS = 90_000;

const installation = await createInstallation();
const { project, port, baseUrl, compose, up, down, parley, inspect, isHealthy, request, makeTenant, storedAnswers } =
  installation;

/** Sends SIGKILL from outside the engine. Unlike `docker kill` it counts as a crash, so the restart policy applies. */
async function crash(service: Service): Promise<void> {
  const { State } = await inspect(service);
  const script = `process.kill(${State.Pid}, 'SIGKILL')`;
  const host = ['--pid', 'host', '--user', '0', '--network', 'none'];
  await docker(['run', '--rm', ...host, '--entrypoint', 'node', IMAGE, '-e', script]);
  await waitFor(async () => (await inspect(service)).State.StartedAt !== State.StartedAt, BACK_WITHIN_MS);
  await waitFor(() => isHealthy(service), BACK_WITHIN_MS);
}

/** Resolves when answers are acknowledged again. */
async function moreAcknowledged({ ledger }: Sender): Promise<void> {
  const before = ledger.acknowledged.size;
  await waitFor(() => ledger.acknowledged.size > before + 20, BACK_WITHIN_MS);
}

const secretsDigest = () =>
  compose(['exec', '--no-TTY', 'api', 'sh', '-c', 'cd /run/parley && sha256sum *']).then(text => text.split('\n'));

let tenant: Tenant;
beforeAll(async () => {
  await up();
  tenant = await makeTenant();
});
afterAll(async () => {
  await down();
});

describe('docker compose up --wait', () => {
  test('starts every service healthy, after the one-shot ones succeeded', async () => {
    for (const service of SERVICES) expect(await isHealthy(service), service).toBe(true);
    for (const service of ['secrets', 'migrate'] as const) expect((await inspect(service)).State.ExitCode).toBe(0);
    expect(await parley(['doctor'])).toMatchObject({ ok: true });
    expect(await (await fetch(`${baseUrl}/dashboard/`)).text()).toContain('<div id="root">');
  });

  test('publishes only the API, on the loopback address', async () => {
    const published = await Promise.all(
      SERVICES.map(async service => Object.values((await inspect(service)).HostConfig.PortBindings ?? {})),
    );
    expect(published).toEqual([[[{ HostIp: '127.0.0.1', HostPort: String(port) }]], [], [], []]);
  });

  test('runs every container read-only, without root, capabilities, or secrets in its environment', async () => {
    const secrets = await compose(['exec', '--no-TTY', 'api', 'sh', '-c', 'cat /run/parley/*']);
    const passwords = secrets.match(/[0-9a-f]{64}/g) ?? [];
    expect(passwords.length).toBeGreaterThan(2);
    for (const service of [...SERVICES, 'migrate', 'secrets'] as const) {
      const container = await inspect(service);
      expect(container.HostConfig, service).toMatchObject({ ReadonlyRootfs: true, CapDrop: ['ALL'] });
      expect(container.HostConfig.SecurityOpt, service).toContain('no-new-privileges:true');
      expect(container.HostConfig.Memory, service).toBeGreaterThan(0);
      expect(container.Config.User, service).toMatch(/^[1-9]\d*:[1-9]\d*$/);
      for (const password of passwords) expect(JSON.stringify(container)).not.toContain(password);
    }
  });

  test('node is the only child of a minimal init, and the queue writes to disk before it replies', async () => {
    for (const service of ['api', 'worker'] as const) {
      const commands = await compose([
        'exec',
        '--no-TTY',
        service,
        'sh',
        '-c',
        "tr '\\0' ' ' < /proc/1/cmdline; cat /proc/1/task/1/children",
      ]);
      expect(commands).toMatch(/^\S*init\b.* parley (serve|work) \d+\s*$/s);
    }
    const settings = 'appendonly appendfsync maxmemory-policy';
    const ask = `REDISCLI_AUTH=$(cat /run/parley/valkey_password) valkey-cli config get ${settings}`;
    const lines = (await compose(['exec', '--no-TTY', 'valkey', 'sh', '-c', ask])).split('\n');
    expect(lines.sort()).toEqual(
      ['always', 'appendfsync', 'appendonly', 'maxmemory-policy', 'noeviction', 'yes'].sort(),
    );
    expect((await compose(['exec', '--no-TTY', 'valkey', 'valkey-cli', 'ping'])).toUpperCase()).toContain('NOAUTH');
  });

  test('run again changes neither containers nor secrets', async () => {
    const before = await secretsDigest();
    const started = await Promise.all(SERVICES.map(async service => (await inspect(service)).State.StartedAt));
    await up();
    expect(await secretsDigest()).toEqual(before);
    expect(await Promise.all(SERVICES.map(async service => (await inspect(service)).State.StartedAt))).toEqual(started);
  });
});

test('a user answers a card over HTTP, and the answer is stored', async () => {
  const token = await new SignJWT({ grants: { identity: 'user|42' } })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT', cty: 'svc-fpa;v=1' })
    .setIssuer(tenant.key.id)
    .setSubject(tenant.id)
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(tenant.key.secret));
  const [card] = await waitFor(async () => {
    const { body } = await request('GET', '/v1/cards', token);
    return body.data.length > 0 && body.data;
  });
  const answer = answerTo(card);
  expect((await request('POST', '/v1/answers', token, { answers: [answer] })).status).toBe(202);
  await waitFor(async () => (await request('GET', `/v1/answers/${answer.id}`, token)).status === 200);
  const viewer = await fetch(`${baseUrl}/docs`);
  expect(viewer.status).toBe(200);
});

test('the demo passes, with the command line of the image', async () => {
  const { stdout } = await promisify(execFile)('node', ['docs/demo.ts'], {
    cwd: ROOT,
    env: {
      ...process.env,
      BASE_URL: baseUrl,
      PARLEY_CLI: `docker compose --project-name ${project} exec --no-TTY api parley`,
    },
  });
  expect(stdout).not.toBe('');
});

test('with PARLEY_API_USER the API logs in as a user that cannot act as the worker, and answers are still stored', async () => {
  const userOfDatabase = async () => {
    const { checks, ok } = (await parley(['doctor'])) as { ok: boolean; checks: { name: string; hint?: string }[] };
    return { ok, hint: checks.find(({ name }) => name === 'row-level security')?.hint };
  };
  expect(await userOfDatabase()).toEqual({ ok: true, hint: undefined });
  const environment = { ...installation.environment, PARLEY_API_USER: 'api' };
  await docker(['compose', '--project-name', project, 'up', '--detach', '--wait', 'api'], { environment });
  expect(await userOfDatabase()).toEqual({ ok: true, hint: expect.stringContaining('only as the API') });
  const other = await makeTenant();
  const sender = sendAnswers([baseUrl], other.key.api_key, other.questionId, 1);
  await moreAcknowledged(sender);
  const { acknowledged } = await sender.stop();
  await installation.atRest(other.key.api_key, BACK_WITHIN_MS);
  expect(acknowledged.difference(new Set(await storedAnswers(other.key.api_key)))).toEqual(new Set());
  await up();
  expect(await userOfDatabase()).toEqual({ ok: true, hint: undefined });
}, 600_000);

test("a member's password is read from standard input", async () => {
  const options = ['--tenant', tenant.id, '--email', 'ann@example.com', '--role', 'owner'];
  expect(await parley(['member', 'create', ...options], 'correct horse battery\n')).toMatchObject({ role: 'owner' });
});

test('crashes of each container, a restart, and down and up neither lose nor duplicate an acknowledged answer', async () => {
  const own = await makeTenant();
  const secrets = await secretsDigest();
  const sender = sendAnswers([baseUrl], own.key.api_key, own.questionId, 2);
  try {
    await moreAcknowledged(sender);

    for (const service of SERVICES) {
      await crash(service);
      await moreAcknowledged(sender);
    }
    await compose(['restart']);
    await moreAcknowledged(sender);
    await compose(['down']);
    await up();
    await moreAcknowledged(sender);
  } finally {
    await sender.stop();
  }
  const { acknowledged, ambiguous } = sender.ledger;
  expect(acknowledged.size).toBeGreaterThan(140); // seven waits for more than twenty each

  const ingestion = await installation.atRest(own.key.api_key, BACK_WITHIN_MS);
  const stored = await storedAnswers(own.key.api_key);
  const once = new Set(stored);
  expect(once.size, 'no answer is stored twice').toBe(stored.length);
  expect(acknowledged.difference(once), 'every acknowledged answer is stored').toEqual(new Set());
  expect(once.difference(acknowledged.union(ambiguous)), 'nothing is stored that was not sent').toEqual(new Set());
  expect(ingestion).toMatchObject({ stored: stored.length, quarantined: 0, oldest_queued_age_ms: null });
  expect(ingestion.accepted).toBe(ingestion.stored + ingestion.repeated);
  expect(await secretsDigest()).toEqual(secrets);
}, 600_000);

test('the roles stop within their grace period of 30 s, with exit code 0 instead of that of a kill', async () => {
  await compose(['stop', 'api', 'worker']);
  for (const service of ['api', 'worker'] as const) expect((await inspect(service)).State.ExitCode, service).toBe(0);
});
