import { describe, expect, test } from 'vitest';
import { mergeFirstPage, type Page, removeItem, replaceItem } from '../../dashboard/api/pages.ts';

interface Row {
  id: string;
  text?: string;
}
const page = (ids: string, next_cursor: string | null = 'next'): Page<Row> => ({
  data: [...ids].map(id => ({ id })),
  next_cursor,
});
const idsOf = (pages: Page<Row>[]) => pages.map(({ data }) => data.map(({ id }) => id).join(''));

describe('a new first page', () => {
  test.each([
    ['is the list if there was none', [], page('ab'), ['ab']],
    ['replaces a single page', [page('ab', null)], page('b', null), ['b']],
    ['pushes items to the second page', [page('abc'), page('de', null)], page('xyab'), ['xyab', 'cde']],
    ['drops items that left the list', [page('abc'), page('de', null)], page('xac'), ['xac', 'de']],
    ['takes an item that moved up from an older page', [page('abc'), page('de', null)], page('eab'), ['eab', 'cd']],
    ['is the list if it is complete', [page('abc'), page('de', null)], page('ab', null), ['ab']],
    ['drops older pages after a gap', [page('abc'), page('de', null)], page('uvw'), ['uvw']],
    ['keeps the pages of a sparse search', [page(''), page('de', null)], page(''), ['', 'de']],
    ['keeps older pages if all of its items left', [page('ab'), page('de', null)], page(''), ['', 'abde']],
  ])('%s', (_, pages, first, expected) => {
    expect(idsOf(mergeFirstPage(pages, first))).toEqual(expected);
  });

  test('continues at the cursor of the last page', () => {
    const merged = mergeFirstPage([page('ab', 'one'), page('cd', 'two')], page('xab', 'three'));
    expect(merged.at(-1)?.next_cursor).toBe('two');
  });
});

test('an item is replaced in its page only, and other pages keep their identity', () => {
  const pages = [page('ab'), page('cd', null)];
  const changed = replaceItem(pages, 'c', row => ({ ...row, text: 'new' }));
  expect(changed[0]).toBe(pages[0]);
  expect(changed[1]?.data).toEqual([{ id: 'c', text: 'new' }, { id: 'd' }]);
  expect(replaceItem(pages, 'z', row => row)).toBe(pages);
});

test('an item is removed', () => {
  expect(idsOf(removeItem([page('ab'), page('cd', null)], 'b'))).toEqual(['a', 'cd']);
});
