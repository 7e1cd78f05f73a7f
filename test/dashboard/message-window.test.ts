import { expect, test } from 'vitest';
import { topOf, windowAt, windowAtEnd } from '../../dashboard/pages/inbox/message-window.ts';

const ids = Array.from({ length: 2600 }, (_, index) => `m${index}`);
const heights = new Map(ids.map(id => [id, 50]));

test('a long thread renders only the rows around the visible part', () => {
  const middle = windowAt(ids, heights, { top: 50_000, height: 800 });
  expect(middle.start).toBeLessThanOrEqual(1000);
  expect(middle.end).toBeGreaterThanOrEqual(1016);
  expect(middle.end - middle.start).toBeLessThan(60);
  expect(middle.before).toBe(middle.start * 50);
  expect(middle.after).toBe((2600 - middle.end) * 50);
});

test('the end of a thread is rendered without space after it', () => {
  const end = windowAtEnd(ids, heights, 800);
  expect([end.end, end.after]).toEqual([2600, 0]);
  expect(end.end - end.start).toBeGreaterThan(16);
});

test('rows that were not measured have an estimated height, and an empty list no rows', () => {
  const unmeasured = windowAt(ids, new Map(), { top: 0, height: 800 });
  expect(unmeasured.start).toBe(0);
  expect(unmeasured.after).toBeGreaterThan(100_000);
  expect(windowAt([], heights, { top: 0, height: 800 })).toEqual({ start: 0, end: 0, before: 0, after: 0 });
});

test('a message keeps its place when others are added before it', () => {
  const anchor = { id: 'm1000', offset: -20 };
  expect(topOf(ids, heights, anchor)).toBe(50_020);
  const older = Array.from({ length: 100 }, (_, index) => `older${index}`);
  const top = topOf([...older, ...ids], heights, anchor) as number;
  const { start, end } = windowAt([...older, ...ids], heights, { top, height: 800 });
  expect([...older, ...ids].slice(start, end)).toContain('m1000');
  expect(topOf(ids, heights, { id: 'gone', offset: 0 })).toBeUndefined();
});
