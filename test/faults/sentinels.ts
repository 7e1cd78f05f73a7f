import { Redis } from 'ioredis';
import { GenericContainer, type StartedTestContainer } from 'testcontainers';
import { freePort } from '../support/process.ts';
import { waitFor } from '../support/wait.ts';
import { LABEL, type Store } from './stores.ts';

const NAME = 'parley';
const HOW_MANY = 3;

/** A Sentinel that holds a primary for gone after 2 s of silence, when another one agrees. */
async function startSentinel(port: number, primary: URL): Promise<StartedTestContainer> {
  const settings = `port ${port}
bind 127.0.0.1
sentinel monitor ${NAME} ${primary.hostname} ${primary.port} 2
sentinel down-after-milliseconds ${NAME} 2000
sentinel failover-timeout ${NAME} 10000
`;
  return new GenericContainer('valkey/valkey:9')
    .withNetworkMode('host')
    .withCommand([
      'sh',
      '-c',
      `echo '${settings}' > /tmp/sentinel.conf && exec valkey-server /tmp/sentinel.conf --sentinel`,
    ])
    .withLabels({ [LABEL]: String(process.pid) })
    .start();
}

/** What a Sentinel replies; nothing while it does not listen. */
async function ask(port: number, ...command: [string, ...string[]]): Promise<string[]> {
  const sentinel = new Redis(port, '127.0.0.1', { lazyConnect: true, retryStrategy: null });
  sentinel.on('error', () => undefined); // it does not listen yet
  try {
    await sentinel.connect();
    return (await sentinel.call('SENTINEL', ...command)) as string[];
  } catch {
    return []; // whoever waits tells when it takes too long
  } finally {
    sentinel.disconnect();
  }
}

/** Whether a Sentinel knows the others, and the replica that would take over. */
async function isReady(port: number): Promise<boolean> {
  const flat = await ask(port, 'MASTER', NAME);
  const field = (name: string) => flat[flat.indexOf(name) + 1];
  return field('num-slaves') === '1' && field('num-other-sentinels') === String(HOW_MANY - 1);
}

export interface Sentinels extends AsyncDisposable {
  /** A `REDIS_URL` by way of them. */
  url: string;
  /** Whether all of them name that store as the primary. */
  name(store: Store): Promise<boolean>;
}

/** Three Sentinels that watch a primary with one replica. */
export async function openSentinels(primary: Store): Promise<Sentinels> {
  const ports = await Promise.all(Array.from({ length: HOW_MANY }, freePort));
  const containers = await Promise.all(ports.map(port => startSentinel(port, new URL(primary.url))));
  await waitFor(async () => (await Promise.all(ports.map(isReady))).every(Boolean), 30_000);
  return {
    url: `redis://${NAME}?sentinels=${ports.map(port => `127.0.0.1:${port}`).join(',')}`,
    async name(store) {
      const named = await Promise.all(ports.map(port => ask(port, 'GET-MASTER-ADDR-BY-NAME', NAME)));
      return named.every(([, port]) => port === new URL(store.url).port);
    },
    [Symbol.asyncDispose]: async () => void (await Promise.all(containers.map(container => container.stop()))),
  };
}
