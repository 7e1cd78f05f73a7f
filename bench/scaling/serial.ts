import { Redis } from 'ioredis';
import { v7 } from 'uuid';
import { createLog } from '../../src/platform/log.ts';
import { withClient } from '../../src/platform/postgres-client.ts';
import { recordAnswers } from '../../src/storage/answers/recording.ts';
import { openStorage, type Storage } from '../../src/storage/database/orm.ts';
import type { Transaction } from '../../src/storage/database/transaction.ts';
import type { Bench } from '../bench.ts';
import { median } from '../numbers.ts';
import { makeAnswers } from '../store-steps.ts';

/** Operations that cannot run in parallel, medians in ms. */
export interface Serial {
  /** A commit of one row: PostgreSQL's write to disk. */
  commitMs: number;
  /** A write to Valkey, and a command without a write; the difference is Valkey's write to disk. */
  queueWriteMs: number;
  queuePingMs: number;
  /**
   * Time for which a transaction of 1,000 answers locks shared rows (the counts of a question's results and a tenant's
   * totals) and, at its commit, PostgreSQL's lock on the order of notices.
   */
  heldMs: number;
}

const TRIES = 200;
const TRANSACTIONS = 30;
const ANSWERS = 1000;

async function medianMs(times: number, work: () => Promise<unknown>): Promise<number> {
  const taken: number[] = [];
  for (let number = 0; number < times; number++) {
    const startedAt = performance.now();
    await work();
    taken.push(performance.now() - startedAt);
  }
  return median(taken.slice(times / 10));
}

/** A storage that records how long each transaction holds the shared rows, from their lock to the commit. */
function timeHolding(storage: Storage, held: number[]): Storage {
  return {
    ...storage,
    async transaction<T>(work: (session: Transaction) => Promise<T>): Promise<T> {
      let since = Number.NaN;
      const result = await storage.transaction(session =>
        work({
          async query<Row extends object>(sql: string, params?: unknown[]) {
            const rows = await session.query<Row>(sql, params);
            // The statement before the one that locks; both are sent in one round trip.
            if (sql.startsWith('insert into card_records')) since = performance.now();
            return rows;
          },
        }),
      );
      held.push(performance.now() - since);
      return result;
    },
  };
}

async function measureHeld(bench: Bench): Promise<number> {
  await bench.empty();
  const log = createLog('warn', 'bench');
  const storage = openStorage({ url: bench.databaseUrl, role: 'parley_worker', connections: 1, log });
  const held: number[] = [];
  try {
    const timed = timeHolding(storage, held);
    for (let number = 0; number < TRANSACTIONS; number++)
      await recordAnswers(timed, [{ flush: v7(), answers: makeAnswers(bench.users, ANSWERS) }]);
  } finally {
    await storage.close();
  }
  return median(held.slice(TRANSACTIONS / 10));
}

export async function measureSerial(bench: Bench): Promise<Serial> {
  const redis = new Redis(bench.stores.valkeyUrl as string);
  try {
    const commitMs = await withClient(bench.databaseUrl, async client => {
      await client.query('create table floor.commits (n int)');
      return medianMs(TRIES, () => client.query('insert into floor.commits values (1)'));
    });
    return {
      commitMs,
      queuePingMs: await medianMs(TRIES, () => redis.ping()),
      queueWriteMs: await medianMs(TRIES, () => redis.set('floor:write', '1')),
      heldMs: await measureHeld(bench),
    };
  } finally {
    redis.disconnect();
  }
}
