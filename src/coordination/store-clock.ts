/** The store's clock, as far as its replies have shown it. */
export interface StoreClock {
  /** The store's time in milliseconds; the local clock's until the store has replied once. */
  now(): number;
  isKnown(): boolean;
  /** Enters a time that the store reported in reply to a request sent and answered at these local times. */
  update(storeTime: number, sentAt: number, repliedAt: number): void;
}

/**
 * A clock that follows the store's, so that all processes name the same windows whatever their machines' clocks say.
 *
 * The local clock bridges the time between two replies. A reply within its own uncertainty, half of its round trip,
 * changes nothing: the time would otherwise jump to and fro at the border of a window.
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
