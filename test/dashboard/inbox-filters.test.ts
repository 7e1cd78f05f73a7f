import { expect, test } from 'vitest';
import { assigneeOf, isView, NO_FILTERS, queryOf, viewOf } from '../../dashboard/pages/inbox/filters.ts';

const ME = 'member_1';

test.each([
  ['', 'all', ''],
  [ME, 'mine', ''],
  ['none', 'unassigned', ''],
  ['member_2', 'all', 'member_2'],
])('the assignee filter %j is the view %s', (value, view, assignee) => {
  const chosen = viewOf(value, ME);
  expect(chosen).toEqual({ view, assignee });
  expect(assigneeOf(chosen.view, { ...NO_FILTERS, assignee: chosen.assignee }, ME)).toBe(value);
});

test('filters become the query of the list, without those that are not set', () => {
  const empty = { status: undefined, assignee: undefined, tag: undefined, unread: undefined, q: undefined };
  expect(queryOf('all', NO_FILTERS, ME)).toEqual({ ...empty, status: 'open' });
  expect(queryOf('all', { ...NO_FILTERS, status: 'any', tag: ' ', q: ' ' }, ME)).toEqual(empty);
  expect(queryOf('mine', { ...NO_FILTERS, tag: ' vip ', unread: true, q: 'late' }, ME)).toEqual({
    status: 'open',
    assignee: ME,
    tag: 'vip',
    unread: true,
    q: 'late',
  });
});

test('an id is no view', () => {
  expect(['all', 'mine', 'unassigned'].every(isView)).toBe(true);
  expect(isView('conversation_01h455vb4pex5vsknk084sn02q')).toBe(false);
  expect(isView(undefined)).toBe(false);
});
