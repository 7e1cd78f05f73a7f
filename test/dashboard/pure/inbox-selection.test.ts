import { expect, test } from 'vitest';
import { rangeOf, toggled } from '../../../dashboard/pages/inbox/selection.ts';

const IDS = ['a', 'b', 'c', 'd', 'e'];

test('a range has both ends, in the order of the list', () => {
  expect(rangeOf(IDS, 'b', 'd')).toEqual(['b', 'c', 'd']);
  expect(rangeOf(IDS, 'd', 'b')).toEqual(['b', 'c', 'd']);
  expect(rangeOf(IDS, 'b', 'b')).toEqual(['b']);
});

test('a range from an item that left the list is only its end', () => {
  expect(rangeOf(IDS, 'gone', 'c')).toEqual(['c']);
  expect(rangeOf(IDS, undefined, 'c')).toEqual(['c']);
});

test('an item is selected and deselected, and the others stay', () => {
  const one = toggled(new Set(['a']), IDS, { id: 'c', anchor: undefined });
  expect([...one]).toEqual(['a', 'c']);
  expect([...toggled(one, IDS, { id: 'a', anchor: undefined })]).toEqual(['c']);
});

test('a range adds to the selection', () => {
  const range = toggled(new Set(['a', 'c']), IDS, { id: 'e', anchor: 'c' });
  expect([...range].sort()).toEqual(['a', 'c', 'd', 'e']);
});
