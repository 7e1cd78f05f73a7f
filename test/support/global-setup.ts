import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import type { TestProject } from 'vitest/node';
import { openEmbeddedPostgres } from '../../src/platform/embedded-postgres.ts';
import { createLog } from '../../src/platform/log.ts';
import { migrateQueue } from '../../src/queue/connection.ts';
import { migrate } from '../../src/storage/migrate.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Whether containers can be started, which tests with Valkey need. */
    hasDocker: boolean;
    /** The URL from which `stores()` in `stores.ts` gets the stores. The first request of a run starts them. */
    storesUrl: string;
  }
}

/** The template of all test databases, migrated once per run. */
export const TEMPLATE = 'parley_template';

const log = createLog('warn', 'test');

interface RunningStores {
  postgresUrl: string;
  valkeyUrl: string | undefined;
  stop(): Promise<void>;
}

const IMAGES = { postgres: 'postgres:18', valkey: 'valkey/valkey:9' };

/** The reason why no containers can be started: no Docker Engine, or missing images that it cannot pull. */
async function findDockerFault(): Promise<string | undefined> {
  const { getContainerRuntimeClient, ImageName } = await import('testcontainers');
  try {
    const { image } = await getContainerRuntimeClient();
    for (const name of Object.values(IMAGES).map(text => ImageName.fromString(text)))
      if (!(await image.exists(name))) await image.pull(name);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

async function startContainers(): Promise<RunningStores> {
  const { GenericContainer, Wait } = await import('testcontainers');
  const password = 'test';
  const [postgres, valkey] = await Promise.all([
    new GenericContainer(IMAGES.postgres)
      .withEnvironment({ POSTGRES_PASSWORD: password })
      .withCommand(['postgres', '-c', 'max_connections=400'])
      .withTmpFs({ '/var/lib/postgresql': 'rw' })
      .withExposedPorts(5432)
      .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/, 2))
      .start(),
    new GenericContainer(IMAGES.valkey)
      .withCommand([
        'valkey-server',
        '--appendonly',
        'yes',
        '--appendfsync',
        'always',
        '--maxmemory',
        '1gb',
        '--maxmemory-policy',
        'noeviction',
      ])
      .withExposedPorts(6379)
      .start(),
  ]);
  return {
    postgresUrl: `postgresql://postgres:${password}@${postgres.getHost()}:${postgres.getMappedPort(5432)}/postgres`,
    valkeyUrl: `redis://${valkey.getHost()}:${valkey.getMappedPort(6379)}`,
    stop: async () => void (await Promise.all([postgres.stop(), valkey.stop()])),
  };
}

async function startEmbedded(): Promise<RunningStores> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-test-'));
  const { chmodSync } = await import('node:fs');
  chmodSync(folder, 0o755);
  const postgres = await openEmbeddedPostgres(folder, false, log);
  return {
    postgresUrl: postgres.url,
    valkeyUrl: undefined,
    stop: async () => {
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function makeTemplate(postgresUrl: string): Promise<void> {
  const client = new Client({ connectionString: postgresUrl });
  await client.connect();
  await client.query(`create database ${TEMPLATE}`);
  await client.end();
  const url = new URL(postgresUrl);
  url.pathname = TEMPLATE;
  await migrate(url.href, log);
  await migrateQueue({ databaseUrl: url.href, redisUrl: undefined });
}

/** Starts the stores at the first request and replies to each request with their addresses. */
async function serveStores(hasDocker: boolean) {
  let starting: Promise<RunningStores> | undefined;
  const start = async () => {
    const stores = hasDocker ? await startContainers() : await startEmbedded();
    await makeTemplate(stores.postgresUrl);
    return stores;
  };
  const server = createServer(async (_, response) => {
    try {
      starting ??= start();
      const { postgresUrl, valkeyUrl } = await starting;
      response.end(JSON.stringify({ postgresUrl, valkeyUrl }));
    } catch (error) {
      response.writeHead(500).end((error as Error).stack);
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.close();
      const stores = await starting?.catch(() => undefined); // the tests have reported the error
      await stores?.stop();
    },
  };
}

/**
 * One PostgreSQL per run, and one Valkey if there is Docker; otherwise tests with Valkey are skipped with a message.
 * Both start when a test first needs them, so unit tests run without them.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const fault = await findDockerFault();
  if (fault && process.env.TESTS_REQUIRE?.includes('docker'))
    throw new Error(`TESTS_REQUIRE includes docker, but containers cannot be started: ${fault}`);
  if (fault)
    process.stderr.write(
      `\n*** No containers (${fault}): PostgreSQL is the embedded one, and every test with Valkey is LEFT OUT. ***\n\n`,
    );
  const stores = await serveStores(!fault);
  project.provide('hasDocker', !fault);
  project.provide('storesUrl', stores.url);
  return stores.stop;
}
