import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { GenericContainer, Wait } from 'testcontainers';
import type { TestProject } from 'vitest/node';
import { openEmbeddedPostgres } from '../../src/platform/embedded-postgres.ts';
import { createLog } from '../../src/platform/log.ts';
import { migrateQueue } from '../../src/queue/connection.ts';
import { migrate } from '../../src/storage/migrate.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The server's maintenance database; test databases are copied beside it. */
    postgresUrl: string;
    /** A Valkey that writes to disk before it replies; absent where no Docker Engine is. */
    valkeyUrl: string | undefined;
  }
}

/** The database that every test database is a copy of: migrated once a run. */
export const TEMPLATE = 'parley_template';

const log = createLog('warn', 'test');

async function hasDocker(): Promise<boolean> {
  const { getContainerRuntimeClient } = await import('testcontainers');
  try {
    await getContainerRuntimeClient();
    return true;
  } catch {
    return false; // said loudly below
  }
}

async function startContainers() {
  const password = 'test';
  const [postgres, valkey] = await Promise.all([
    new GenericContainer('postgres:18')
      .withEnvironment({ POSTGRES_PASSWORD: password })
      .withCommand(['postgres', '-c', 'max_connections=400'])
      .withTmpFs({ '/var/lib/postgresql': 'rw' })
      .withExposedPorts(5432)
      .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/, 2))
      .start(),
    new GenericContainer('valkey/valkey:9')
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

async function startEmbedded() {
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

/** One PostgreSQL a run, and a Valkey where Docker is; without it those tests are left out, and that is said. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const docker = await hasDocker();
  if (!docker && process.env.TESTS_REQUIRE?.includes('docker'))
    throw new Error('TESTS_REQUIRE names docker, and none is found.');
  if (!docker)
    process.stderr.write(
      '\n*** No Docker Engine: PostgreSQL is the embedded one, and every test with Valkey is LEFT OUT. ***\n\n',
    );
  const { postgresUrl, valkeyUrl, stop } = docker ? await startContainers() : await startEmbedded();
  await makeTemplate(postgresUrl);
  project.provide('postgresUrl', postgresUrl);
  project.provide('valkeyUrl', valkeyUrl);
  return stop;
}
