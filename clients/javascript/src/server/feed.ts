import type { Query } from '../path.ts';
import type { EventType, ParleyEvent } from '../webhooks/events.ts';

export interface EventQuery {
  /** Only events after this `sequence`. Without it, the first event is the oldest that is kept. */
  after?: number;
  types?: readonly EventType[];
  limit?: number;
  /** Adds `data.object`, the object as it is now. */
  expand?: boolean;
}

/** One page of the feed. */
export interface EventPage {
  data: ParleyEvent[];
  has_more: boolean;
  /** `after` of the next page, even after an empty one. */
  last: number;
  /** Number of the oldest event that is kept; without one, that of the next event. Absent from servers before 0.3. */
  oldest?: number;
  /** Number of the newest event; 0 before the first one. Absent from servers before 0.3. */
  newest?: number;
}

/** The feed: `for await` iterates over all events up to the newest and fetches pages on demand; `page()` returns only the first page. */
export interface Feed extends AsyncIterable<ParleyEvent> {
  page(): Promise<EventPage>;
}

/** Creates a feed from `fetchPage`, which receives the query with `after` of each page. */
export function createFeed(query: EventQuery, fetchPage: (query: Query) => Promise<EventPage>): Feed {
  const { types, ...rest } = query;
  const first: Query = { ...rest, types: types?.join() };
  return {
    page: () => fetchPage(first),
    async *[Symbol.asyncIterator]() {
      for (let next = first; ; ) {
        const { data, has_more, last } = await fetchPage(next);
        yield* data;
        if (!has_more) return;
        next = { ...first, after: last };
      }
    },
  };
}
