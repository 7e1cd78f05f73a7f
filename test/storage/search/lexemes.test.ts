import { v7 } from 'uuid';
import { afterEach, expect, test, vi } from 'vitest';
import { DAY_MS } from '../../../src/domain/durations.ts';
import { toTsquery, toTsvector, UNMARKED_TEXTS } from '../../../src/storage/search/lexemes.ts';

const WEEK_MS = 7 * DAY_MS;
afterEach(() => void vi.useRealTimers());

/** The ends of the words of a tenant's next texts. */
const endingsOf = (tenantId: string, texts: number): string[] =>
  Array.from(
    { length: texts },
    () => /^'.{4}word(?<ending>.*)'$/.exec(toTsvector(tenantId, 'Word') ?? '')?.groups?.ending ?? 'none',
  );

test('words of a tenant with many texts end with a mark of the week, from a number of texts on', () => {
  const [busy, quiet] = [v7(), v7()];
  const marks = [0, 1, 51, 52, 53].map(weeks => {
    vi.setSystemTime(weeks * WEEK_MS);
    expect(new Set(endingsOf(busy, UNMARKED_TEXTS))).toEqual(new Set(['']));
    expect(endingsOf(quiet, 1)).toEqual(['']);
    const [mark, next] = endingsOf(busy, 2);
    expect(next).toBe(mark);
    return mark;
  });
  expect(marks).toEqual(['AA', 'AB', 'BZ', 'AA', 'AB']);
});

test('a search is the beginning of all forms of a word', () => {
  const tenantId = v7();
  const beginnings = [...toTsquery(tenantId, ['word', 'ward']).matchAll(/'(?<beginning>[^']+)':\*/g)];
  const [word] = beginnings.map(({ groups }) => groups?.beginning ?? '');
  for (const text of Array.from({ length: UNMARKED_TEXTS + 1 }, () => toTsvector(tenantId, 'Wording')))
    expect(text?.slice(1)).toMatch(new RegExp(`^${word}`));
});
