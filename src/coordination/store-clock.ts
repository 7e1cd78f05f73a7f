/** The store's clock, estimated from its replies. */
export interface StoreClock {
  /** The store's time in milliseconds; local time until the store's first reply. */
  now(): number;
  isKnown(): boolean;
  /** Adjusts the clock by a time that the store reported, with the local times of request and reply. */
  update(storeTime: number, sentAt: number, repliedAt: number): void;
}

/**
 * A clock that follows the store's, so that all processes use the same windows whatever their machines' clocks are.
 *
 * The local clock bridges the time between replies. A reply within its own uncertainty (half its round trip) is
 * ignored; otherwise the time would jump back and forth at the edge of a window.
 */
export function createStoreClock(local: () => number): StoreClock {
  let offset: number | undefined;
  return {
    now: () => local() + (offset ?? 0),
    isKnown: () => offset !== undefined,
    update(storeTime, sentAt, repliedAt) {
      const measured = storeTime - (sentAt + repliedAt) / 2;
      const uncertainty = (repliedAt - sentAt) / 2 + 1;
      if (offset === undefined || Math.abs(measured - offset) > uncertainty) offset = measured;
    },
  };
}
