import { setTimeout as sleep } from 'node:timers/promises';
import type { ReplyStatus } from './ledger.ts';
import type { World } from './world.ts';

/** A value sampled repeatedly next to the load. */
export interface Watch<T> {
  values: readonly T[];
  /** Stops it and waits for the sample in progress. Rejects if a sample failed. */
  stop(): Promise<readonly T[]>;
}

/** Samples a value at intervals until it is stopped, at the latest with the world. */
export function startWatch<T>(world: World, everyMs: number, look: () => T | Promise<T>): Watch<T> {
  const values: T[] = [];
  let watching = true;
  const watch = async () => {
    while (watching) {
      values.push(await look());
      await sleep(everyMs);
    }
  };
  const ended = watch().catch((error: Error) => error);
  world.atEnd(async () => {
    watching = false;
    await ended;
  });
  return {
    values,
    async stop() {
      watching = false;
      const failure = await ended;
      if (failure) throw failure;
      return values;
    },
  };
}

/** The reply to a request next to the load. `at` is the time of sending. */
export interface Probe {
  at: number;
  ms: number;
  status: ReplyStatus;
}

/** Requests a page repeatedly. */
export const startProbe = (world: World, url: string, options: { as?: string; everyMs?: number } = {}): Watch<Probe> =>
  startWatch(world, options.everyMs ?? 50, async () => {
    const at = Date.now();
    const status = await world.request(url, { ...(options.as ? { as: options.as } : {}), timeoutMs: 10_000 }).then(
      reply => reply.status,
      () => 'broken' as const,
    );
    return { at, ms: Date.now() - at, status };
  });

export const slowest = (timed: readonly { ms: number }[]): number =>
  timed.reduce((most, { ms }) => Math.max(most, ms), 0);
