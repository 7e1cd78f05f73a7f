import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  openRateLimits,
  type RateLimit,
  type RateLimits,
  type RateVerdict,
} from '../../src/coordination/rate-limits.ts';
import { createLog } from '../../src/platform/log.ts';
import { type Backend, backends, valkeyUrl } from '../support/api.ts';
import { createDatabase } from '../support/database.ts';
import { createProxy } from '../support/proxy.ts';
import { waitFor } from '../support/wait.ts';

const LIMIT = { scope: 'identity', limit: 120, windowSeconds: 60 };
const DAY = { scope: 'day', limit: 10, windowSeconds: 86_400 };
const FIVE_MINUTES = 300_000;
const log = createLog('silent', 'test');

/** Whether a request that consumes more than a tenth of the limit waits for the store. */
const asksTheStore = (limits: RateLimits) => 'settled' in limits.consume({ ...DAY, limit: 100 }, randomUUID(), 20);

/** Returns the verdict on one request, however it is decided. */
async function consume(limits: RateLimits | undefined, limit: RateLimit, key: string): Promise<RateVerdict> {
  const taken = (limits as RateLimits).consume(limit, key);
  return 'settled' in taken ? taken.settled : taken;
}

/** Resolves when the current minute, the window of the limits, has at least 15 seconds left. */
const withinOneMinute = () => waitFor(() => Date.now() % 60_000 < 45_000);

/** Longer than 0.3 s: on a busy machine the store may reply so late that each process decides on its own. */
const MAX_WAIT_MS = 60_000;

interface Stores extends AsyncDisposable {
  databaseUrl: string;
  redisUrl: string | undefined;
  /** Opens processes with these clock errors. Resolves once the store replies to all. */
  open(...clockErrorsMs: number[]): Promise<RateLimits[]>;
}

async function openStores(backend: Backend): Promise<Stores> {
  const database = await createDatabase();
  const redisUrl = backend === 'valkey' ? await valkeyUrl() : undefined;
  const opened: RateLimits[] = [];
  return {
    databaseUrl: database.url,
    redisUrl,
    async open(...clockErrorsMs) {
      const made = clockErrorsMs.map(error =>
        openRateLimits(database.url, redisUrl, log, { now: () => Date.now() + error, maxWaitMs: MAX_WAIT_MS }),
      );
      opened.push(...made);
      await Promise.all(made.map(limits => waitFor(() => asksTheStore(limits))));
      return made;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map(limits => limits.close()));
      await database[Symbol.asyncDispose]();
    },
  };
}

/** Sends all requests at once and returns how many are allowed. */
async function burst(processes: RateLimits[], requestsEach: number, key: string): Promise<number> {
  const verdicts = processes.flatMap(limits => Array.from({ length: requestsEach }, () => consume(limits, LIMIT, key)));
  return (await Promise.all(verdicts)).filter(({ allowed }) => allowed).length;
}

/**
 * The result of requests while every process reached the store. On a busy machine a statement may exceed its time limit, and the
 * processes decide on their own; then they are sent again, with another key.
 */
async function withStore(processes: RateLimits[], send: (key: string) => Promise<number>): Promise<number> {
  for (;;) {
    await waitFor(() => processes.every(asksTheStore));
    await withinOneMinute();
    const allowed = await send(randomUUID());
    if (processes.every(asksTheStore)) return allowed;
  }
}

