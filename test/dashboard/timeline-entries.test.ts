import { describe, expect, test } from 'vitest';
import { type Entry, mergeSources, type Source } from '../../dashboard/pages/people/timeline-entries.ts';

const entry = (hour: number): Entry => ({ kind: 'first-seen', at: new Date(Date.UTC(2026, 0, 1, hour)).toISOString() });
const source = (hours: number[], rest: Omit<Partial<Source>, 'entries'> = {}): Source => ({
  entries: hours.map(entry),
  hasMore: false,
  ...rest,
});
const merged = (...sources: Source[]) => {
  const { entries, bounding } = mergeSources(sources);
  return { hours: entries.map(({ at }) => new Date(at).getUTCHours()), bounding };
};

describe('a timeline', () => {
  test.each([
    ['merges complete sources, newest first', [source([9, 5, 1]), source([7, 3])], [9, 7, 5, 3, 1], []],
    [
      'hides entries that unknown ones could precede',
      [source([9, 5], { hasMore: true }), source([7, 3])],
      [9, 7, 5],
      [0],
    ],
    [
      'is bounded by the source that reaches back least',
      [source([9, 5], { hasMore: true }), source([8, 7], { hasMore: true })],
      [9, 8, 7],
      [1],
    ],
    [
      'reaches as far as a sparse list was searched',
      [source([9], { hasMore: true, searchedTo: entry(4).at }), source([7, 3])],
      [9, 7],
      [0],
    ],
    ['shows nothing before a source with more has a page', [source([], { hasMore: true }), source([7])], [], [0]],
    ['is empty without entries', [source([]), source([])], [], []],
  ] satisfies [string, Source[], number[], number[]][])('%s', (_, sources, hours, bounding) => {
    expect(merged(...sources)).toEqual({ hours, bounding });
  });
});
