import { describe, expect, test } from 'vitest';
import { createGroupQueue, type Queued } from '../../src/platform/group-queue.ts';

interface Item extends Queued {
  id: number;
}

/** A queue for groups of at most 3 items and 100 bytes, two at a time, 50 ms apart. */
const aQueue = () => createGroupQueue<Item>({ maxInFlight: 2, maxWeights: [3, 100], spacingMs: 50 });
const anItem = (id: number, bytes = 1, addedAt = 0): Item => ({ id, weights: [1, bytes], addedAt });
const idsOf = (items: Item[]) => items.map(({ id }) => id);

describe('the next group', () => {
  test('starts at once while no other is in progress, and never without items', () => {
    const queue = aQueue();
    expect(queue.delayMs(0, 0)).toBe(Number.POSITIVE_INFINITY);
    queue.add(anItem(1));
    expect(queue.delayMs(0, 0)).toBe(0);
    expect(idsOf(queue.take(0))).toEqual([1]);
    expect(queue.length).toBe(0);
    expect(queue.delayMs(0, 1000)).toBe(Number.POSITIVE_INFINITY);
  });

  test('waits for a group in progress if there are as many as allowed, even when it is full', () => {
    const queue = aQueue();
    for (const id of [1, 2, 3, 4]) queue.add(anItem(id));
    expect(queue.delayMs(2, 0)).toBe(Number.POSITIVE_INFINITY);
    expect(queue.delayMs(1, 0)).toBe(0);
  });

  test('waits for the spacing since the last start, unless it is full', () => {
    const queue = aQueue();
    queue.add(anItem(1));
    queue.take(1000);
    queue.add(anItem(2));
    expect(queue.delayMs(0, 1010)).toBe(40);
    expect(queue.delayMs(0, 1050)).toBe(0);
    expect(queue.delayMs(0, 2000)).toBe(0);
    for (const id of [3, 4, 5]) queue.add(anItem(id));
    expect(queue.delayMs(0, 1010)).toBe(0);
  });

  test('waits for a group in progress while it has fewer items than the last group', () => {
    const queue = aQueue();
    for (const id of [1, 2]) queue.add(anItem(id));
    queue.take(0);
    queue.add(anItem(3));
    expect(queue.delayMs(1, 1000)).toBe(Number.POSITIVE_INFINITY);
    expect(queue.delayMs(0, 1000)).toBe(0);
    queue.add(anItem(4));
    expect(queue.delayMs(1, 1000)).toBe(0);
  });

  test('has the first items that fit, by each weight, and a too heavy item forms its own', () => {
    const queue = aQueue();
    for (const [id, bytes] of [60, 60, 500, 1, 1, 1, 1].entries()) queue.add(anItem(id, bytes));
    const groups: number[][] = [];
    while (queue.length > 0) groups.push(idsOf(queue.take(0)));
    expect(groups).toEqual([[0], [1], [2], [3, 4, 5], [6]]);
  });

  test('is full by the weights of the waiting items only, not of those taken', () => {
    const queue = aQueue();
    for (const id of [1, 2, 3]) queue.add(anItem(id, 30));
    queue.take(0);
    queue.add(anItem(4, 60));
    expect(queue.delayMs(0, 10)).toBe(40);
    queue.add(anItem(5, 60));
    expect(queue.delayMs(0, 10)).toBe(0);
  });

  test('reports how long its first item has waited', () => {
    const queue = aQueue();
    expect(queue.waitedMs(500)).toBe(0);
    queue.add(anItem(1, 1, 100));
    queue.add(anItem(2, 1, 400));
    expect(queue.waitedMs(500)).toBe(400);
  });
});
