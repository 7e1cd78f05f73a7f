import { Redis, type RedisOptions } from 'ioredis';
import type { RedisUrl } from './store-urls.ts';

/** The default port of a Sentinel. */
const SENTINEL_PORT = 26379;
/** Time limit for a reply, longer than a worker's blocking read (10 s). After it, the Sentinels are queried again. */
const SILENT_MS = 15_000;
/** Time limit for a Sentinel's reply about the replicas. */
const SENTINEL_TIMEOUT_MS = 1000;

interface SentinelAddress {
  host: string;
  port: number;
}

/** The Sentinels in a `REDIS_URL`, and the options for connecting to them. */
interface SentinelSettings {
  /** The name of the primary in the Sentinels' configuration. */
  name: string;
  sentinels: SentinelAddress[];
  isSecure: boolean;
}

function readSentinel(address: string): SentinelAddress {
  const { hostname, port } = new URL(`redis://${address.trim()}`);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || SENTINEL_PORT };
}

/** Returns the Sentinels of a `REDIS_URL`; `undefined` when it contains a server. */
function readSentinels(url: string): SentinelSettings | undefined {
  const address = new URL(url);
  const sentinels = address.searchParams.get('sentinels');
  if (sentinels === null) return undefined;
  return {
    name: address.hostname,
    sentinels: sentinels.split(',').map(readSentinel),
    isSecure: address.protocol === 'rediss:',
  };
}

/** Returns the current URL, which contains the credentials of the store. */
const readUrl = (address: RedisUrl): string => (typeof address === 'string' ? address : address.readUrl());

/** Returns the options with the current credentials: of the store, and of the Sentinels. */
function readCredentials(address: RedisUrl): Partial<RedisOptions> {
  const { username, password } = new URL(readUrl(address));
  const sentinel = typeof address === 'string' ? undefined : address.readSentinelCredentials();
  return {
    ...(username ? { username: decodeURIComponent(username) } : {}),
    ...(password ? { password: decodeURIComponent(password) } : {}),
    ...(sentinel?.username ? { sentinelUsername: sentinel.username } : {}),
    ...(sentinel?.password ? { sentinelPassword: sentinel.password } : {}),
  };
}

/** The constructor in the two forms that are used here. */
const Base = Redis as unknown as new (first: string | RedisOptions, options?: RedisOptions) => Redis;

/** A client that reads its credentials again for each connection, like the clients that BullMQ duplicates from it. */
const clientOf = (address: RedisUrl) =>
  class Client extends Base {
    override connect(callback?: Parameters<Redis['connect']>[0]): Promise<void> {
      Object.assign(this.options, readCredentials(address));
      return super.connect(callback);
    }

    override duplicate(override?: Partial<RedisOptions>): Redis {
      return new Client({ ...this.options, ...override });
    }
  };

/**
 * Creates a client for a `REDIS_URL`.
 *
 * In a URL with `?sentinels=host:port,host:port`, the host is the primary's name in the Sentinels' configuration. User,
 * password and database are those of the primary, also after a failover. `rediss` applies to the Sentinels as well.
 */
export function openRedis(address: RedisUrl, options: RedisOptions): Redis {
  const url = readUrl(address);
  const Client = clientOf(address);
  const settings = readSentinels(url);
  if (!settings) return new Client(url, options);
  const primary = new URL(url);
  primary.searchParams.delete('sentinels');
  return new Client(primary.href, {
    sentinelRetryStrategy: times => Math.min(100 * times, 1000),
    ...readCredentials(address),
    ...options,
    ...(settings.isSecure ? { tls: {}, enableTLSForSentinelMode: true, sentinelTLS: {} } : {}),
    name: settings.name,
    sentinels: settings.sentinels,
    // A frozen primary closes no connection. (ioredis' failoverDetector would permanently end a client that is
    // connecting.)
    socketTimeout: SILENT_MS,
  });
}

/** A replica as a Sentinel reports it. */
export interface SentinelReplica {
  host: string;
  port: string;
  /** `replica-priority` of the replica. Sentinel never promotes one with priority 0. */
  priority: number;
}

/**
 * Returns the replicas that the Sentinels of a `REDIS_URL` list, including those that are down: the union of all
 * replies. `undefined` without Sentinels. Rejects when no Sentinel replies within 1 s.
 */
export async function readSentinelReplicas(address: RedisUrl): Promise<SentinelReplica[] | undefined> {
  const settings = readSentinels(readUrl(address));
  if (!settings) return undefined;
  const { sentinelUsername: username, sentinelPassword: password } = readCredentials(address);
  const login = { ...(username ? { username } : {}), ...(password ? { password } : {}) };
  const replies = await Promise.allSettled(
    settings.sentinels.map(sentinel => querySentinel(sentinel, settings, login)),
  );
  const replicas = replies.flatMap(reply => (reply.status === 'fulfilled' ? [reply.value] : []));
  const failure = replies.find(reply => reply.status === 'rejected');
  if (failure && replicas.length === 0) throw failure.reason;
  return replicas.flat();
}

async function querySentinel(
  address: SentinelAddress,
  settings: SentinelSettings,
  login: Pick<RedisOptions, 'username' | 'password'>,
): Promise<SentinelReplica[]> {
  const sentinel = new Redis({
    ...address,
    ...login,
    ...(settings.isSecure ? { tls: {} } : {}),
    lazyConnect: true,
    enableReadyCheck: false,
    connectTimeout: SENTINEL_TIMEOUT_MS,
    commandTimeout: SENTINEL_TIMEOUT_MS,
    retryStrategy: null,
  });
  let failure: Error | undefined;
  sentinel.on('error', (error: Error) => {
    failure = error; // the cause, which the rejection of `connect` lacks
  });
  try {
    await sentinel.connect();
    const replicas = (await sentinel.call('SENTINEL', 'REPLICAS', settings.name)) as string[][];
    return replicas.map(readReplica);
  } catch (error) {
    throw failure ?? error;
  } finally {
    sentinel.disconnect();
  }
}

function readReplica(flat: string[]): SentinelReplica {
  const field = (name: string) => flat[flat.indexOf(name) + 1] ?? '';
  return { host: field('ip'), port: field('port'), priority: Number(field('slave-priority')) };
}

/** Returns a field of an INFO reply; `undefined` where it is absent. */
export const infoField = (info: string, name: string): string | undefined =>
  info.match(new RegExp(`^${name}:(.*?)\\r?$`, 'm'))?.[1];

/**
 * Resolves when the client is ready or its first attempt to connect has failed; at once without a client. Commands sent
 * earlier would fail in a healthy start too.
 */
export const connected = (redis: Redis | undefined): Promise<void> =>
  new Promise(resolve => {
    if (!redis || redis.status === 'ready') return resolve();
    for (const event of ['ready', 'error', 'close', 'end']) redis.once(event, () => resolve());
  });

/**
 * Sends the commands that `send` issues at once, or after promises that need no I/O, in one packet. A store with
 * `appendfsync always` then writes to its disk once for all of them, instead of once for each.
 */
export function sendTogether<Result>({ stream }: Redis, send: () => Result): Result {
  stream?.cork(); // there is none before the first connection
  queueMicrotask(() => process.nextTick(() => stream?.uncork())); // ticks that a microtask adds run after all microtasks
  return send();
}
