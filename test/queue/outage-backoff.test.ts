import { describe, expect, test, vi } from 'vitest';
import { Problem } from '../../src/domain/problem.ts';
import { createOutageBackoff } from '../../src/queue/outage-backoff.ts';
import { waitFor } from '../support/wait.ts';

/** A store that is up or down, and the attempts to use it. */
function aStore() {
  const state = { isUp: true, tries: [] as string[] };
  const use = (name: string) => async () => {
    state.tries.push(name);
    if (!state.isUp) throw new Problem('database-unavailable', 'It is away.');
    return `done ${name}`;
  };
  return { state, use };
}

const outcomes = (promises: Promise<string>[]) =>
  Promise.allSettled(promises).then(ends => ends.map(end => (end.status === 'fulfilled' ? end.value : end.reason)));

describe('delayed work', () => {
  test('is retried in turn during an outage, not all at once, and completed afterwards', async () => {
    const { state, use } = aStore();
    const hold = createOutageBackoff();
    state.isUp = false;
    const names = ['a', 'b', 'c', 'd'];
    const done = outcomes(names.map(name => hold.run(use(name))));
    await waitFor(() => state.tries.length >= 7);
    expect(state.tries.slice(0, 7)).toEqual(['a', 'b', 'c', 'd', 'a', 'b', 'c']);
    state.isUp = true;
    expect(await done).toEqual(names.map(name => `done ${name}`));
  });

  test('continues within a second of the end of a long outage', async () => {
    vi.useFakeTimers();
    try {
      const { state, use } = aStore();
      const hold = createOutageBackoff();
      state.isUp = false;
      const done = outcomes(['a', 'b'].map(name => hold.run(use(name))));
      await vi.advanceTimersByTimeAsync(60_000); // the backoff has reached its maximum
      state.isUp = true;
      await vi.advanceTimersByTimeAsync(1000);
      expect(await done).toEqual(['done a', 'done b']);
    } finally {
      vi.useRealTimers();
    }
  });

  test('fails with the outage when it is released, without another attempt', async () => {
    const { state, use } = aStore();
    const hold = createOutageBackoff();
    state.isUp = false;
    const done = outcomes(['a', 'b'].map(name => hold.run(use(name))));
    await waitFor(() => state.tries.length >= 3);
    const tries = state.tries.length;
    hold.release();
    expect(await done).toEqual([
      expect.objectContaining({ code: 'database-unavailable' }),
      expect.objectContaining({ code: 'database-unavailable' }),
    ]);
    expect(state.tries).toHaveLength(tries);
  });

  test('fails if it keeps failing while other work succeeds', async () => {
    const { use } = aStore();
    const hold = createOutageBackoff();
    let refused = 0;
    const unlucky = hold.run(async () => {
      refused++;
      throw new Problem('database-unavailable', 'It refuses this and nothing else.');
    });
    const end = expect(unlucky).rejects.toMatchObject({ code: 'database-unavailable' });
    let over = false;
    void unlucky.catch(() => {
      over = true;
    });
    await waitFor(async () => {
      await hold.run(use('other')); // each success ends the outage
      return over;
    });
    await end;
    expect(refused).toBeGreaterThan(1);
    expect(refused).toBeLessThan(13); // five ends with at most two attempts each
  });

  test('fails if another worker has it by now, attempted or not, without delaying others', async () => {
    const { state, use } = aStore();
    const hold = createOutageBackoff();
    state.isUp = false;
    let isLost = false;
    const done = outcomes([hold.run(use('tried'), () => isLost)]);
    await waitFor(() => state.tries.length === 1);
    const waiting = outcomes([hold.run(use('waits'), () => isLost), hold.run(use('other'))]);
    isLost = true;
    const tries = state.tries.filter(name => name === 'tried').length;
    expect(await done).toEqual([expect.objectContaining({ message: 'Another worker has taken over the job.' })]);
    state.isUp = true;
    expect(await waiting).toEqual([expect.objectContaining({ code: 'queue-unavailable' }), 'done other']);
    expect(state.tries.filter(name => name === 'tried')).toHaveLength(tries);
    expect(state.tries).not.toContain('waits');
  });

  test('is not delayed after another kind of failure, and does not delay others', async () => {
    const { state, use } = aStore();
    const hold = createOutageBackoff();
    state.isUp = false;
    const other = hold.run(use('other'));
    await waitFor(() => state.tries.length === 1);
    await expect(hold.run(() => Promise.reject(new TypeError('a bug')))).rejects.toThrow('a bug');
    state.isUp = true;
    expect(await other).toBe('done other');
  });
});
