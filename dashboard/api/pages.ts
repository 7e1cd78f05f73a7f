/** A page of a list. */
export interface Page<Item> {
  data: Item[];
  next_cursor: string | null;
  /** Set in a page that ends early: the time back to which the list was searched. */
  searched_to?: string;
}

type Identified = { id?: string };

const keyOf = (item: unknown): unknown => (item as Identified).id ?? item;

/**
 * Merges a new first page into the pages fetched so far, so that an update costs one request however many pages are shown.
 *
 * Items that new ones pushed off the first page move to the second. Items that left the list, because they were deleted
 * or no longer match, disappear. If the first page shares no item with the old one, the older pages are dropped: there
 * may be a gap between them.
 */
export function mergeFirstPage<Item>(pages: readonly Page<Item>[], first: Page<Item>): Page<Item>[] {
  const [oldFirst, ...rest] = pages;
  if (!oldFirst || rest.length === 0 || first.next_cursor === null) return [first];
  const known = new Set(first.data.map(keyOf));
  const lastShared = oldFirst.data.findLastIndex(item => known.has(keyOf(item)));
  if (lastShared < 0 && oldFirst.data.length > 0 && first.data.length > 0) return [first];
  const pushed = oldFirst.data.slice(lastShared + 1);
  const isOlder = (item: Item) => !known.has(keyOf(item));
  return [
    first,
    ...rest.map((page, at) => ({
      ...page,
      data: [...(at === 0 ? pushed : []), ...page.data].filter(isOlder),
    })),
  ];
}

/** Replaces the item with this id in each page; returns the same pages without a match. */
export function replaceItem<Item>(pages: Page<Item>[], id: string, change: (item: Item) => Item): Page<Item>[] {
  const has = ({ data }: Page<Item>) => data.some(item => keyOf(item) === id);
  if (!pages.some(has)) return pages;
  return pages.map(page =>
    has(page) ? { ...page, data: page.data.map(item => (keyOf(item) === id ? change(item) : item)) } : page,
  );
}

/** Removes the item with this id from each page. */
export const removeItem = <Item>(pages: Page<Item>[], id: string): Page<Item>[] =>
  pages.map(page => ({ ...page, data: page.data.filter(item => keyOf(item) !== id) }));
