import { createFairTurns, type TurnLimits } from './fair-turns.ts';

/** Why a slot was refused: too many callers are waiting, or the wait took too long. */
export type ShareRefusal = 'full' | 'timeout';

export interface FairShareOptions extends TurnLimits {
  /** Maximum wait in milliseconds. */
  maxWaitMs: number;
  /** Creates the error for a refused caller. */
  refuse(reason: ShareRefusal): Error;
}

/** Releases the slot. */
export type Release = () => void;

/** A fixed number of slots, shared fairly between keys. */
export interface FairShare {
  /** Acquires a slot. Rejects with `refuse(…)` when too many are waiting, or after too long. */
  acquire(key: string): Promise<Release>;
  /** Runs `work` while holding a slot. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** The number of used slots and of waiting callers. */
  count(): { running: number; waiting: number };
}

interface Waiting {
  resolve(release: Release): void;
  timer: NodeJS.Timeout;
}

/** Shares slots between keys by `fair-turns.ts`, and lets callers wait up to a limit. */
export function createFairShare(options: FairShareOptions): FairShare {
  const { maxWaitMs, refuse } = options;
  const turns = createFairTurns<Waiting>(options);

  const releaseOf = (key: string): Release => {
    let released = false;
    return () => {
      if (released) return;
      released = true;
      turns.end(key);
      grant();
    };
  };

  const grant = () => {
    for (let next = turns.next(); next; next = turns.next()) {
      clearTimeout(next.caller.timer);
      next.caller.resolve(releaseOf(next.key));
    }
  };

  const wait = (key: string): Promise<Release> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        turns.leave(key, waiting);
        reject(refuse('timeout'));
      }, maxWaitMs);
      const waiting: Waiting = { resolve, timer };
      turns.wait(key, waiting);
    });

  const acquire = async (key: string): Promise<Release> => {
    if (turns.start(key)) return releaseOf(key);
    if (!turns.mayWait(key)) throw refuse('full');
    return wait(key);
  };

  return {
    acquire,
    async run(key, work) {
      const release = await acquire(key);
      try {
        return await work();
      } finally {
        release();
      }
    },
    count: () => turns.count(),
  };
}
