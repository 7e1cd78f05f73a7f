import { describe, expect, test } from 'vitest';
import { createRateCounters, type RateVerdict } from '../../src/coordination/rate-counters.ts';

const LIMIT = { scope: 'identity', limit: 100, windowSeconds: 60 };

/** The counters of one process with a clock set by the test. */
const createProcess = ({ at = { ms: 0 }, mayWait = (): boolean => true, maxCounters = 1000 } = {}) =>
  createRateCounters(() => at.ms, mayWait, maxCounters);

type Process = ReturnType<typeof createProcess>;

/** A store that processes send to, one batch after the other. */
function createStore() {
  const totals = new Map<string, number>();
  return {
    totals,
    /** Returns the number of counters in the batch. */
    sync(process: Process) {
      const batch = process.takeBatch(0);
      const sums = batch.counters.map(({ key, endsAt }, index) => {
        const name = `${key} ${endsAt}`;
        totals.set(name, (totals.get(name) ?? 0) + (batch.counts[index] ?? 0));
        return totals.get(name) as number;
      });
      process.confirm(batch, sums);
      return batch.counters.length;
    },
  };
}

/** Consumes, and sends a batch if the store has to confirm. */
async function take(process: Process, store: ReturnType<typeof createStore>, cost = 1, counted = 0) {
  const verdict = process.consume(LIMIT, 'user', cost, counted);
  if (!('settled' in verdict)) return verdict;
  store.sync(process);
  return verdict.settled;
}

const isPending = (verdict: object) => 'settled' in verdict;

