import { Problem, retrySoon } from '../../domain/problem.ts';
import type { Metrics } from '../../platform/metrics.ts';

/** For how long one turn of the event loop takes up requests. */
const TURN_MS = 25;
/** Who has waited for so long is refused, unless few do: a reply in time tells more than a late one. */
const MAX_WAIT_MS = 500;
/** So many are never too many: their turn comes soon, and a turn may be long for other reasons. */
const FEW = 64;
const MAX_AT_ONCE = 64;

/** Keeps a process that gets more requests than it can answer from answering all of them late. */
export interface Overload {
  /** Resolves when this request may be taken up; `undefined` where that is now. Rejects with `service-overloaded`. */
  admit(): Promise<void> | undefined;
}

interface Waiting {
  since: number;
  take(): void;
  refuse(problem: Problem): void;
}

/**
 * Lets one turn of the event loop take up requests for 25 ms; the others wait for the next turns, first come first
 * served, and are refused after 0.5 s when more than 64 are before them.
 *
 * A turn takes up whatever has arrived, and until its end no reply is sent, no probe is answered and no flush leaves. So
 * its length is what everybody waits for. Requests that wait for a store lengthen no turn: many slow reads refuse no
 * answer. Refusing at once would be worse: the refused come back at once, and to refuse them is work too.
 */
export function createOverload({ requestsShed }: Pick<Metrics, 'requestsShed'>): Overload {
  let waiting: Waiting[] = [];
  let turnBegan = 0;
  /** How many of the waiting the next turn takes up, as the length of the last turn taught. */
  let atOnce = 1;

  const refuseLate = (now: number) => {
    const inTime = waiting.findIndex(({ since }, place) => place >= FEW && now - since < MAX_WAIT_MS);
    const late = waiting.slice(FEW, inTime < 0 ? undefined : inTime);
    waiting.splice(FEW, late.length);
    for (const { refuse } of late) {
      requestsShed.inc();
      const options = { retryAfterSeconds: retrySoon() };
      refuse(new Problem('service-overloaded', 'More requests arrive than can be answered.', options));
    }
  };

  const beginTurn = (now: number) => {
    turnBegan = now;
    setImmediate(endTurn);
  };

  const endTurn = () => {
    const now = performance.now();
    const tookMs = now - turnBegan;
    turnBegan = 0;
    if (waiting.length === 0) return;
    refuseLate(now);
    if (tookMs > TURN_MS) atOnce = Math.max(1, atOnce >> 1);
    else if (tookMs < TURN_MS / 2) atOnce = Math.min(MAX_AT_ONCE, atOnce * 2);
    beginTurn(now);
    const taken = waiting.slice(0, atOnce);
    waiting = waiting.slice(atOnce);
    for (const { take } of taken) take();
  };

  return {
    admit() {
      const now = performance.now();
      if (turnBegan === 0) beginTurn(now);
      if (waiting.length === 0 && now - turnBegan < TURN_MS) return undefined;
      return new Promise((take, refuse) => waiting.push({ since: now, take, refuse }));
    },
  };
}
