import { Problem } from '../../src/domain/problem.ts';
import type { Storage } from '../../src/storage/database/orm.ts';
import type { Transaction } from '../../src/storage/database/transaction.ts';
import type { Random } from './random.ts';

/** Possible failures of any statement: an SQLSTATE, or none for a failed connection. */
const FAULTS: { code?: string; message: string }[] = [
  { message: 'Query read timeout' },
  { code: '40001', message: 'could not serialize access due to concurrent update' },
  { code: '40P01', message: 'deadlock detected' },
  { code: '23505', message: 'duplicate key value violates unique constraint' },
  { code: '08006', message: 'connection failure' },
  { code: '53300', message: 'sorry, too many clients already' },
];

/** A storage on a real database with random failures of statements and of the confirmations of commits. */
export interface FaultyStorage extends Storage {
  /** The number of faults so far. */
  injected(): number;
}

/**
 * Injects faults into a storage at this rate: before a statement, after it, and after the commit.
 *
 * Errors inside a transaction pass through the storage's own handling, including the rollback, like real ones.
 */
export function withFaults(storage: Storage, random: Random, rate: number): FaultyStorage {
  let injected = 0;
  const fails = (): boolean => random.between(0, 1) < rate && ++injected > 0;
  const fault = (): Error => {
    const { code, message } = random.pick(FAULTS);
    return Object.assign(new Error(message), code ? { code } : {});
  };

  const faulty = (session: Transaction): Transaction => ({
    async query<Row extends object>(sql: string, params?: unknown[]) {
      if (fails()) throw fault();
      const rows = await session.query<Row>(sql, params);
      if (fails()) throw fault();
      return rows;
    },
  });

  return {
    ...storage,
    injected: () => injected,
    async transaction(work) {
      const result = await storage.transaction(session => work(faulty(session)));
      if (!fails()) return result;
      throw new Problem('database-unavailable', 'The reply to the commit was lost.', { retryAfterSeconds: 1 });
    },
  };
}
