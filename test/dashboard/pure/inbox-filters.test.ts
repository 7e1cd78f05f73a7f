import { expect, test } from 'vitest';
import {
  assigneeOf,
  countFurther,
  filterOf,
  filtersOf,
  isBuiltIn,
  isView,
  NO_FILTERS,
  queryOf,
  viewOf,
} from '../../../dashboard/pages/inbox/filters.ts';

const ME = 'member_1';
const VIEW = 'view_01h455vb4pex5vsknk084sn02q';

test.each([
  ['', 'all', ''],
  [ME, 'mine', ''],
  ['none', 'unassigned', ''],
  ['member_2', 'all', 'member_2'],
])('the assignee filter %j is the view %s', (value, view, assignee) => {
  const chosen = viewOf('all', value, ME);
  expect(chosen).toEqual({ view, assignee });
  expect(assigneeOf(chosen.view, { ...NO_FILTERS, assignee: chosen.assignee }, ME)).toBe(value);
});

test.each(['mentions', VIEW] as const)('in the view %s, the assignee is a filter', view => {
  expect(viewOf(view, 'none', ME)).toEqual({ view, assignee: 'none' });
  expect(filterOf(view, { ...NO_FILTERS, assignee: 'none' }, ME)).toMatchObject({ assignee: 'none' });
});

test('filters become the query of the list, without those that are not set', () => {
  expect(queryOf('all', NO_FILTERS, ME)).toEqual({ status: 'open' });
  expect(queryOf('all', { ...NO_FILTERS, status: 'any', tag: ' ', q: ' ' }, ME)).toEqual({});
  expect(queryOf('mine', { ...NO_FILTERS, tag: ' vip ', unread: 'true', q: 'late', sort: 'created_at' }, ME)).toEqual({
    status: 'open',
    assignee: ME,
    tag: 'vip',
    unread: true,
    q: 'late',
    sort: 'created_at',
  });
  expect(queryOf('mentions', NO_FILTERS, ME)).toEqual({ status: 'open', mentioned: true });
});

test('a saved view becomes filters, and the filters become the view again', () => {
  const saved = {
    filter: { assignee: 'none', unread: false, overdue: true, tag: 'vip', priority: 'high', identity: 'user|1' },
    sort: 'reply_due_at',
  } as const;
  const filters = filtersOf(saved);
  expect(filters).toMatchObject({
    status: 'any',
    unread: 'false',
    overdue: 'true',
    mentioned: '',
    sort: 'reply_due_at',
  });
  expect({ filter: filterOf(VIEW, filters, ME), sort: filters.sort }).toEqual(saved);
  expect(countFurther(filters)).toBe(5);
  expect(countFurther(NO_FILTERS)).toBe(0);
});

test('an id of a conversation is no view', () => {
  expect(['all', 'mine', 'unassigned', 'mentions', VIEW].every(isView)).toBe(true);
  expect(isBuiltIn(VIEW)).toBe(false);
  expect(isView('conversation_01h455vb4pex5vsknk084sn02q')).toBe(false);
  expect(isView(undefined)).toBe(false);
});
