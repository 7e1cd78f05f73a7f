import { Problem } from '../../src/domain/problem.ts';
import type { Storage } from '../../src/storage/orm.ts';
import type { Transaction } from '../../src/storage/transaction.ts';
import type { Random } from './random.ts';

/** What a database may answer to any statement: SQLSTATE, or none where the connection itself failed. */
const FAULTS: { code?: string; message: string }[] = [
  { message: 'Query read timeout' },
  { code: '40001', message: 'could not serialize access due to concurrent update' },
  { code: '40P01', message: 'deadlock detected' },
  { code: '23505', message: 'duplicate key value violates unique constraint' },
  { code: '08006', message: 'connection failure' },
  { code: '53300', message: 'sorry, too many clients already' },
];

/** A storage over a real database some of whose statements fail by chance, and some of whose commits go unheard. */
export interface FaultyStorage extends Storage {
  /** How many faults there were so far. */
  injected(): number;
}

/**
 * Puts faults in front of a storage at that rate: before a statement, after it was done, and after the commit.
 *
 * What is thrown inside a transaction goes through the storage's own handling, rollback included, as a real one would.
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
