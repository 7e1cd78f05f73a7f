import { readSentinelReplicas, type SentinelReplica } from '../platform/redis.ts';
import type { RedisUrl } from '../platform/store-urls.ts';

/** A new replica connects to the primary before the Sentinels list it, so querying them every second is not needed. */
const SENTINELS_EVERY_MS = 5000;

/**
 * Reads the replicas that the Sentinels list, at most every 5 s per connection. While no Sentinel replies, the last
 * reading on the same connection remains valid; without one it rejects.
 */
export function createSentinelReader(redisUrl: RedisUrl | undefined) {
  let last: { socket: unknown; at: number; replicas: SentinelReplica[] | undefined } | undefined;
  return async (socket: unknown): Promise<SentinelReplica[] | undefined> => {
    if (!redisUrl) return undefined;
    const known = last?.socket === socket ? last : undefined;
    if (known && Date.now() - known.at < SENTINELS_EVERY_MS) return known.replicas;
    try {
      last = { socket, at: Date.now(), replicas: await readSentinelReplicas(redisUrl) };
    } catch (error) {
      if (!known) throw new Error(`no Sentinel reports the replicas: ${(error as Error).message}`, { cause: error });
      known.at = Date.now();
      return known.replicas;
    }
    return last.replicas;
  };
}