describe.each(backends())('limits shared in %s', backend => {
  test.each([
    { processes: 2, clocks: [0, 0] },
    { processes: 2, clocks: [0, FIVE_MINUTES] },
    { processes: 4, clocks: [0, 0, 0, 0] },
    { processes: 4, clocks: [0, FIVE_MINUTES, -FIVE_MINUTES, 20_000] },
  ])(
    'a burst through $processes processes, clocks wrong by $clocks ms, passes a limit by a tenth for each further process',
    async ({ clocks }) => {
      await using stores = await openStores(backend);
      const processes = await stores.open(...clocks);
      const allowed = await withStore(processes, key => burst(processes, 200, key));
      expect(allowed).toBeGreaterThanOrEqual(LIMIT.limit);
      expect(allowed).toBeLessThanOrEqual(LIMIT.limit * (1 + (processes.length - 1) / 10));
    },
  );

  test('sequential requests, each to another process, are allowed exactly up to a tenth before the limit, and few beyond', async () => {
    await using stores = await openStores(backend);
    const processes = await stores.open(0, FIVE_MINUTES);
    const allowed = await withStore(processes, async key => {
      let count = 0;
      for (let sent = 0; sent < 300; sent++) if ((await consume(processes[sent % 2], LIMIT, key)).allowed) count++;
      return count;
    });
    expect(allowed).toBeGreaterThanOrEqual(LIMIT.limit);
    expect(allowed).toBeLessThanOrEqual(LIMIT.limit * 1.1);
  });

  test("a window ends by the store's clock, also for a process with a wrong clock", async () => {
    await using stores = await openStores(backend);
    const [right, wrong] = await stores.open(0, FIVE_MINUTES + 20_000);
    await withinOneMinute();
    const verdicts = await Promise.all([right, wrong].map(limits => consume(limits, LIMIT, 'reset')));
    const [here = 0, there = 0] = verdicts.map(verdict => verdict?.resetSeconds);
    expect(Math.abs(here - there)).toBeLessThanOrEqual(1);
  });

  test('rejected requests cost the store nothing, and every process rejects them', async () => {
    await using stores = await openStores(backend);
    const [first, second] = (await stores.open(0, 0)) as [RateLimits, RateLimits];
    for (let taken = 0; taken < DAY.limit; taken++) expect((await consume(first, DAY, 'busy')).allowed).toBe(true);
    for (let taken = 0; taken < 100; taken++)
      expect(await consume(first, DAY, 'busy')).toMatchObject({ allowed: false });
    expect((await first.consumeStrictly({ ...DAY, limit: 1000 }, 'busy')).remaining).toBe(1000 - DAY.limit - 1);
    await waitFor(async () => !(await consume(second, DAY, 'busy')).allowed);
  });

  test('of attempts at once, in two processes, a strict limit allows exactly its number', async () => {
    await using stores = await openStores(backend);
    const processes = await stores.open(0, 0);
    await withinOneMinute();
    const attempts = Array.from({ length: 300 }, (_, index) =>
      (processes[index % 2] as RateLimits).consumeStrictly(LIMIT, 'crowd'),
    );
    expect((await Promise.all(attempts)).filter(({ allowed }) => allowed)).toHaveLength(LIMIT.limit);
  });

  test('attempts beyond a strict limit do not lengthen the wait for its next window', async () => {
    await using stores = await openStores(backend);
    const [limits] = (await stores.open(0)) as [RateLimits];
    const strict = { ...LIMIT, limit: 10 };
    let last: Awaited<ReturnType<RateLimits['consumeStrictly']>> | undefined;
    for (let tried = 0; tried < 25; tried++) last = await limits.consumeStrictly(strict, 'guesses');
    expect(last?.allowed).toBe(false);
    expect(last?.resetSeconds).toBeLessThanOrEqual(strict.windowSeconds);
  });

  test('while the store is unavailable or unresponsive, each process decides by its own count', async () => {
    await using stores = await openStores(backend);
    const proxy = await createProxy(stores.redisUrl ?? stores.databaseUrl);
    const through = proxy.through(stores.redisUrl ?? stores.databaseUrl);
    const limits = stores.redisUrl
      ? openRateLimits(stores.databaseUrl, through, log)
      : openRateLimits(through, undefined, log);
    await waitFor(() => asksTheStore(limits));
    proxy.freeze();
    expect(await burst([limits], 200, 'silent')).toBe(LIMIT.limit);
    expect('settled' in limits.consume(LIMIT, 'next', 100)).toBe(false);
    proxy.thaw();
    await waitFor(() => asksTheStore(limits));
    await limits.close();
    await proxy[Symbol.asyncDispose]();
  });
});
