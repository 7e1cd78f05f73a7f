import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * A preload (`node --import`) that advances the clock of a process and reads its memory on request of its parent.
 *
 * Only `Date` is shifted, as in test/faults/clock.ts: between two leaps time passes normally, so that timeouts and
 * measured durations are real.
 */
export type SoakRequest = { leapMs: number } | { read: 'memory' };

/** Memory in bytes; the heap after garbage collection. */
export interface SoakMemory {
  heap: number;
  rss: number;
}

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;
const RealDate = Date;
let shiftMs = 0;

class ShiftedDate extends RealDate {
  constructor(...args: unknown[]) {
    if (args.length === 0) super(RealDate.now() + shiftMs);
    else super(...(args as [number]));
  }

  static override now(): number {
    return RealDate.now() + shiftMs;
  }
}

globalThis.Date = ShiftedDate as DateConstructor;

process.on('message', (request: SoakRequest) => {
  if ('leapMs' in request) shiftMs += request.leapMs;
  else {
    gc();
    gc();
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  process.send?.({ heap: heapUsed + external, rss } satisfies SoakMemory);
});
process.once('disconnect', () => process.exit(1)); // the parent process has ended
process.channel?.unref();
