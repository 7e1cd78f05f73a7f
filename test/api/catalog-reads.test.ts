import { describe, expect, test } from 'vitest';
import { type CachedRead, createCatalogReads } from '../../src/api/cache/catalog-reads.ts';
import { Problem } from '../../src/domain/problem.ts';
import { createCaches } from '../../src/platform/caches.ts';

const OUTAGE = new Problem('database-unavailable', 'The database is unreachable.');
const settle = () => new Promise(resolve => setImmediate(resolve));

interface Read {
  tenant: string;
  at: number;
  succeed(value: string): Promise<void>;
  fail(error: Error): Promise<void>;
}

/** Reads that end when the test lets them, at a time that it sets. */
function createReads() {
  const at = { ms: 0 };
  const begun: Read[] = [];
  const entries = createCaches().create<string, CachedRead<string>>('catalogs', { sizeOf: () => 100 });
  const load = (tenant: string, startedAt: number) =>
    new Promise<string>((resolve, reject) => {
      const end = async (act: () => void) => {
        act();
        await settle();
      };
      begun.push({
        tenant,
        at: startedAt,
        succeed: value => end(() => resolve(value)),
        fail: error => end(() => reject(error)),
      });
    });
  const reads = createCatalogReads({ entries, load, now: () => at.ms });
  const last = () => begun.at(-1) as Read;
  /** Reads a value that is then in memory. */
  const known = async (value: string) => {
    const asked = reads.of('t');
    await last().succeed(value);
    expect(await asked).toBe(value);
  };
  return { at, begun, last, reads, known };
}

describe('a value in memory', () => {
  test('is read once for all callers, and then for 60 s not again', async () => {
    const { at, begun, last, reads } = createReads();
    expect(reads.cached('t')).toBeUndefined();
    const asked = [reads.of('t'), reads.of('t')];
    await last().succeed('a');
    expect(await Promise.all(asked)).toEqual(['a', 'a']);
    at.ms = 59_999;
    expect([reads.cached('t'), await reads.of('t'), begun.length]).toEqual(['a', 'a', 1]);
    at.ms = 60_000;
    expect(reads.cached('t')).toBeUndefined();
    void reads.of('t');
    expect(begun.map(read => read.at)).toEqual([0, 60_000]);
  });

  test('is as old as the beginning of its read, not its end', async () => {
    const { at, last, reads } = createReads();
    void reads.of('t');
    at.ms = 30_000;
    await last().succeed('a');
    at.ms = 60_000;
    expect(reads.cached('t')).toBeUndefined();
  });

  test('is read again after a change of its tenant, or one of any', async () => {
    const { begun, reads, known } = createReads();
    await known('a');
    reads.markStale('other');
    expect(reads.cached('t')).toBe('a');
    reads.markStale('t');
    expect(reads.cached('t')).toBeUndefined();
    await known('b');
    expect(reads.cached('t')).toBe('b');
    reads.markAllStale();
    expect(reads.cached('t')).toBeUndefined();
    expect(begun).toHaveLength(2);
  });
});

describe('a change during a read', () => {
  test('makes its result stale, and later callers wait for one further read', async () => {
    const { begun, last, reads } = createReads();
    const before = reads.of('t');
    reads.markStale('t');
    const after = [reads.of('t'), reads.of('t')];
    expect(begun).toHaveLength(1);
    await last().succeed('old');
    expect(await before).toBe('old');
    expect(reads.cached('t')).toBeUndefined();
    expect(begun).toHaveLength(2);
    await last().succeed('new');
    expect(await Promise.all(after)).toEqual(['new', 'new']);
    expect(reads.cached('t')).toBe('new');
  });

  test('also when any tenant may have changed', async () => {
    const { last, reads } = createReads();
    void reads.of('t');
    reads.markAllStale();
    await last().succeed('old');
    expect(reads.cached('t')).toBeUndefined();
  });

  test('lets later callers read although the read fails', async () => {
    const { begun, last, reads } = createReads();
    const before = reads.of('t').catch(error => error);
    reads.markStale('t');
    const after = reads.of('t');
    await last().fail(new Error('permission denied'));
    expect(await before).toMatchObject({ message: 'permission denied' });
    expect(begun).toHaveLength(2);
    await last().succeed('new');
    expect(await after).toBe('new');
  });
});

