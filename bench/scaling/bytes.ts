import { Redis } from 'ioredis';
import { createLog } from '../../src/platform/log.ts';
import { connectQueue } from '../../src/queue/connection.ts';
import type { Bench } from '../bench.ts';
import { addToQueue, makeAnswers, storeAnswers } from '../store-steps.ts';

/** The size of an answer, in bytes. */
export interface AnswerBytes {
  row: number;
  indexes: number;
  /**
   * WAL of PostgreSQL, including that of the tables next to `answers`; written to disk, each replica and the archive.
   */
  wal: number;
  /** While it waits: Valkey's memory and append-only file. */
  queueMemory: number;
  queueFile: number;
}

interface Sizes {
  row: string;
  indexes: string;
  wal: string;
}

const SIZES = `select pg_table_size('answers')::text as row, pg_indexes_size('answers')::text as indexes,
  (pg_current_wal_lsn() - '0/0'::pg_lsn)::text as wal`;

const readSizes = async (bench: Bench): Promise<Sizes> => (await bench.query<Sizes>(SIZES))[0] as Sizes;

const infoField = async (redis: Redis, section: string, name: string): Promise<number> =>
  Number((await redis.info(section)).match(new RegExp(`^${name}:(\\d+)`, 'm'))?.[1] ?? Number.NaN);

async function measureQueue(bench: Bench, answers: number): Promise<{ memory: number; file: number }> {
  await bench.empty();
  const redis = new Redis(bench.stores.valkeyUrl as string);
  const connection = connectQueue(
    { databaseUrl: bench.databaseUrl, redisUrl: bench.stores.valkeyUrl },
    createLog('warn', 'bench'),
  );
  try {
    await new Promise<void>(done => connection.redis?.once('ready', () => done()));
    const read = async () => ({
      memory: await infoField(redis, 'memory', 'used_memory'),
      file: await infoField(redis, 'persistence', 'aof_current_size'),
    });
    const before = await read();
    await addToQueue(connection.queue(), makeAnswers(bench.users, answers));
    const after = await read();
    return { memory: (after.memory - before.memory) / answers, file: (after.file - before.file) / answers };
  } finally {
    await connection.close();
    redis.disconnect();
  }
}

export async function measureBytes(bench: Bench): Promise<AnswerBytes> {
  const answers = bench.settings.storeRows;
  const queue = await measureQueue(bench, answers);
  await bench.empty();
  const before = await readSizes(bench);
  await storeAnswers(bench.databaseUrl, makeAnswers(bench.users, answers));
  const after = await readSizes(bench);
  const grown = (name: keyof Sizes) => (Number(after[name]) - Number(before[name])) / answers;
  return {
    row: grown('row'),
    indexes: grown('indexes'),
    wal: grown('wal'),
    queueMemory: queue.memory,
    queueFile: queue.file,
  };
}
