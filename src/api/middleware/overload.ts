import { Problem } from '../../domain/problem.ts';
import type { Metrics } from '../../platform/metrics.ts';

/** For how long one turn of the event loop may take up requests. */
const TURN_MS = 200;
/** So many requests at once are never too many: a turn may be long for other reasons. */
const LEAST_IN_FLIGHT = 100;

/** Keeps a process that gets more requests than it can answer from answering all of them late. */
export interface Overload {
  /** Throws `service-overloaded` when this request is one too many. */
  check(): void;
}

/**
 * Refuses what arrives after one turn of the event loop has taken up requests for 0.2 s, unless few are under way.
 *
 * A turn reads whatever has arrived, and nothing else happens until its end: no reply is sent, no probe is answered. So
 * its length is what every request waits for, whatever the machine and the requests are like. Requests that wait for a
 * store lengthen no turn, so that many slow reads refuse no answer.
 */
export function createOverload({ inFlight, requestsShed }: Pick<Metrics, 'inFlight' | 'requestsShed'>): Overload {
  let turnBegan = 0;
  const endTurn = () => {
    turnBegan = 0;
  };
  return {
    check() {
      const now = performance.now();
      if (turnBegan === 0) {
        turnBegan = now;
        setImmediate(endTurn);
      }
      if (now - turnBegan < TURN_MS || inFlight.requests <= LEAST_IN_FLIGHT) return;
      requestsShed.inc();
      throw new Problem('service-overloaded', 'More requests arrive than can be answered.', {
        retryAfterSeconds: 1 + Math.floor(Math.random() * 5),
      });
    },
  };
}
