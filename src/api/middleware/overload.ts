import { Problem, retrySoon } from '../../domain/problem.ts';
import type { Metrics } from '../../platform/metrics.ts';

/** A turn should be over by then: until its end nothing that arrives is looked at, and no probe is answered. */
const TURN_MS = 25;
/** The most requests that one turn takes up. More would leave their step's code as warm, and let the first wait longer. */
const MAX_AT_ONCE = 64;
/**
 * What a request with a body counts for. What is made for 64 of them is three times what a core's cache holds; and while
 * 32 wait until they are durable, the next 32 are worked on (docs/performance.md: some 8 % more syncs).
 */
const WITH_BODY = 2;
/** So many are not kept waiting for those who are still arriving: as many as go side by side with a body. */
const ENOUGH = MAX_AT_ONCE / WITH_BODY;
/** How much one turn teaches of how long its requests take: one that was long for another reason is soon forgotten. */
const LEARNT = 0.2;
/** Who has waited for so long is refused, unless few do: a reply in time tells more than a late one. */
const MAX_WAIT_MS = 500;
/** So many are never too many: their turn comes soon, and a turn may be long for other reasons. */
const FEW = 64;

/** Decides when requests are taken up, and which are too many. */
export interface Overload {
  /** Resolves when the turn of this request has come. Rejects with `service-overloaded`. */
  admit(hasBody: boolean): Promise<void>;
}

interface Waiting {
  since: number;
  weight: number;
  take(): void;
  refuse(problem: Problem): void;
}

/**
 * Takes up requests in turns of the event loop: those that arrived together go through every step side by side, at most
 * 64 of them, or 32 with a body; the others wait for the next turns, first come first served, and are refused after
 * 0.5 s when more than 64 are before them.
 *
 * Side by side is what makes them cheap. One by one, each would run the code of all steps through a processor's cache
 * that holds that of one; together, a step finds its code where the request before has left it, and the replies leave in
 * one go (docs/performance.md: a sync costs two thirds, a card fetch half). So while fewer than 32 wait and each look at the
 * network brings another, there is one more look; a lone request waits for no more than that one.
 *
 * The length of a turn is what everybody waits for, so each learns from those before how many it may take up. Requests
 * that wait for a store lengthen no turn: many slow reads refuse no answer. Refusing at once would be worse: the refused
 * come back at once, and to refuse them is work too.
 */
export function createOverload({ requestsShed }: Pick<Metrics, 'requestsShed'>): Overload {
  const waiting: Waiting[] = [];
  let isScheduled = false;
  let lastTurn = { beganAt: 0, weight: 0 };
  /** How many waited at the last look. */
  let seen = 0;
  /** How much of a turn one without a body takes, as the last turns taught. */
  let requestMs = TURN_MS / MAX_AT_ONCE;

  const learn = (now: number) => {
    const { beganAt, weight } = lastTurn;
    if (weight > 0) requestMs += LEARNT * ((now - beganAt) / weight - requestMs);
    lastTurn = { beganAt: now, weight: 0 };
  };

  const areArriving = (): boolean => {
    const more = waiting.length > seen;
    seen = waiting.length;
    return more && seen < ENOUGH;
  };

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

  /** Removes the first who wait, as many as a turn takes up. */
  const takeFirst = (): { taken: Waiting[]; weight: number } => {
    const atOnce = Math.min(MAX_AT_ONCE, Math.ceil(TURN_MS / requestMs));
    let count = 0;
    let weight = 0;
    for (; weight < atOnce && count < waiting.length; count++) weight += waiting[count]?.weight ?? 0;
    return { taken: waiting.splice(0, count), weight };
  };

  /** Takes up the first who wait. Runs once more after the last of them, to see how long that took. */
  const turn = () => {
    const now = performance.now();
    learn(now);
    if (areArriving()) {
      setImmediate(turn);
      return;
    }
    refuseLate(now);
    const { taken, weight } = takeFirst();
    seen = waiting.length;
    lastTurn = { beganAt: now, weight };
    isScheduled = taken.length > 0;
    if (isScheduled) setImmediate(turn);
    for (const { take } of taken) take();
  };

  return {
    admit: hasBody =>
      new Promise((take, refuse) => {
        waiting.push({ since: performance.now(), weight: hasBody ? WITH_BODY : 1, take, refuse });
        if (isScheduled) return;
        isScheduled = true;
        setImmediate(turn);
      }),
  };
}
