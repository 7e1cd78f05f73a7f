import { join } from 'node:path';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkOutPrevious, findPrevious } from '../faults/previous-version.ts';
import type { Tenant } from '../support/deployed.ts';
import { ROOT, runDocumented, shellBlocks } from '../support/documents.ts';
import { anAnswer } from '../support/make.ts';
import { sendSteadily } from '../support/steady-load.ts';
import { createInstallation } from './compose.ts';
import { docker, IMAGE } from './docker.ts';

const PER_SECOND = 20;
const PREVIOUS_IMAGE = 'parley:check-previous';
const FILES = ['docker-compose.yml', 'docker-compose.rolling.yml'];
const ref = findPrevious();
const previous = ref ? await checkOutPrevious(ref) : undefined;
const folder = previous?.folder ?? ROOT;
/** The previous version's files, with other settings for PostgreSQL, so that it is replaced too. */
const PREVIOUS_FILES = [...FILES.map(file => join(folder, file)), join(ROOT, 'test/containers/previous-postgres.yml')];
const installation = await createInstallation({
  COMPOSE_FILE: PREVIOUS_FILES.join(':'),
  PARLEY_IMAGE: PREVIOUS_IMAGE,
});
const { baseUrl, environment, compose, inspect, port, request } = installation;

let tenant: Tenant;
let token: string;

/** The image that a service's container runs. */
const imageOf = async (service: 'api' | 'api-2' | 'worker'): Promise<string> => (await inspect(service)).Config.Image;

beforeAll(async () => {
  await docker(['build', '--network', 'host', '--tag', 'parley-proxy:dev', join(folder, 'config/haproxy')]);
  if (previous) await docker(['build', '--network', 'host', '--tag', PREVIOUS_IMAGE, folder]);
  // Without a previous version, another image with the same content, so that every container is replaced.
  else await docker(['build', '--tag', PREVIOUS_IMAGE, '--label', 'previous=true', '-'], { input: `FROM ${IMAGE}\n` });
  await installation.up();
  tenant = await installation.makeTenant();
  token = await new SignJWT({ grants: { identity: 'user|42' } })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT', cty: 'svc-fpa;v=1' })
    .setIssuer(tenant.key.id)
    .setSubject(tenant.id)
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(tenant.key.secret));
}, 600_000);
afterAll(async () => {
  await installation.down();
  await docker(['image', 'rm', '--force', PREVIOUS_IMAGE]);
  previous?.[Symbol.dispose]();
});

test('only the proxy publishes a port, on the loopback address', async () => {
  const services = ['api', 'api-2', 'proxy', 'worker', 'postgres', 'valkey'] as const;
  const published = await Promise.all(
    services.map(async service => Object.values((await inspect(service)).HostConfig.PortBindings ?? {})),
  );
  expect(published).toEqual([[], [], [[{ HostIp: '127.0.0.1', HostPort: String(port) }]], [], [], []]);
});

test('the documented upgrade and rollback fail no request at 20 per second, also when PostgreSQL is replaced', async () => {
  const [, upgrade] = shellBlocks(
    'docs/operating.md',
    'Roles and ports',
    'Upgrade with Compose without an interruption',
  );
  expect(upgrade).toContain('await-apis');
  const acknowledged: string[] = [];
  const answer = () => {
    const made = anAnswer({ question_id: tenant.questionId, identity: `user|${acknowledged.length}` });
    acknowledged.push(made.id);
    return { answers: [made] };
  };
  const load = sendSteadily(
    baseUrl,
    [
      { method: 'GET', path: '/v1/cards', headers: { Authorization: `Bearer ${token}` }, status: 200 },
      {
        method: 'POST',
        path: '/v1/answers',
        headers: { Authorization: `Bearer ${tenant.key.api_key}` },
        body: answer,
        status: 202,
      },
    ],
    PER_SECOND,
  );
  const begun = Date.now();
  const services = ['api', 'api-2', 'worker'] as const;
  try {
    const previousPostgres = await inspect('postgres');
    await runDocumented(upgrade as string, {
      ...environment,
      COMPOSE_FILE: FILES.join(':'),
      PARLEY_IMAGE: IMAGE,
    });
    const postgres = await inspect('postgres');
    expect(postgres.Id).not.toBe(previousPostgres.Id);
    expect(postgres.Config.Cmd).toContain('wal_compression=on');
    expect(await Promise.all(services.map(imageOf))).toEqual(services.map(() => IMAGE));
    const back = (upgrade as string).replace(/^.* migrate\n/m, '');
    await runDocumented(back, environment);
    expect(await Promise.all(services.map(imageOf))).toEqual(services.map(() => PREVIOUS_IMAGE));
  } finally {
    await load.stop();
  }
  const { sent, failures } = load.result;
  process.stderr.write(`${sent} requests in ${Date.now() - begun} ms, ${failures.length} failed\n`);
  expect(failures).toEqual([]);
  expect(sent).toBeGreaterThan(PER_SECOND * 10);
  await installation.atRest(tenant.key.api_key);
  expect(new Set(await installation.storedAnswers(tenant.key.api_key))).toEqual(new Set(acknowledged));
}, 600_000);

test('a crash of one API container leaves the other serving', async () => {
  await compose(['kill', 'api-2']);
  const load = sendSteadily(
    baseUrl,
    [{ method: 'GET', path: '/v1/cards', headers: { Authorization: `Bearer ${token}` }, status: 200 }],
    PER_SECOND,
  );
  await expect.poll(() => load.result.sent, { timeout: 20_000 }).toBeGreaterThan(60);
  expect((await load.stop()).failures).toEqual([]);
  expect((await request('GET', '/v1/ingestion', tenant.key.api_key)).status).toBe(200);
});
