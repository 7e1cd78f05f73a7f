import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Redis } from 'ioredis';
import { infoField, type SentinelReplica } from '../platform/redis.ts';
import { TimeoutError } from '../platform/timeouts.ts';

/** A store's role and the replicas connected to it. */
export interface Replication {
  /** `master`, or `slave` for a replica. */
  role: string;
  /** The id of the data's history. It changes with each promotion. */
  id: string;
  /** `host:port` of each connected replica, including those still copying the data; sorted. */
  connected: string[];
  /** Replicas that have the data and follow. */
  online: string[];
}

/** Reads the section `replication` of INFO. */
export function readReplication(info: string): Replication {
  const replicas = [...info.matchAll(/^slave\d+:ip=([^,]*),port=(\d+),state=(\w+)/gm)].map(([, host, port, state]) => ({
    address: `${host}:${port}`,
    isOnline: state === 'online',
  }));
  return {
    role: infoField(info, 'role') ?? '',
    id: infoField(info, 'master_replid') ?? '',
    connected: replicas.map(({ address }) => address).sort(),
    online: replicas.filter(({ isOnline }) => isOnline).map(({ address }) => address),
  };
}

/** Whether two readings describe the same primary with the same replicas. */
export const isSameReplication = (one: Replication, other: Replication): boolean =>
  one.role === other.role && one.id === other.id && `${one.connected}` === `${other.connected}`;

/** Whether a flush survives a failover, given the existing replicas. */
export interface ReplicaVerdict {
  /** Why a confirmation by `QUEUE_REPLICAS` replicas would not be sufficient; empty when it is. */
  reasons: string[];
  /** How many replicas must confirm: all connected ones, since `WAIT` does not report which ones did. */
  confirmations: number;
  /** Replicas that can become the primary. */
  promotable: number;
}

/** Resolves a host name to its address. An unresolvable name is kept and matches only an identical name. */
const resolveHost = async (host: string): Promise<string> =>
  isIP(host)
    ? host
    : lookup(host).then(
        ({ address }) => address,
        () => host,
      );

const resolveAddress = async (host: string, port: string): Promise<string> => `${await resolveHost(host)}:${port}`;

const resolveConnected = (address: string): Promise<string> => {
  const colon = address.lastIndexOf(':');
  return resolveAddress(address.slice(0, colon), address.slice(colon + 1));
};

/**
 * Compares the replicas that can become the primary with `QUEUE_REPLICAS`.
 *
 * A failover keeps every confirmed answer only if each replica that can be promoted has confirmed it. So exactly
 * `wanted` replicas must exist, counting those connected to the primary and those that the Sentinels list as down.
 * Replicas with priority 0 are not counted.
 */
export async function checkReplicas(
  { connected, online }: Replication,
  known: SentinelReplica[] | undefined,
  wanted: number,
): Promise<ReplicaVerdict> {
  const byPriority = Object.groupBy(known ?? [], ({ priority }) => (priority === 0 ? 'excluded' : 'promotable'));
  const addressesOf = async (replicas: SentinelReplica[] = []) =>
    new Set(await Promise.all(replicas.map(({ host, port }) => resolveAddress(host, port))));
  const bySentinels = await addressesOf(byPriority.promotable);
  const excluded = (await addressesOf(byPriority.excluded)).difference(bySentinels); // Sentinels may disagree for a while
  const countable = async (addresses: string[]) =>
    new Set(await Promise.all(addresses.map(resolveConnected))).difference(excluded);
  const following = await countable(online);
  const promotable = (await countable(connected)).union(bySentinels);
  const reasons: string[] = [];
  if (following.size < wanted)
    reasons.push(`${following.size} replicas are connected, but QUEUE_REPLICAS is ${wanted}`);
  if (promotable.size > wanted)
    reasons.push(
      `${promotable.size} replicas can become the primary (${[...promotable].sort().join(', ')}), but QUEUE_REPLICAS is ${wanted}`,
    );
  return { reasons: wanted === 0 ? [] : reasons, confirmations: connected.length, promotable: promotable.size };
}

/**
 * Resolves when the replicas of `replication` have everything that was written on this connection. Rejects when they do
 * not confirm within `timeoutMs`, or when the replicas have changed meanwhile, since a new one may lack the data. Costs
 * one round trip.
 */
export async function confirmReplicas(
  redis: Redis,
  { replication, confirmations }: { replication: Replication; confirmations: number },
  timeoutMs: number,
): Promise<void> {
  const [confirmed, info] = await Promise.all([redis.wait(confirmations, timeoutMs), redis.info('replication')]);
  if (confirmed < confirmations)
    throw new TimeoutError(
      `timed out after ${timeoutMs} ms: ${confirmed} of ${confirmations} replicas confirmed the write`,
    );
  if (!isSameReplication(replication, readReplication(info))) throw new Error('the replicas changed during the write');
}
