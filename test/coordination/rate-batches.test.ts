import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createRateLimits } from '../../src/coordination/rate-limits.ts';
import type { StoreDelta } from '../../src/coordination/rate-stores.ts';

const LIMIT = { scope: 'identity', limit: 100, windowSeconds: 60 };
/** How far the store's clock is ahead. */
const STORE_TIME = 1_000_000;

interface Batch {
  /** The units of each counter. */
  units: number[];
  confirm(...totals: number[]): Promise<void>;
  fail(): Promise<void>;
}

const settle = () => new Promise(resolve => setImmediate(resolve));

/** A process whose store replies when the test lets it. Time passes by `vi.advanceTimersByTime`. */
function createProcess() {
  const batches: Batch[] = [];
  const failures: string[] = [];
  const add = (deltas: StoreDelta[]) =>
    new Promise<{ totals: number[]; time: number }>((resolve, reject) => {
      const time = STORE_TIME + Date.now();
      const end = async (act: () => void) => {
        act();
        await settle();
      };
      batches.push({
        units: deltas.map(({ count }) => count),
        confirm: (...totals) => end(() => resolve({ totals, time })),
        fail: () => end(() => reject(new Error('store is down'))),
      });
    });
  const limits = createRateLimits({ add, close: async () => undefined }, error => failures.push(error.message), {
    now: Date.now,
  });
  const consume = (key: string, cost: number) => {
    const verdict = limits.consume(LIMIT, key, cost);
    return 'settled' in verdict ? verdict.settled : verdict;
  };
  const isWaiting = () => 'settled' in limits.consume(LIMIT, `another ${Math.random()}`, 20);
  return { batches, failures, limits, consume, isWaiting };
}

/** A process whose store has replied once. */
async function createConnected() {
  const process = createProcess();
  await process.batches[0]?.confirm();
  process.batches.length = 0;
  return process;
}

beforeEach(
  () =>
    void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'], now: 0 }),
);
afterEach(() => void vi.useRealTimers());

describe('batches to the store', () => {
  test('are sent every 250 ms for counters from half their limit on, and every second for all', async () => {
    const { batches, consume } = await createConnected();
    const first = consume('close', 45);
    await batches[0]?.confirm(45);
    await first;
    consume('close', 6); // decided from memory
    consume('far', 1);
    vi.advanceTimersByTime(250);
    expect(batches.slice(1).map(({ units }) => units)).toEqual([[6]]);
    await batches[1]?.confirm(51);
    for (let round = 0; round < 3; round++) {
      expect(batches).toHaveLength(2);
      vi.advanceTimersByTime(250);
      await settle();
    }
    expect(batches[2]?.units).toEqual([1]);
  });

  test('are sent without units only while it is unreachable', async () => {
    const { batches, isWaiting } = createProcess();
    expect(isWaiting()).toBe(false);
    await batches[0]?.fail();
    vi.advanceTimersByTime(250);
    expect(batches.map(({ units }) => units)).toEqual([[], []]);
    await batches[1]?.confirm();
    vi.advanceTimersByTime(250);
    await settle();
    expect(batches).toHaveLength(2);
    expect(isWaiting()).toBe(true);
  });

  test('are sent one at a time; units counted during one go with the next, which follows at once', async () => {
    const { batches, consume } = await createConnected();
    const first = consume('a', 11);
    const second = consume('a', 12);
    consume('b', 13);
    expect(batches.map(({ units }) => units)).toEqual([[11]]);
    await batches[0]?.confirm(11);
    expect(await first).toMatchObject({ allowed: true, remaining: 89 });
    expect(batches.map(({ units }) => units)).toEqual([[11], [12, 13]]);
    await batches[1]?.confirm(95, 13);
    expect(await second).toMatchObject({ allowed: true, remaining: 5 });
    expect(batches).toHaveLength(2);
  });

  test('contain all counters every second, although smaller batches follow one another', async () => {
    const { batches, consume } = await createConnected();
    for (let round = 0; round < 3; round++) {
      vi.advanceTimersByTime(250);
      await settle();
    }
    consume('far', 1); // decided from memory
    consume('waits', 11);
    vi.advanceTimersByTime(250);
    consume('waits', 12);
    await batches[0]?.confirm(11);
    expect(batches.map(({ units }) => units)).toEqual([[11], [12, 1]]);
  });

  test('that take more than 300 ms let this process decide by its own count, and their totals count later', async () => {
    const { batches, consume, isWaiting } = await createConnected();
    const first = consume('a', 20);
    const behind = consume('a', 20);
    vi.advanceTimersByTime(300);
    expect(await first).toMatchObject({ allowed: true, remaining: 80 });
    expect(await behind).toMatchObject({ allowed: true, remaining: 60 });
    expect(await consume('a', 20)).toMatchObject({ allowed: true, remaining: 40 }); // does not wait
    await batches[0]?.confirm(50);
    expect(batches[1]?.units).toEqual([40]);
    await batches[1]?.confirm(90);
    expect(isWaiting()).toBe(true);
    await batches[2]?.confirm(20);
    const last = consume('a', 10);
    await batches[3]?.confirm(101);
    expect(await last).toMatchObject({ allowed: false });
  });

  test('let no request wait for more than 300 ms, also one that came during the batch before', async () => {
    const { batches, consume } = await createConnected();
    consume('a', 20);
    vi.advanceTimersByTime(10);
    let isDecided = false;
    void Promise.resolve(consume('b', 20)).then(() => (isDecided = true));
    vi.advanceTimersByTime(280);
    await batches[0]?.confirm(20);
    expect(isDecided).toBe(false);
    vi.advanceTimersByTime(20);
    await settle();
    expect(isDecided).toBe(true);
  });

  test('that fail are decided by its own count, and sent again once with the units counted meanwhile', async () => {
    const { batches, failures, consume } = await createConnected();
    const first = consume('a', 60);
    await batches[0]?.fail();
    expect(await first).toMatchObject({ allowed: true, remaining: 40 });
    expect(failures).toEqual(['store is down']);
    await consume('a', 5);
    vi.advanceTimersByTime(250);
    expect(batches.slice(1).map(({ units }) => units)).toEqual([[65]]);
    await batches[1]?.confirm(65);
    vi.advanceTimersByTime(250);
    await settle();
    expect(batches).toHaveLength(2);
  });

  test('end when it is closed, and requests that wait are decided', async () => {
    const { batches, consume, limits } = await createConnected();
    const first = consume('a', 11);
    const second = consume('b', 60);
    await limits.close();
    expect(await second).toMatchObject({ allowed: true });
    await batches[0]?.confirm(11);
    expect(await first).toMatchObject({ allowed: true });
    vi.advanceTimersByTime(1000);
    expect(batches).toHaveLength(1);
  });
});

describe("the store's clock", () => {
  test('defines the windows, and is not moved by a late reply', async () => {
    const { batches, consume } = createProcess();
    expect(await consume('a', 1)).toMatchObject({ resetSeconds: 60 });
    await batches[0]?.confirm();
    expect(await consume('a', 1)).toMatchObject({ resetSeconds: 20 }); // 1,000 s are 16 minutes and 40 s
    vi.advanceTimersByTime(100);
    consume('a', 20);
    vi.setSystemTime(1050);
    await batches[1]?.confirm(22); // 0.95 s late
    expect(await consume('b', 1)).toMatchObject({ resetSeconds: 19 });
  });
});
