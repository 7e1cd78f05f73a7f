import { describe, expect, test } from 'vitest';
import { createRateCounters, type Delta } from '../../src/coordination/rate-counters.ts';
import { createReconciler } from '../../src/coordination/rate-reconciler.ts';

const LIMIT = { scope: 'identity', limit: 100, windowSeconds: 60 };

interface Batch {
  units: Record<string, number>;
  confirm(...totals: number[]): Promise<void>;
  fail(): Promise<void>;
}

const settle = () => new Promise(resolve => setImmediate(resolve));

/** A reconciler whose store replies when the test lets it. */
function createProcess() {
  const batches: Batch[] = [];
  const failures: string[] = [];
  const timers = new Set<() => void>();
  const counters = createRateCounters({ now: () => 0, mayWait: () => reconciler.isReachable() });
  const add = (deltas: Delta[]) =>
    new Promise<number[]>((resolve, reject) => {
      const units = Object.fromEntries(deltas.map(({ counter, count }) => [counter.key, count]));
      const end = async (act: () => void) => {
        act();
        await settle();
      };
      batches.push({
        units,
        confirm: (...totals) => end(() => resolve(totals)),
        fail: () => end(() => reject(new Error('store is down'))),
      });
    });
  const reconciler = createReconciler({
    counters,
    add,
    onFailure: error => failures.push(error.message),
    after(_, run) {
      timers.add(run);
      return () => void timers.delete(run);
    },
  });
  const consume = (key: string, cost: number) => {
    const verdict = counters.consume(LIMIT, key, cost);
    if (!('settled' in verdict)) return verdict;
    void reconciler.reconcile(false);
    return verdict.settled;
  };
  const runTimers = () => {
    for (const run of timers) run();
  };
  return { batches, failures, timers, reconciler, consume, runTimers };
}

/** A process whose store has replied once. */
async function createConnected() {
  const process = createProcess();
  void process.reconciler.reconcile(true);
  await process.batches[0]?.confirm();
  process.batches.length = 0;
  return process;
}

describe('batches to the store', () => {
  test('fetch its time while it is unreachable, and are not sent without units once it is reachable', async () => {
    const { batches, reconciler } = createProcess();
    expect(reconciler.isReachable()).toBe(false);
    void reconciler.reconcile(true);
    expect(batches).toMatchObject([{ units: {} }]);
    await batches[0]?.confirm();
    expect(reconciler.isReachable()).toBe(true);
    await reconciler.reconcile(true);
    expect(batches).toHaveLength(1);
  });

  test('are sent one at a time; units counted during one go with the next, which follows at once', async () => {
    const { batches, consume } = await createConnected();
    const first = consume('a', 11);
    const second = consume('a', 12);
    consume('b', 13);
    expect(batches.map(({ units }) => units)).toEqual([{ a: 11 }]);
    await batches[0]?.confirm(11);
    expect(await first).toMatchObject({ allowed: true, remaining: 89 });
    expect(batches.map(({ units }) => units)).toEqual([{ a: 11 }, { a: 12, b: 13 }]);
    await batches[1]?.confirm(95, 13);
    expect(await second).toMatchObject({ allowed: true, remaining: 5 });
    expect(batches).toHaveLength(2);
  });

  test('of all counters are sent although smaller ones follow one another', async () => {
    const { batches, consume, reconciler } = await createConnected();
    consume('waits', 11);
    consume('far', 1); // decided from memory, and sent only with all counters
    void reconciler.reconcile(true);
    consume('waits', 11);
    await batches[0]?.confirm(11);
    expect(batches[1]?.units).toEqual({ far: 1, waits: 11 });
  });

  test('that take too long let this process decide by its own count, and their totals count later', async () => {
    const { batches, consume, reconciler, runTimers } = await createConnected();
    const first = consume('a', 20);
    const behind = consume('a', 20);
    runTimers();
    expect(await first).toMatchObject({ allowed: true, remaining: 80 });
    expect(await behind).toMatchObject({ allowed: true, remaining: 60 });
    expect(reconciler.isReachable()).toBe(false);
    expect(await consume('a', 20)).toMatchObject({ allowed: true, remaining: 40 }); // does not wait
    await batches[0]?.confirm(50);
    expect(reconciler.isReachable()).toBe(true);
    expect(batches[1]?.units).toEqual({ a: 40 });
    await batches[1]?.confirm(90);
    const last = consume('a', 11);
    await batches[2]?.confirm(101);
    expect(await last).toMatchObject({ allowed: false });
  });

  test('that fail are decided by its own count, and sent again once with the units counted meanwhile', async () => {
    const { batches, failures, consume, reconciler, timers } = await createConnected();
    const first = consume('a', 20);
    await batches[0]?.fail();
    expect(await first).toMatchObject({ allowed: true, remaining: 80 });
    expect([failures, reconciler.isReachable(), timers.size]).toEqual([['store is down'], false, 0]);
    await consume('a', 5);
    void reconciler.reconcile(true);
    expect(batches.slice(1).map(({ units }) => units)).toEqual([{ a: 25 }]);
    await batches[1]?.confirm(25);
    await reconciler.reconcile(true);
    expect(batches).toHaveLength(2);
  });

  test('that fail are sent again without further requests', async () => {
    const { batches, consume, reconciler } = await createConnected();
    const verdict = consume('a', 20);
    await batches[0]?.fail();
    await verdict;
    void reconciler.reconcile(true);
    expect(batches[1]?.units).toEqual({ a: 20 });
  });

  test('end when it is closed, and requests that wait are decided', async () => {
    const { batches, consume, reconciler } = await createConnected();
    const first = consume('a', 11);
    const second = consume('b', 60); // from half the limit on, every batch contains the counter
    reconciler.close();
    expect(await second).toMatchObject({ allowed: true });
    await batches[0]?.confirm(11);
    expect(await first).toMatchObject({ allowed: true });
    expect(batches).toHaveLength(1);
  });
});
