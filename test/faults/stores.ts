import { Redis } from 'ioredis';
import { GenericContainer, type StartedTestContainer } from 'testcontainers';
import { withClient } from '../../src/platform/postgres-client.ts';
import { docker, tryDocker } from '../containers/docker.ts';
import { freePort } from '../support/process.ts';
import { waitFor } from '../support/wait.ts';
import { createDisk, type Disk } from './disk.ts';

/** The store of the queue in a trial. */
export type Backend = 'postgres' | 'valkey';

/** A store in a container that can be killed, frozen and restarted. Its address stays the same. */
export interface Store extends AsyncDisposable {
  url: string;
  /** Sends a signal to the server process and waits for its end. */
  kill(signal: 'SIGKILL' | 'SIGTERM' | 'SIGINT' | 'SIGQUIT'): Promise<void>;
  /** Starts it again on the same data. Resolves when it accepts commands. */
  start(): Promise<void>;
  /** Suspends all of its processes, like SIGSTOP. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  /** The container's id. */
  container(): string;
  isRunning(): Promise<boolean>;
  /** The separate disk with its data. */
  disk(): Disk;
  /** Cuts the power of a frozen store: the next `start` finds only synced data. */
  cutPower(): Promise<void>;
  /** Its address for other containers. */
  address(): Promise<string>;
  /** Runs a command in the container. */
  exec(...command: string[]): Promise<string>;
}

/** The stores of a trial; `valkey` exists only if it holds the queue. */
export interface Stores {
  postgres: Store;
  valkey: Store | undefined;
  /** PostgreSQL through a PgBouncer in transaction mode, if the trial runs behind one. */
  poolerUrl?: string | undefined;
}

export interface StoreOptions {
  /** Server settings, added to the defaults of the trials. */
  settings?: Record<string, string>;
  /** Stores the data on a separate disk of this size instead of a volume. */
  diskMegabytes?: number;
  /** A folder whose files are copied into the new store. */
  copyOf?: string;
  /** Whether it uses the host's network, where it has the same address for itself and for others. */
  onHost?: boolean;
  /** Valkey: whether the settings are in a file, so that `CONFIG REWRITE` persists changes. */
  ownConfig?: boolean;
  /** Whether it starts now; otherwise only its address is reserved until `start`. */
  running?: boolean;
}

interface StoreKind {
  image: string;
  port: number;
  folder: string;
  environment: Record<string, string>;
  command(settings: Record<string, string>, ownConfig: boolean): string[];
  url(port: number): string;
  /** Resolves when the server accepts commands. */
  ask(url: string): Promise<unknown>;
}

/** The label of a run's containers; its value is the process id. */
export const LABEL = 'parley.faults';
const PASSWORD = 'test';
const READY_WITHIN_MS = 60_000;
const FREEZE_ATTEMPTS = 10;
const DURABLE_VALKEY = { appendonly: 'yes', appendfsync: 'always', 'maxmemory-policy': 'noeviction' };

const POSTGRES: StoreKind = {
  image: 'postgres:18',
  port: 5432,
  folder: '/var/lib/postgresql',
  environment: { POSTGRES_PASSWORD: PASSWORD },
  command: settings => ['postgres', ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
  url: port => `postgresql://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`,
  ask: url => withClient(url, client => client.query('select 1')),
};

/** Writes the settings into a file at the first start and starts with it. */
function fromFile(settings: Record<string, string>): string[] {
  const lines = Object.entries(settings).map(([name, value]) => `${name} ${value}`);
  const file = '/data/valkey.conf';
  const text = [...lines, 'dir /data', 'protected-mode no'].join('\n');
  return ['sh', '-c', `test -f ${file} || echo '${text}' > ${file}; exec valkey-server ${file}`];
}

const VALKEY: StoreKind = {
  image: 'valkey/valkey:9',
  port: 6379,
  folder: '/data',
  environment: {},
  command: (settings, ownConfig) =>
    ownConfig
      ? fromFile(settings)
      : ['valkey-server', ...Object.entries(settings).flatMap(([name, value]) => [`--${name}`, ...value.split(' ')])],
  url: port => `redis://127.0.0.1:${port}`,
  ask: url => askValkey(url, async () => undefined),
};

/** Runs a function with its own connection to a Valkey. */
export async function askValkey<T>(url: string, ask: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: null, connectTimeout: 2000, commandTimeout: 5000 });
  redis.on('error', () => undefined); // the command rejects with the same error
  try {
    await redis.connect();
    await redis.ping();
    return await ask(redis);
  } finally {
    redis.disconnect();
  }
}