describe('a refresh', () => {
  test('joins no read that began before it', async () => {
    const { begun, last, reads } = createReads();
    const ordinary = reads.of('t');
    const refreshed = reads.refresh('t');
    await last().succeed('a');
    expect(await ordinary).toBe('a');
    expect(begun).toHaveLength(2);
    await last().succeed('b');
    expect(await refreshed).toBe('b');
  });

  test('reads again although the value in memory is fresh, at most twice for all callers', async () => {
    const { begun, last, reads, known } = createReads();
    await known('a');
    const refreshed = Array.from({ length: 5 }, () => reads.refresh('t'));
    await last().succeed('b');
    await last().succeed('c');
    expect(await Promise.all(refreshed)).toEqual(['b', 'c', 'c', 'c', 'c']);
    expect(begun).toHaveLength(3);
  });
});

describe('an outage of the database', () => {
  test('leaves the last value in use, and is retried every second by a read that callers do not wait for', async () => {
    const { at, begun, last, reads, known } = createReads();
    await known('a');
    reads.markStale('t');
    const asked = reads.of('t');
    await last().fail(OUTAGE);
    expect(await asked).toBe('a');
    expect([await reads.isReachable('t'), reads.cached('t')]).toEqual([false, undefined]);
    at.ms = 999;
    expect([await reads.of('t'), begun.length]).toEqual(['a', 2]);
    at.ms = 1000;
    expect([await reads.of('t'), begun.length]).toEqual(['a', 3]);
    await last().succeed('b');
    expect([await reads.isReachable('t'), reads.cached('t')]).toEqual([true, 'b']);
  });

  test('is over for a caller that waits for the read in progress', async () => {
    const { at, last, reads, known } = createReads();
    await known('a');
    const refreshed = reads.refresh('t');
    await last().fail(OUTAGE);
    await refreshed;
    at.ms = 1000;
    expect(await reads.of('t')).toBe('a'); // begins a read without waiting for it
    const reachable = reads.isReachable('t');
    await last().succeed('b');
    expect([await reachable, await reads.of('t')]).toEqual([true, 'b']);
  });

  test('that is followed by another error ends the use of the last value', async () => {
    const { at, begun, last, reads, known } = createReads();
    await known('a');
    reads.markStale('t');
    const asked = reads.of('t');
    await last().fail(OUTAGE);
    expect(await asked).toBe('a');
    at.ms = 1000;
    expect(await reads.of('t')).toBe('a'); // begins a read without waiting for it
    await last().fail(new Error('permission denied'));
    const later = reads.of('t').catch(error => error);
    expect(begun.length).toBe(4);
    await last().fail(new Error('permission denied'));
    expect(await later).toMatchObject({ message: 'permission denied' });
    expect(await reads.isReachable('t')).toBe(true);
  });

  test('found by a refresh is retried although the value is fresh', async () => {
    const { at, begun, last, reads, known } = createReads();
    await known('a');
    const refreshed = reads.refresh('t');
    await last().fail(OUTAGE);
    expect([await refreshed, await reads.isReachable('t'), reads.cached('t')]).toEqual(['a', false, undefined]);
    at.ms = 1000;
    expect([await reads.of('t'), begun.length]).toEqual(['a', 3]);
  });

  test('is an error for a tenant without a value', async () => {
    const { last, reads } = createReads();
    const asked = reads.of('t').catch(error => error);
    await last().fail(OUTAGE);
    expect(await asked).toBe(OUTAGE);
    expect(await reads.isReachable('t')).toBe(true);
  });

  test('is not assumed after another error, which every caller that waits receives', async () => {
    const { last, reads, known } = createReads();
    await known('a');
    reads.markStale('t');
    const asked = reads.of('t').catch(error => error);
    await last().fail(new Error('permission denied'));
    expect(await asked).toMatchObject({ message: 'permission denied' });
    expect(await reads.isReachable('t')).toBe(true);
  });
});
