import { v7 } from 'uuid';
import { afterAll, describe, expect, test } from 'vitest';
import type { AcceptedAnswer } from '../../../src/domain/answers/answers.ts';
import { recordAnswers } from '../../../src/storage/answers/recording.ts';
import { makeCountedCard, partial } from '../../support/counted-card.ts';
import { createDatabase } from '../../support/database.ts';

const database = await createDatabase();
afterAll(() => database[Symbol.asyncDispose]());
const worker = database.storage('parley_worker');

const record = (...answers: AcceptedAnswer[]) => recordAnswers(worker, [{ flush: v7(), answers }]);

/** Awaits an action for each item in sequence. */
async function oneByOne<T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
  for (const item of items) await act(item);
}

const makeCard = () => makeCountedCard(database);

describe('of the answers to one card with periods', () => {
  test('one is counted in each period of `every_days`, which begins with a counted answer', async () => {
    const card = await makeCard();
    const { once_per_card: _, ...free } = card.answer();
    const onDay = (day: number, fields: Partial<AcceptedAnswer> = {}) => ({
      ...free,
      id: v7(),
      period_days: 30,
      received_at: new Date(Date.UTC(2026, 0, 1) + day * 86_400_000).toISOString(),
      ...fields,
    });
    const first = onDay(0, partial);
    const better = onDay(1);
    const repeated = onDay(29);
    const second = onDay(31, partial);
    await oneByOne([first, better, repeated], answer => record(answer));
    expect(await card.counted()).toEqual([better.id]);
    await record(second, onDay(32, partial), onDay(62), onDay(63)); // two periods in one batch
    expect(await card.counted()).toHaveLength(3);
    expect(await card.results()).toMatchObject({ seen: 4, partial: 1, completed: 2, scores: expect.anything() });
    await record({ ...second, revision: 2, state: 'completed', received_at: onDay(64).received_at });
    expect(await card.counted()).toHaveLength(3);
    const expected = await card.results();
    expect(expected).toMatchObject({ seen: 4, partial: 0, completed: 3 });
    await card.rebuild();
    expect(await card.results()).toEqual(expected);
  });

  test('of a period, the next one of the same period is counted when the counted one is deleted', async () => {
    const card = await makeCard();
    const { once_per_card: _, ...free } = card.answer();
    const onDay = (day: number) => ({
      ...free,
      id: v7(),
      period_days: 7,
      received_at: new Date(Date.UTC(2026, 0, 1) + day * 86_400_000).toISOString(),
    });
    const answers = [onDay(0), onDay(1), onDay(8), onDay(9)];
    await oneByOne(answers, answer => record(answer));
    expect(new Set(await card.counted())).toEqual(new Set([answers[0]?.id, answers[2]?.id]));
    await card.remove(answers[2]?.id as string);
    expect(new Set(await card.counted())).toEqual(new Set([answers[0]?.id, answers[3]?.id]));
    await card.remove(answers[3]?.id as string);
    expect(await card.counted()).toEqual([answers[0]?.id]);
    const expected = await card.results();
    await card.rebuild();
    expect(await card.results()).toEqual(expected);
  });
});
