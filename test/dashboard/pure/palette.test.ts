import { expect, test } from 'vitest';
import { matching, type Place, stepped } from '../../../dashboard/components/palette/places.ts';

const place = (label: string): Place => ({ id: label, label, hint: '', href: '/' });
const PLACES = ['Inbox', 'Settings', 'New question', 'Questions', 'Übersicht'].map(place);
const found = (search: string) => matching(PLACES, search).map(({ label }) => label);

test.each([
  ['', ['Inbox', 'Settings', 'New question', 'Questions', 'Übersicht']],
  ['quest', ['Questions', 'New question']],
  ['question new', ['New question']],
  ['uber', ['Übersicht']],
  ['IN', ['Inbox', 'Settings']],
  ['nowhere', []],
])('the search "%s" finds %j', (search, labels) => {
  expect(found(search)).toEqual(labels);
});

test('the arrow keys go round', () => {
  expect([stepped(0, -1, 3), stepped(2, 1, 3), stepped(1, 1, 3), stepped(0, 1, 0)]).toEqual([2, 0, 2, 0]);
});
