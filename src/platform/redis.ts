import { Redis, type RedisOptions } from 'ioredis';

/** The port of a Sentinel whose address has none. */
const SENTINEL_PORT = 26379;
/** How long a reply may take: longer than a worker waits for a job (10 s). Then the Sentinels are asked again. */
const SILENT_MS = 15_000;
/** How long one Sentinel may take to reply about the replicas. */
const SENTINEL_TIMEOUT_MS = 1000;

interface SentinelAddress {
  host: string;
  port: number;
}

/** The Sentinels that a `REDIS_URL` names, and the options with which they are reached. */
interface SentinelSettings {
  /** The name under which the Sentinels know the primary. */
  name: string;
  sentinels: SentinelAddress[];
  isSecure: boolean;
}

function readSentinel(address: string): SentinelAddress {
  const { hostname, port } = new URL(`redis://${address.trim()}`);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || SENTINEL_PORT };
}

/** The Sentinels of a `REDIS_URL`; `undefined` when it names a server. */
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

/**
 * A client of the Valkey or Redis of a `REDIS_URL`.
 *
 * A URL with `?sentinels=host:port,host:port` names no host: its host is the name under which those Sentinels know the
 * primary. User, password and database are the primary's, also after a failover. With `rediss` Sentinels speak TLS too.
 */
export function openRedis(url: string, options: RedisOptions): Redis {
  const settings = readSentinels(url);
  if (!settings) return new Redis(url, options);
  const address = new URL(url);
  address.searchParams.delete('sentinels');
  return new Redis(address.href, {
    ...options,
    ...(settings.isSecure ? { tls: {}, enableTLSForSentinelMode: true } : {}),
    name: settings.name,
    sentinels: settings.sentinels,
    // A frozen primary closes no connection. (ioredis' failoverDetector ends a client for good that is just connecting.)
    socketTimeout: SILENT_MS,
    sentinelRetryStrategy: times => Math.min(100 * times, 1000),
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
 * The replicas that the Sentinels of a `REDIS_URL` know, also those that are down: the union of all replies. `undefined`
 * when the URL names no Sentinels. Rejects when no Sentinel replies within 1 s.
 */
export async function readSentinelReplicas(url: string): Promise<SentinelReplica[] | undefined> {
  const settings = readSentinels(url);
  if (!settings) return undefined;
  const replies = await Promise.allSettled(settings.sentinels.map(sentinel => querySentinel(sentinel, settings)));
  const replicas = replies.flatMap(reply => (reply.status === 'fulfilled' ? [reply.value] : []));
  const failure = replies.find(reply => reply.status === 'rejected');
  if (failure && replicas.length === 0) throw failure.reason;
  return replicas.flat();
}

async function querySentinel(address: SentinelAddress, settings: SentinelSettings): Promise<SentinelReplica[]> {
  const sentinel = new Redis({
    ...address,
    ...(settings.isSecure ? { tls: {} } : {}),
    lazyConnect: true,
    enableReadyCheck: false,
    connectTimeout: SENTINEL_TIMEOUT_MS,
    commandTimeout: SENTINEL_TIMEOUT_MS,
    retryStrategy: null,
  });
  let failure: Error | undefined;
  sentinel.on('error', (error: Error) => {
    failure = error; // why `connect` rejects, which itself says no more than that it did
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

/** A field of an INFO reply; `undefined` where it is absent. */
export const infoField = (info: string, name: string): string | undefined =>
  info.match(new RegExp(`^${name}:(.*?)\\r?$`, 'm'))?.[1];
