import { expect } from 'vitest';

/** Time spans in milliseconds. */
export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** The time at which everything is created: a full step of authenticators, which take 30 s. */
export const START = Math.floor(Date.now() / 30_000) * 30_000;

/** A clock that only tests move. It starts at `START`. */
export interface TestClock {
  now: () => Date;
  /** Sets the time to so many milliseconds after `START`. */
  set(ms: number): void;
  /** Runs `work` a second earlier. */
  aSecondAgo<T>(work: () => Promise<T>): Promise<T>;
}

export function createClock(): TestClock {
  let passedMs = 0;
  return {
    now: () => new Date(START + passedMs),
    set(ms) {
      passedMs = ms;
    },
    async aSecondAgo(work) {
      passedMs -= SECOND;
      try {
        return await work();
      } finally {
        passedMs += SECOND;
      }
    },
  };
}

/** The outcome of using a thing that is valid. */
export const OK = 'ok';

/** A thing that expires by the clock of the API. */
export interface Expiring {
  what: string;
  /** How long it can be used. At the end of this time it can no longer be used. */
  lastsMs: number;
  /** Creates one at `START` and returns its use, which returns an outcome. */
  create: () => Promise<() => Promise<string | undefined>>;
  /** The outcome before the end, if it is not `OK`. */
  before?: string;
  /** The outcome from the end on. */
  after: string;
}

/** Expects the outcomes of a use just before the end, and of another one at the end. */
export async function expectToExpire(clock: TestClock, { lastsMs, create, before = OK, after }: Expiring) {
  for (const [ms, outcome] of [
    [lastsMs - 1, before],
    [lastsMs, after],
  ] as const) {
    clock.set(0);
    const use = await create();
    clock.set(ms);
    expect(await use()).toBe(outcome);
  }
}
