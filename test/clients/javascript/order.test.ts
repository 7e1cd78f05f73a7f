import { expect, test } from 'vitest';
import { orderBy } from '../../../clients/javascript/src/feedback/order.ts';
import { contract } from '../contract.ts';

interface Shuffled {
  card: string;
  step: string;
  options: string[];
  order: string[];
}

test.each(contract('steps').shuffled)('step $step of $card has the order of every client', (shuffled: Shuffled) => {
  const { card, step, options, order } = shuffled;
  const items = options.map(id => ({ id }));
  expect(orderBy(card + step, items).map(({ id }) => id)).toEqual(order);
});

test('each option is equally often at each place, and the order of a seed is always the same', () => {
  const items = ['a', 'b', 'c', 'd'].map(id => ({ id }));
  const counts = new Map<string, number>();
  const rounds = 12_000;
  for (let round = 0; round < rounds; round++) {
    const seed = crypto.randomUUID();
    const order = orderBy(seed, items);
    expect(orderBy(seed, items.toReversed())).toEqual(order);
    for (const [place, { id }] of order.entries()) counts.set(id + place, (counts.get(id + place) ?? 0) + 1);
  }
  expect(counts.size).toBe(16);
  for (const count of counts.values()) {
    expect(count).toBeGreaterThan((rounds / 4) * 0.9);
    expect(count).toBeLessThan((rounds / 4) * 1.1);
  }
});
