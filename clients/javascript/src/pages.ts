import type { Query } from './path.ts';

/** A part of a list as the API sends it. */
export interface Page<Item> {
  data: Item[];
  has_more: boolean;
  next_cursor: string | null;
}

/** A list: `for await` goes through all of it, page by page as needed; `page()` gives the first page alone. */
export interface List<Item> extends AsyncIterable<Item> {
  page(): Promise<Page<Item>>;
}

/** A list that is read by `fetchPage`, which gets the query with each page's cursor. */
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
