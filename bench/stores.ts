import { chmodSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GenericContainer, getContainerRuntimeClient, type StartedTestContainer, Wait } from 'testcontainers';
import { openEmbeddedPostgres } from '../src/platform/embedded-postgres.ts';
import { createLog } from '../src/platform/log.ts';
import { withClient } from '../src/platform/postgres-client.ts';
import { freePorts } from './children.ts';
import type { Roles } from './cpu.ts';

/** The stores shared by Parley and the floor programs. */
export interface Stores extends AsyncDisposable {
  /** The stores in one sentence. */
  description: string;
  postgresUrl: string;
  /** Absent without a Docker Engine. */
  valkeyUrl: string | undefined;
  /** Root processes, as seen by this machine. */
  roles: Roles;
}

/** On Linux a container in the host's network needs no proxy between the programs and the store. */
const HOST_NETWORK = process.platform === 'linux';

async function hasDocker(): Promise<boolean> {
  try {
    await getContainerRuntimeClient();
    return true;
  } catch {
    return false; // reported in the description of the stores
  }
}

async function startContainer(image: string, port: number, containerPort: number, log: [RegExp, number]) {
  const container = new GenericContainer(image).withWaitStrategy(Wait.forLogMessage(...log));
  return HOST_NETWORK
    ? container.withNetworkMode('host')
    : container.withExposedPorts({ container: containerPort, host: port });
}

async function startPostgres(port: number): Promise<StartedTestContainer> {
  const listen = HOST_NETWORK ? ['-c', `port=${port}`, '-c', 'listen_addresses=127.0.0.1'] : [];
  const container = await startContainer('postgres:18', port, 5432, [/ready to accept connections/, 2]);
  return container
    .withEnvironment({ POSTGRES_PASSWORD: 'bench' })
    .withCommand(['postgres', '-c', 'max_connections=200', '-c', 'max_wal_size=4GB', ...listen])
    .start();
}

async function startValkey(port: number): Promise<StartedTestContainer> {
  const listen = HOST_NETWORK ? ['--port', String(port), '--bind', '127.0.0.1'] : [];
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', '', '--maxmemory-policy', 'noeviction'];
  const container = await startContainer('valkey/valkey:9', port, 6379, [/Ready to accept connections/, 1]);
  return container.withCommand(['valkey-server', ...durable, ...listen]).start();
}

async function pidOf(container: StartedTestContainer): Promise<number> {
  const { State } = await (await getContainerRuntimeClient()).container.getById(container.getId()).inspect();
  return State.Pid;
}

async function openContainers(): Promise<Stores> {
  const [postgresPort, valkeyPort] = await freePorts();
  const [postgres, valkey] = await Promise.all([startPostgres(postgresPort), startValkey(valkeyPort)]);
  const network = HOST_NETWORK ? "in the host's network" : 'behind published ports';
  return {
    description: `PostgreSQL 18 and Valkey 9 (AOF, appendfsync always) in containers, on disk, ${network}`,
    postgresUrl: `postgresql://postgres:bench@127.0.0.1:${postgresPort}/postgres`,
    valkeyUrl: `redis://127.0.0.1:${valkeyPort}`,
    roles: { database: await pidOf(postgres), queue: await pidOf(valkey) },
    [Symbol.asyncDispose]: async () => void (await Promise.all([postgres.stop(), valkey.stop()])),
  };
}

async function openEmbedded(): Promise<Stores> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-bench-'));
  chmodSync(folder, 0o755); // PostgreSQL runs as another user when this command runs as root
  const postgres = await openEmbeddedPostgres(folder, false, createLog('warn', 'bench'));
  const pidFile = readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'utf8');
  return {
    description: 'only the embedded PostgreSQL: no Docker Engine was found, so there is no Valkey',
    postgresUrl: postgres.url,
    valkeyUrl: undefined,
    roles: { database: Number(pidFile.split('\n')[0]) },
    [Symbol.asyncDispose]: async () => {
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts PostgreSQL and Valkey in containers, or the embedded PostgreSQL if there is no Docker Engine. */
export const openStores = async (): Promise<Stores> => ((await hasDocker()) ? openContainers() : openEmbedded());

/** Creates a database, dropping an existing one of that name, and returns its URL. */
export async function createDatabase(stores: Stores, name: string): Promise<string> {
  await withClient(stores.postgresUrl, async client => {
    await client.query(`drop database if exists ${name} with (force)`);
    await client.query(`create database ${name}`);
  });
  const url = new URL(stores.postgresUrl);
  url.pathname = name;
  return url.href;
}
