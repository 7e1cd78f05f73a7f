import { Redis, type RedisOptions } from 'ioredis';

/** Where a Sentinel listens unless it is said. */
const SENTINEL_PORT = 26379;
/** How long a reply may take: longer than a worker waits for a job (10 s). Then the Sentinels are asked again. */
const SILENT_MS = 15_000;

function readSentinel(address: string): { host: string; port: number } {
  const { hostname, port } = new URL(`redis://${address.trim()}`);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || SENTINEL_PORT };
}

/**
 * A client of the Valkey or Redis of a `REDIS_URL`.
 *
 * A URL with `?sentinels=host:port,host:port` names no host: its host is the name under which those Sentinels know the
 * primary. User, password and database are the primary's, also after a failover. With `rediss` Sentinels speak TLS too.
 */
export function openRedis(url: string, options: RedisOptions): Redis {
  const address = new URL(url);
  const sentinels = address.searchParams.get('sentinels');
  if (sentinels === null) return new Redis(url, options);
  address.searchParams.delete('sentinels');
  const secure = address.protocol === 'rediss:';
  return new Redis(address.href, {
    ...options,
    ...(secure ? { tls: {}, enableTLSForSentinelMode: true } : {}),
    name: address.hostname,
    sentinels: sentinels.split(',').map(readSentinel),
    // A frozen primary closes no connection. (ioredis' failoverDetector ends a client for good that is just connecting.)
    socketTimeout: SILENT_MS,
    sentinelRetryStrategy: times => Math.min(100 * times, 1000),
  });
}
