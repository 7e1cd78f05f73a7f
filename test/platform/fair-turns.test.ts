import { describe, expect, test } from 'vitest';
import { createFairTurns, type TurnLimits } from '../../src/platform/fair-turns.ts';

const turnsOf = (limits: Partial<TurnLimits> = {}) =>
  createFairTurns<string>({ slots: 2, perKey: 1, maxWaitingPerKey: 3, maxWaiting: 4, ...limits });

describe('slots assigned in turn', () => {
  test('are free for a key up to its own limit and the limit of all', () => {
    const turns = turnsOf();
    expect([turns.start('a'), turns.start('a'), turns.start('b'), turns.start('c')]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    turns.end('a');
    expect([turns.start('b'), turns.start('c')]).toEqual([false, true]);
    expect(turns.count()).toEqual({ running: 2, waiting: 0 });
  });

  test('are not taken past callers of the same key that wait', () => {
    const turns = turnsOf();
    turns.start('a');
    turns.wait('a', 'first');
    turns.end('a');
    expect(turns.start('a')).toBe(false);
    expect(turns.next()).toEqual({ key: 'a', caller: 'first' });
    turns.end('a');
    expect(turns.start('a')).toBe(true);
  });

  test('go to one caller of each key before the next of the first', () => {
    const turns = turnsOf({ slots: 1 });
    for (const caller of ['a1', 'a2', 'b1', 'c1']) turns.wait(caller[0] as string, caller);
    const order = Array.from({ length: 4 }, () => {
      const next = turns.next();
      expect(turns.next()).toBeUndefined(); // the only slot is taken
      turns.end(next?.key as string);
      return next?.caller;
    });
    expect(order).toEqual(['a1', 'b1', 'c1', 'a2']);
    expect(turns.next()).toBeUndefined();
    expect(turns.count()).toEqual({ running: 0, waiting: 0 });
  });

  test('skip a key that has all of its slots', () => {
    const turns = turnsOf();
    turns.start('a');
    turns.wait('a', 'a2');
    turns.wait('b', 'b1');
    expect([turns.next(), turns.next()]).toEqual([{ key: 'b', caller: 'b1' }, undefined]);
  });

  test('go to the priority key first, beyond the limit of one key', () => {
    const turns = turnsOf({ slots: 3, priorityKey: 'first' });
    turns.start('first');
    turns.wait('a', 'a1');
    turns.wait('first', 'f2');
    expect([turns.next()?.caller, turns.next()?.caller]).toEqual(['f2', 'a1']);
    turns.wait('first', 'f3');
    expect(turns.next()).toBeUndefined();
  });

  test('are not waited for by too many callers of a key, or in total', () => {
    const turns = turnsOf();
    for (const caller of ['a1', 'a2', 'a3']) turns.wait('a', caller);
    expect([turns.mayWait('a'), turns.mayWait('b')]).toEqual([false, true]);
    turns.wait('b', 'b1');
    expect(turns.mayWait('c')).toBe(false);
    turns.leave('a', 'a2');
    expect([turns.mayWait('a'), turns.mayWait('c')]).toEqual([true, true]);
  });

  test('are not assigned to a caller that left, whose place in the queue others keep', () => {
    const turns = turnsOf({ perKey: 2 });
    for (const caller of ['a1', 'a2', 'a3']) turns.wait('a', caller);
    turns.leave('a', 'a2');
    turns.leave('a', 'a2'); // no effect
    turns.leave('b', 'a1');
    expect([turns.next()?.caller, turns.next()?.caller]).toEqual(['a1', 'a3']);
    expect(turns.count()).toEqual({ running: 2, waiting: 0 });
  });
});