/** Resolves when the server at `url` accepts commands. */
const awaitReady = (kind: StoreKind, url: string) =>
  waitFor(
    () =>
      kind.ask(url).then(
        () => true,
        () => false,
      ),
    READY_WITHIN_MS,
  );

/** Starts a new container for a store on a port of this machine. */
function startContainer(
  kind: StoreKind,
  port: number,
  options: StoreOptions,
  disk: Disk | undefined,
): Promise<StartedTestContainer> {
  const own: Record<string, string> = options.onHost ? { port: String(port), bind: '127.0.0.1' } : {};
  const container = new GenericContainer(kind.image)
    .withEnvironment(kind.environment)
    .withCommand(kind.command({ ...options.settings, ...own }, options.ownConfig ?? false))
    .withLabels({ [LABEL]: String(process.pid) });
  if (options.onHost) container.withNetworkMode('host');
  else container.withExposedPorts({ container: kind.port, host: port });
  if (disk) container.withBindMounts([{ source: disk.folder, target: kind.folder }]);
  if (options.copyOf) container.withCopyDirectoriesToContainer([{ source: options.copyOf, target: kind.folder }]);
  return container.start();
}

/** Pauses a container. A busy kernel may not freeze a group of processes within the engine's timeout. */
async function pause(container: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const { code, stderr } = await tryDocker(['pause', container]);
    if (code === 0) return;
    if (attempt >= FREEZE_ATTEMPTS || !/unable to freeze/.test(stderr)) throw new Error(stderr);
  }
}

async function openStore(kind: StoreKind, options: StoreOptions): Promise<Store> {
  const port = await freePort();
  const url = kind.url(port);
  let made: StartedTestContainer | undefined;
  let disk = options.diskMegabytes ? await createDisk(options.diskMegabytes) : undefined;
  const create = async (): Promise<void> => {
    made = await startContainer(kind, port, options, disk);
  };
  if (options.running !== false) {
    await create();
    await awaitReady(kind, url);
    await disk?.sync(); // syncs the initial data, because an installation is older than its first power cut
  }

  const container = (): string => {
    if (!made) throw new Error(`${kind.image} was not started yet`);
    return made.getId();
  };
  const remove = async () => {
    if (made) await docker(['rm', '--force', '--volumes', container()]);
    made = undefined;
  };
  const inspect = (format: string) => docker(['inspect', '--format', format, container()]);
  const ownDisk = (): Disk => {
    if (!disk) throw new Error(`${kind.image} has no separate disk`);
    return disk;
  };
  return {
    url,
    container,
    async kill(signal) {
      await docker(['kill', `--signal=${signal}`, container()]);
      await docker(['wait', container()]);
    },
    async start() {
      if (made) await docker(['start', container()]);
      else await create();
      await awaitReady(kind, url);
    },
    freeze: () => pause(container()),
    thaw: async () => void (await docker(['unpause', container()])),
    isRunning: async () => (await inspect('{{.State.Running}}')) === 'true',
    disk: ownDisk,
    async cutPower() {
      const before = ownDisk();
      disk = await before.afterPowerCut();
      await remove();
      await before[Symbol.asyncDispose]();
    },
    address: () => inspect('{{.NetworkSettings.IPAddress}}'),
    exec: (...command) => docker(['exec', container(), ...command]),
    async [Symbol.asyncDispose]() {
      await remove();
      await disk?.[Symbol.asyncDispose]();
    },
  };
}

/** A PostgreSQL 18 with default settings, except for more connections. */
export const openPostgres = (options: StoreOptions = {}): Promise<Store> =>
  openStore(POSTGRES, { ...options, settings: { max_connections: '300', ...options.settings } });

/** A Valkey 9 with the required settings: on disk before each reply, and no eviction. */
export const openValkey = (options: StoreOptions = {}): Promise<Store> =>
  openStore(VALKEY, { ...options, settings: { ...DURABLE_VALKEY, ...options.settings } });

/** Removes all containers of this run, after it was aborted. */
export async function removeContainers(): Promise<void> {
  const ids = await docker(['ps', '--all', '--quiet', '--filter', `label=${LABEL}=${process.pid}`]);
  if (ids) await docker(['rm', '--force', '--volumes', ...ids.split('\n')]);
}
