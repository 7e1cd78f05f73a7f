import { Redis } from 'ioredis';
import { GenericContainer, type StartedTestContainer } from 'testcontainers';
import { freePort } from '../support/process.ts';
import { waitFor } from '../support/wait.ts';
import { LABEL, type Store } from './stores.ts';

const NAME = 'parley';
const HOW_MANY = 3;
const PORT = 26379;

interface Place {
  host: string;
  port: string;
}

const places = new WeakMap<Store, Promise<Place>>();

async function findPlace(store: Store): Promise<Place> {
  const address = await store.address();
  if (address) return { host: address, port: '6379' };
  const { hostname, port } = new URL(store.url);
  return { host: hostname, port };
}

/**
 * The address of a store for servers and Sentinels: in the host's network its port, otherwise its container's address.
 */
export function placeOf(store: Store): Promise<Place> {
  const place = places.get(store) ?? findPlace(store); // cached: each lookup asks Docker
  places.set(store, place);
  return place;
}

/** A running Sentinel: its container and address. */
interface Sentinel {
  container: StartedTestContainer;
  host: string;
  port: number;
}

/** Starts a Sentinel that considers a primary down after 2 s without a reply, if another one agrees. */
async function startSentinel(primary: Place, port: number | undefined): Promise<Sentinel> {
  const settings = `port ${port ?? PORT}
${port ? 'bind 127.0.0.1' : 'protected-mode no'}
sentinel monitor ${NAME} ${primary.host} ${primary.port} 2
sentinel down-after-milliseconds ${NAME} 2000
sentinel failover-timeout ${NAME} 10000
`;
  const made = new GenericContainer('valkey/valkey:9')
    .withCommand([
      'sh',
      '-c',
      `echo '${settings}' > /tmp/sentinel.conf && exec valkey-server /tmp/sentinel.conf --sentinel`,
    ])
    .withLabels({ [LABEL]: String(process.pid) });
  const container = await (port ? made.withNetworkMode('host') : made.withExposedPorts(PORT)).start();
  return { container, host: port ? '127.0.0.1' : container.getIpAddress('bridge'), port: port ?? PORT };
}

/** The reply of a Sentinel; rejects while it does not listen, or refuses. */
async function ask({ host, port }: Sentinel, ...command: [string, ...string[]]): Promise<string[]> {
  const sentinel = new Redis(port, host, { lazyConnect: true, retryStrategy: null });
  sentinel.on('error', () => undefined); // `connect` rejects with the same error
  try {
    await sentinel.connect();
    return (await sentinel.call('SENTINEL', ...command)) as string[];
  } finally {
    sentinel.disconnect();
  }
}

/** The reply of a Sentinel; empty if there is none. Callers poll with a timeout. */
const tryToAsk = (sentinel: Sentinel, ...command: [string, ...string[]]): Promise<string[]> =>
  ask(sentinel, ...command).catch(() => []);

/** Whether a Sentinel has found the others and all replicas. */
async function isReady(sentinel: Sentinel, replicas: number): Promise<boolean> {
  const flat = await tryToAsk(sentinel, 'MASTER', NAME);
  const field = (name: string) => flat[flat.indexOf(name) + 1];
  return field('num-slaves') === String(replicas) && field('num-other-sentinels') === String(HOW_MANY - 1);
}

export interface Sentinels extends AsyncDisposable {
  /** A `REDIS_URL` with these Sentinels. */
  url: string;
  /** Their addresses for other containers. */
  hosts: string[];
  /** Whether all of them report that store as the primary. */
  name(store: Store): Promise<boolean>;
  /** Starts a planned failover. Resolves with the new primary. */
  failOver(stores: Store[]): Promise<Store>;
}

/** Three Sentinels that monitor a primary and its replicas, in the same network as the primary. */
export async function openSentinels(primary: Store, replicas = 1): Promise<Sentinels> {
  const place = await placeOf(primary);
  const isOnHost = (await primary.address()) === '';
  const ports = await Promise.all(Array.from({ length: HOW_MANY }, () => (isOnHost ? freePort() : undefined)));
  const sentinels = await Promise.all(ports.map(port => startSentinel(place, port)));
  const readyNow = async () => (await Promise.all(sentinels.map(one => isReady(one, replicas)))).every(Boolean);
  await waitFor(readyNow, 30_000);

  const names = async (sentinel: Sentinel, store: Store): Promise<boolean> => {
    const { host, port } = await placeOf(store);
    const address = await tryToAsk(sentinel, 'GET-MASTER-ADDR-BY-NAME', NAME);
    return address[0] === host && address[1] === port;
  };
  const isNamed = async (store: Store): Promise<boolean> =>
    (await Promise.all(sentinels.map(one => names(one, store)))).every(Boolean);
  const findPrimary = async (stores: Store[]): Promise<Store | undefined> => {
    for (const store of stores) if (await isNamed(store)) return store;
    return undefined;
  };
  return {
    url: `redis://${NAME}?sentinels=${sentinels.map(({ host, port }) => `${host}:${port}`).join(',')}`,
    hosts: sentinels.map(({ host }) => host),
    name: isNamed,
    async failOver(stores) {
      const before = await waitFor(() => findPrimary(stores), 30_000);
      const [first] = sentinels as [Sentinel];
      // Refused while a failover is in progress, or no replica is ready. Again if the Sentinel gives it up.
      const start = async () => (await names(first, before)) && tryToAsk(first, 'FAILOVER', NAME);
      const moved = async () => {
        await start();
        return findPrimary(stores.filter(store => store !== before));
      };
      return waitFor(moved, 90_000, 50);
    },
    [Symbol.asyncDispose]: async () =>
      void (await Promise.all(sentinels.map(({ container }) => container.stop({ timeout: 0 })))),
  };
}