describe('a counter', () => {
  test('grants a tenth of the limit from memory, then asks the store', () => {
    const process = createProcess();
    const verdicts = Array.from({ length: 11 }, () => process.consume(LIMIT, 'user'));
    expect(verdicts.map(isPending)).toEqual([...Array(10).fill(false), true]);
    expect(verdicts[9]).toMatchObject({ allowed: true, remaining: 90, resetSeconds: 60 });
  });

  test('sends units that were counted during a batch with the next one', () => {
    const process = createProcess();
    for (let units = 0; units < 2; units++) process.consume(LIMIT, 'user');
    const first = process.takeBatch(0);
    for (let units = 0; units < 3; units++) process.consume(LIMIT, 'user');
    process.confirm(first, [2]);
    const second = process.takeBatch(0);
    expect([first, second].map(({ counts }) => counts)).toEqual([[2], [3]]);
    process.confirm(second, [5]);
    expect(process.takeBatch(0).counters).toEqual([]);
  });

  test('asks the store for every request once less than a tenth is left', () => {
    const process = createProcess();
    const store = createStore();
    store.totals.set('user 60000', 88);
    process.consume(LIMIT, 'user');
    store.sync(process);
    expect(isPending(process.consume(LIMIT, 'user'))).toBe(false); // 90
    expect(isPending(process.consume(LIMIT, 'user'))).toBe(true); // 91
  });

  test('lets N processes grant at most 1 + (N − 1)/10 times the limit, whatever the order of requests and batches', async () => {
    let seed = 7;
    const chance = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((seed / 2_147_483_648) * below);
    };
    for (let run = 0; run < 200; run++) {
      const processes = Array.from({ length: 1 + chance(5) }, () => createProcess());
      const store = createStore();
      const pending: Promise<RateVerdict>[] = [];
      let granted = 0;
      for (let step = 0; step < 1500; step++) {
        const process = processes[chance(processes.length)] as Process;
        if (chance(30) === 0) store.sync(process);
        const verdict = process.consume(LIMIT, 'user');
        if ('settled' in verdict) pending.push(verdict.settled);
        else if (verdict.allowed) granted++;
      }
      for (const process of processes) store.sync(process);
      granted += (await Promise.all(pending)).filter(({ allowed }) => allowed).length;
      expect(granted).toBeGreaterThanOrEqual(100);
      expect(granted).toBeLessThanOrEqual(100 + (processes.length - 1) * 10);
    }
  });

  test('accepts any batch while it is full, and rejects one that exceeds the remainder as a whole, at no cost', async () => {
    const process = createProcess();
    const store = createStore();
    expect(await take(process, store, 100)).toMatchObject({ allowed: true, remaining: 0 });
    const other = createProcess();
    const late = createStore();
    await take(other, late, 30);
    expect(await take(other, late, 71)).toMatchObject({ allowed: false, remaining: 70 });
    expect(await take(other, late, 70)).toMatchObject({ allowed: true, remaining: 0 });
    expect(await take(other, late)).toMatchObject({ allowed: false, remaining: 0 });
  });

  test('checks a batch against the total of all processes, and takes rejected units off again', async () => {
    const [here, there] = [createProcess(), createProcess()];
    const store = createStore();
    await take(there, store, 30);
    expect(await take(here, store, 71)).toMatchObject({ allowed: false, remaining: 70 });
    store.sync(here);
    expect(store.totals.get('user 60000')).toBe(30);
    expect(await take(there, store, 70)).toMatchObject({ allowed: true });
  });

  test('decides waiting requests one by one: a rejected batch does not reject the small one behind it', async () => {
    const process = createProcess();
    const store = createStore();
    store.totals.set('user 60000', 50);
    const verdicts = [
      process.consume(LIMIT, 'user', 40),
      process.consume(LIMIT, 'user', 30),
      process.consume(LIMIT, 'user', 5),
    ];
    store.sync(process);
    const settled = await Promise.all(verdicts.map(verdict => 'settled' in verdict && verdict.settled));
    expect(settled).toMatchObject([{ allowed: true }, { allowed: false }, { allowed: true, remaining: 5 }]);
  });

  test('charges the overdraft of a full limit to the following windows', async () => {
    const at = { ms: 0 };
    const process = createProcess({ at });
    const store = createStore();
    await take(process, store, 1);
    expect(await take(process, store, 249, 1)).toMatchObject({ allowed: true, remaining: 0, resetSeconds: 120 });
    store.sync(process);
    expect([...store.totals]).toEqual([
      ['user 60000', 250],
      ['user 120000', 100],
      ['user 180000', 50],
    ]);
    at.ms = 60_000;
    expect(await take(process, store, 60)).toMatchObject({ allowed: false });
    at.ms = 120_000;
    expect(await take(process, store, 60)).toMatchObject({ allowed: false, remaining: 50 });
    expect(await take(process, store, 50)).toMatchObject({ allowed: true });
    at.ms = 180_000;
    expect(await take(process, store, 250)).toMatchObject({ allowed: true });
  });

  test('charges no more windows than the bound on their number', () => {
    const process = createProcess({ maxCounters: 10, mayWait: () => false });
    expect(process.consume(LIMIT, 'user', 100_000)).toMatchObject({ allowed: true });
    expect(process.takeBatch(0).counters).toHaveLength(11); // and its own
  });

  test('never waits if it must not, and decides by its own count', () => {
    const process = createProcess({ mayWait: () => false });
    const verdicts = Array.from({ length: 101 }, () => process.consume(LIMIT, 'user'));
    expect(verdicts.filter(verdict => 'allowed' in verdict && verdict.allowed)).toHaveLength(100);
    expect(verdicts[100]).toMatchObject({ allowed: false, remaining: 0 });
  });

  test('decides waiting requests by its own count when the store fails, and sends them later, once', async () => {
    const process = createProcess();
    const verdict = process.consume(LIMIT, 'user', 20);
    const batch = process.takeBatch(0);
    const behind = process.consume(LIMIT, 'user', 20);
    process.keep(batch);
    process.decideLocally(batch);
    if (!('settled' in verdict && 'settled' in behind)) throw new Error('neither waited');
    expect(await verdict.settled).toMatchObject({ allowed: true, remaining: 80 });
    expect(await behind.settled).toMatchObject({ allowed: true, remaining: 60 });
    const store = createStore();
    store.sync(process);
    expect(store.totals.get('user 60000')).toBe(40);
  });

  test('does not send rejected requests, so that a flood costs the store nothing', async () => {
    const process = createProcess();
    const store = createStore();
    await take(process, store, 100);
    store.sync(process);
    for (let sent = 0; sent < 1000; sent++) expect(process.consume(LIMIT, 'user')).toMatchObject({ allowed: false });
    expect(store.sync(process)).toBe(0);
  });

  test('is kept for its window', () => {
    const at = { ms: 0 };
    const process = createProcess({ at, mayWait: () => false });
    process.consume(LIMIT, 'user', 5);
    process.takeBatch(0);
    expect(process.consume(LIMIT, 'user')).toMatchObject({ remaining: 94 });
    at.ms = 60_000;
    expect(process.consume(LIMIT, 'user')).toMatchObject({ remaining: 99 });
    at.ms = 120_000;
    expect(process.takeBatch(0).counters).toEqual([]);
  });

  test('is dropped, the oldest first, beyond the maximum number, with the store or without', () => {
    const process = createProcess({ mayWait: () => false });
    for (let user = 0; user < 5000; user++) process.consume(LIMIT, `user ${user}`);
    const batch = process.takeBatch(0);
    expect(batch.counters.map(({ key }) => key)).toEqual(Array.from({ length: 1000 }, (_, i) => `user ${4000 + i}`));
    process.keep(batch);
    expect(process.takeBatch(0).counters).toHaveLength(1000);
    expect(process.consume(LIMIT, 'user 4000')).toMatchObject({ remaining: 98 });
    expect(process.consume(LIMIT, 'user 3999')).toMatchObject({ remaining: 99 });
  });

  test('of another scope is not dropped by a flood of keys', () => {
    const process = createProcess({ mayWait: () => false });
    const other = { ...LIMIT, scope: 'api-key' };
    process.consume(other, 'quiet');
    for (let user = 0; user < 5000; user++) process.consume(LIMIT, `user ${user}`);
    process.takeBatch(0);
    expect(process.consume(other, 'quiet')).toMatchObject({ remaining: 98 });
  });
});
