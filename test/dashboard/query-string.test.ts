import { expect, test } from 'vitest';
import { readQuery, writeQuery } from '../../dashboard/query-string.ts';

const DEFAULTS = { q: '', status: 'open', unread: false };

test.each([
  ['', { q: '', status: 'open', unread: false }],
  ['?q=a%26b+c&unread=true', { q: 'a&b c', status: 'open', unread: true }],
  ['?status=', { q: '', status: '', unread: false }],
  ['?q=100%2525', { q: '100%25', status: 'open', unread: false }],
  ['?other=1&unread=yes', { q: '', status: 'open', unread: false }],
])('%s is read', (search, state) => {
  expect(readQuery(search, DEFAULTS)).toEqual(state);
});

test('defaults are omitted, and other parameters are kept', () => {
  expect(writeQuery('?other=1&q=x', DEFAULTS, { q: '' })).toBe('?other=1');
  expect(writeQuery('?q=x', DEFAULTS, { q: '' })).toBe('');
  expect(writeQuery('', DEFAULTS, { status: '', unread: true })).toBe('?status=&unread=true');
});

test('a written state is read unchanged', () => {
  const state = { q: 'a&b=c #1 100%25 ä', status: '', unread: true };
  expect(readQuery(writeQuery('', DEFAULTS, state), DEFAULTS)).toEqual(state);
});
