import type { PoolClient } from 'pg';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { notFound } from '../../../src/domain/problem.ts';
import { createClientPool, MAX_WAIT_MS } from '../../../src/storage/database/client-pool.ts';

const SQL_ERROR = Object.assign(new Error('duplicate key'), { code: '23505' });
const explained = new Error('explained');
const explain = () => explained;

/** Connections of a database that refuses them while `failure` is set, and does not reply while it hangs. */
function aPool(connections: number) {
  const database = { failure: undefined as Error | undefined, hangs: false };
  const destroyed: unknown[] = [];
  const waits: number[] = [];
  const pool = createClientPool({
    connections,
    metrics: { dbPoolWait: { observe: (seconds: number) => waits.push(seconds) } as never },
    connect: async () => {
      if (database.hangs) return new Promise(() => undefined);
      if (database.failure) throw database.failure;
      return { release: (destroy: unknown) => destroyed.push(destroy) } as unknown as PoolClient;
    },
  });
  return { pool, database, destroyed, waits };
}

describe('a connection', () => {
  test.each([
    ['is kept after its work', undefined, false],
    ['is kept after a failed statement, after which its transaction was rolled back', SQL_ERROR, false],
    ['is kept after a problem, which no statement caused', notFound('thing'), false],
    ['is discarded after any other error, because its state is unknown', new Error('timeout'), true],
  ])('%s', async (_title, error, isDestroyed) => {
    const { pool, destroyed } = aPool(1);
    const work = async () => {
      if (error) throw error;
    };
    for (let time = 0; time < 3; time++) await pool.withClient('a', explain, work).catch(() => undefined);
    expect(destroyed).toEqual([isDestroyed, isDestroyed, isDestroyed]);
  });

  test('is released to the next caller however its work ends', async () => {
    const { pool, database, waits } = aPool(1);
    database.failure = new Error('connection refused');
    await expect(pool.withClient('a', explain, async () => 1)).rejects.toBe(explained);
    database.failure = undefined;
    await expect(pool.withClient('a', explain, () => Promise.reject(SQL_ERROR))).rejects.toBe(explained);
    expect(await pool.withClient('a', explain, async () => 2)).toBe(2);
    expect(waits).toHaveLength(3);
  });
});

test('a problem is thrown as it is, and any other error as it is explained', async () => {
  const { pool } = aPool(1);
  const problem = notFound('thing');
  await expect(pool.withClient('a', explain, () => Promise.reject(problem))).rejects.toBe(problem);
  await expect(pool.withClient('a', explain, () => Promise.reject(SQL_ERROR))).rejects.toBe(explained);
});

test('one tenant leaves a connection to the others', async () => {
  const { pool } = aPool(2);
  const held = Promise.withResolvers<void>();
  const first = pool.withClient('a', explain, () => held.promise);
  let isServed = false;
  const second = pool.withClient('a', explain, async () => {
    isServed = true;
  });
  await pool.withClient('b', explain, async () => undefined);
  expect(isServed).toBe(false);
  held.resolve();
  await Promise.all([first, second]);
});

test('of ten connections one tenant holds eight, and statements without a tenant all', async () => {
  const held = Promise.withResolvers<void>();
  const countServed = async (tenantId: string) => {
    const { pool } = aPool(10);
    let served = 0;
    const works = Array.from({ length: 12 }, () =>
      pool.withClient(tenantId, explain, () => {
        served++;
        return held.promise;
      }),
    );
    await vi.waitFor(() => expect(served).toBeGreaterThanOrEqual(8));
    await new Promise(resolve => setImmediate(resolve));
    return { served, works };
  };
  const [tenant, none] = [await countServed('a'), await countServed('')];
  expect([tenant.served, none.served]).toEqual([8, 10]);
  held.resolve();
  await Promise.all([...tenant.works, ...none.works]);
});

describe('a caller who waits too long', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** Returns the error of a caller who waits behind another one for the only connection. */
  async function waitTooLong({ pool }: ReturnType<typeof aPool>): Promise<unknown> {
    const held = Promise.withResolvers<void>();
    void pool.withClient('a', explain, () => held.promise).catch(() => undefined);
    const waiting = pool
      .withClient(
        'b',
        error => error,
        async () => undefined,
      )
      .catch(error => error);
    await vi.advanceTimersByTimeAsync(MAX_WAIT_MS);
    held.resolve();
    return waiting;
  }

  test('is refused as one of too many while the database can be reached', async () => {
    expect(await waitTooLong(aPool(1))).toMatchObject({ code: 'service-overloaded' });
  });

  test('gets the failure to connect while no attempt has succeeded since', async () => {
    const broken = aPool(1);
    const { database, pool } = broken;
    database.failure = new Error('timeout expired');
    await expect(pool.withClient('a', explain, async () => 1)).rejects.toBe(explained);
    database.hangs = true;
    expect(await waitTooLong(broken)).toMatchObject({ code: 'database-unavailable' });
    const working = aPool(1);
    working.database.failure = new Error('timeout expired');
    await expect(working.pool.withClient('a', explain, async () => 1)).rejects.toBe(explained);
    working.database.failure = undefined;
    await working.pool.withClient('a', explain, async () => 1);
    expect(await waitTooLong(working)).toMatchObject({ code: 'service-overloaded' });
  });
});
