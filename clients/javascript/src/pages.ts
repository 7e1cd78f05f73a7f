import { unreadable } from './errors.ts';
import type { Query } from './path.ts';
import type { Reply } from './wire.ts';

/** One page of a list. */
export interface Page<Item> {
  data: Item[];
  has_more: boolean;
  next_cursor: string | null;
}

/** A list: `for await` iterates over all items and fetches pages on demand; `page()` returns only the first page. */
export interface List<Item> extends AsyncIterable<Item> {
  page(): Promise<Page<Item>>;
}

/** Returns the page in a reply. Throws `unreadable` for other content. */
export function readPage<Found extends { data: unknown[] }>({ json, status, headers }: Reply): Found {
  const page = json as Found | undefined;
  if (!Array.isArray(page?.data)) throw unreadable(status, headers);
  return page;
}

/** Creates a list from `fetchPage`, which receives the query with each page's cursor. */
export function createList<Item, Filter extends object>(
  query: Filter,
  fetchPage: (query: Query) => Promise<Page<Item>>,
): List<Item> {
  const first = { ...query } as Query;
  return {
    page: () => fetchPage(first),
    async *[Symbol.asyncIterator]() {
      for (let next = first; ; ) {
        const page = await fetchPage(next);
        yield* page.data;
        if (!page.has_more || page.next_cursor === null) return;
        next = { ...first, cursor: page.next_cursor };
      }
    },
  };
}
