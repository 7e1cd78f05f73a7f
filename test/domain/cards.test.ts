import { describe, expect, test } from 'vitest';
import { completeFrequency, type Frequency } from '../../src/domain/card-rules.ts';
import { type CardRecord, decideCards, isDue } from '../../src/domain/cards.ts';

const NOW = new Date('2026-11-21T12:00:00.000Z');
const DAY_MS = 86_400_000;
const daysAgo = (days: number) => new Date(NOW.getTime() - days * DAY_MS);
const frequency = (fields: Partial<Frequency> = {}) => completeFrequency(fields);
const candidate = (id: string, fields: Partial<Frequency> = {}) => ({ id, frequency: frequency(fields) });
const record = (question_id: string, fields: Partial<CardRecord> = {}): CardRecord => ({
  question_id,
  shown_at: daysAgo(1),
  dismissed_at: null,
  answered_at: null,
  ...fields,
});

describe('a card is due', () => {
  const SEEN = record('q');
  const DISMISSED = record('q', { dismissed_at: daysAgo(10) });
  const ANSWERED = record('q', { answered_at: daysAgo(400) });

  test.each([
    ['once', undefined, true],
    ['once', SEEN, false],
    ['once', DISMISSED, false],
    ['once', ANSWERED, false],
    ['until_answered', undefined, true],
    ['until_answered', SEEN, true],
    ['until_answered', DISMISSED, false],
    ['until_answered', ANSWERED, false],
    ['always', undefined, true],
    ['always', SEEN, true],
    ['always', DISMISSED, true],
    ['always', ANSWERED, true],
  ] as const)('under %s after %j: %s', (repeat, known, due) => {
    expect(isDue(candidate('q', { repeat }), known, NOW)).toBe(due);
  });

  test('again after the snooze of a dismissal, to the millisecond', () => {
    const snoozed = candidate('q', { snooze_after_dismiss_days: 10 });
    expect(isDue(snoozed, DISMISSED, NOW)).toBe(true);
    expect(isDue(snoozed, DISMISSED, new Date(NOW.getTime() - 1))).toBe(false);
  });

  test('immediately when dismissals are not snoozed', () => {
    const dismissed = record('q', { dismissed_at: NOW });
    expect(isDue(candidate('q', { snooze_after_dismiss_days: 0 }), dismissed, NOW)).toBe(true);
  });
});

describe('of the questions by priority an identity sees', () => {
  const decide = (
    candidates: ReturnType<typeof candidate>[],
    records: CardRecord[] = [],
    cooldownDays = 7,
    everIgnoring: string[] = [],
  ) => decideCards(candidates, records, new Set(everIgnoring), cooldownDays, NOW).map(({ id }) => id);

  test('the first under the cooldown, and all that ignore it', () => {
    const free = { ignore_cooldown: true };
    expect(decide([candidate('a'), candidate('b'), candidate('c', free), candidate('d', free)])).toEqual([
      'a',
      'c',
      'd',
    ]);
  });

  test('the next one when the first is not due', () => {
    const done = record('a', { shown_at: daysAgo(8), answered_at: daysAgo(8) });
    expect(decide([candidate('a'), candidate('b')], [done])).toEqual(['b']);
  });

  test('no question while another one was shown within the cooldown', () => {
    const done = record('a', { shown_at: daysAgo(6.99), answered_at: daysAgo(6.99) });
    expect(decide([candidate('a'), candidate('b')], [done])).toEqual([]);
    expect(decide([candidate('a'), candidate('b')], [{ ...done, shown_at: daysAgo(7) }])).toEqual(['b']);
  });

  test('the one that was shown, not one of higher priority, until it is answered', () => {
    expect(decide([candidate('a'), candidate('b')], [record('b')])).toEqual(['b']);
  });

  test('all others despite a question that ignores the cooldown', () => {
    expect(decide([candidate('a')], [record('free')], 7, ['free'])).toEqual(['a']);
  });

  test('all with a cooldown of zero days', () => {
    expect(decide([candidate('a'), candidate('b')], [record('c')], 0)).toEqual(['a']);
  });
});
