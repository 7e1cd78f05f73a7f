import { chmodSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedPostgres } from '../../src/platform/embedded-postgres.ts';
import { createLog } from '../../src/platform/log.ts';

/** The addresses of the servers that tests use. */
export interface StoreUrls {
  postgresUrl: string;
  /** Absent without containers. */
  valkeyUrl?: string | undefined;
}

export interface RunningStores extends StoreUrls {
  stop(): Promise<void>;
}

const IMAGES = { postgres: 'postgres:18', valkey: 'valkey/valkey:9' };

/** The image with which Testcontainers removes containers after a killed run; none where that is switched off. */
async function cleanerImages(): Promise<string[]> {
  const { getReaperImage } = await import('testcontainers/build/reaper/reaper.js');
  return process.env.TESTCONTAINERS_RYUK_DISABLED === 'true' ? [] : [getReaperImage()];
}

/** Why no containers can be started: no Docker Engine, or one that lacks an image and cannot pull it. */
export async function findDockerFault(): Promise<string | undefined> {
  const { getContainerRuntimeClient, ImageName } = await import('testcontainers');
  try {
    const { image } = await getContainerRuntimeClient();
    for (const text of [...Object.values(IMAGES), ...(await cleanerImages())]) {
      const name = ImageName.fromString(text);
      if (!(await image.exists(name))) await image.pull(name);
    }
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Several test files run at a time, each with the pools of its processes. */
const CONNECTIONS = 400;

async function startContainers(): Promise<RunningStores> {
  const { GenericContainer, Wait } = await import('testcontainers');
  const password = 'test';
  const [postgres, valkey] = await Promise.all([
    new GenericContainer(IMAGES.postgres)
      .withEnvironment({ POSTGRES_PASSWORD: password })
      .withCommand(['postgres', '-c', `max_connections=${CONNECTIONS}`])
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
      .withTmpFs({ '/data': 'rw' })
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
  chmodSync(folder, 0o755);
  const postgres = await openEmbeddedPostgres(folder, false, createLog('warn', 'test'), CONNECTIONS);
  return {
    postgresUrl: postgres.url,
    valkeyUrl: undefined,
    stop: async () => {
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts the servers: containers, or without Docker only an embedded PostgreSQL. */
export const startStores = (hasDocker: boolean): Promise<RunningStores> =>
  hasDocker ? startContainers() : startEmbedded();
