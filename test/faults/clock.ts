/**
 * A preload (`node --import`) that shifts the clock of a process by `CLOCK_SHIFT_MS`. With `CLOCK_STEPS_HZ`, the clock
 * also jumps back by a second and forth again at that frequency.
 *
 * Only `Date` is shifted. Timers and `performance.now` follow the monotonic clock, as when an operator or NTP sets the
 * clock of a machine.
 */
const shiftMs = Number(process.env.CLOCK_SHIFT_MS ?? 0);
const stepsHz = Number(process.env.CLOCK_STEPS_HZ ?? 0);
const RealDate = Date;

const now = (): number => {
  const steppedBack = stepsHz > 0 && Math.floor((performance.now() / 1000) * stepsHz * 2) % 2 === 1;
  return RealDate.now() + shiftMs - (steppedBack ? 1000 : 0);
};

class MovedDate extends RealDate {
  constructor(...args: unknown[]) {
    if (args.length === 0) super(now());
    else super(...(args as [number]));
  }

  static override now(): number {
    return now();
  }
}

globalThis.Date = MovedDate as DateConstructor;
