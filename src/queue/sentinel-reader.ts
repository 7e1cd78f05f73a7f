import { readSentinelReplicas, type SentinelReplica } from '../platform/redis.ts';

/** A new replica connects to the primary before a Sentinel knows it, so the Sentinels need not be asked each second. */
const SENTINELS_EVERY_MS = 5000;

/**
 * Reads the replicas that the Sentinels know, at most every 5 s on one connection. While no Sentinel replies, the last
 * reading on the same connection remains valid; without one it rejects.
 */
export function createSentinelReader(redisUrl: string | undefined) {
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
