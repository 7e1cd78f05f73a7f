import { setTimeout as sleep } from 'node:timers/promises';
import { v7 } from 'uuid';
import { afterAll, expect, test } from 'vitest';
import type { AcceptedAnswer } from '../../src/domain/answers/answers.ts';
import { createLog } from '../../src/platform/log.ts';
import { recordAnswers } from '../../src/storage/answers/recording.ts';
import { openStorage } from '../../src/storage/database/orm.ts';
import { createDatabase } from '../support/database.ts';
import { anAcceptedAnswer } from '../support/make.ts';

const database = await createDatabase();
/** With one connection, whose statistics are complete after a flush. */
const worker = openStorage({
  url: database.url,
  role: 'parley_worker',
  connections: 1,
  log: createLog('warn', 'test'),
});
afterAll(async () => {
  await worker.close();
  await database[Symbol.asyncDispose]();
});

const ROWS = 5000;

/** Makes the statistics of the worker's connection complete. Before version 15, PostgreSQL sends them at most twice a second. */
async function flushStatistics(): Promise<void> {
  const [found] = await worker.query<{ can: boolean }>(
    "select to_regproc('pg_stat_force_next_flush') is not null as can",
  );
  if (found?.can) await worker.query('select pg_stat_force_next_flush()');
  else {
    await sleep(1000);
    await worker.query('select 1');
    await sleep(1000); // the collector writes them
  }
}

/** Rows of `answers` and `card_records` read by scans of the whole tables. */
async function countScannedRows(): Promise<number> {
  await flushStatistics();
  const [row] = await database.query<{ count: number }>(
    `select sum(seq_tup_read)::float8 as count from pg_stat_user_tables where relname in ('answers', 'card_records')`,
  );
  return row?.count ?? 0;
}

const record = (...answers: AcceptedAnswer[]) => recordAnswers(worker, [{ flush: v7(), answers }]);

/** Records an answer in every way, each in a transaction of its own. */
async function recordInEveryWay(tenant_id: string): Promise<void> {
  const answerOf = (fields: Partial<AcceptedAnswer>) =>
    anAcceptedAnswer({ tenant_id, comment: 'words', once_per_card: true, ...fields });
  const partial = answerOf({ state: 'partial' });
  const seen = answerOf({ state: 'seen' });
  expect(await record(partial, seen)).toMatchObject({ stored: 2 });
  expect(await record(seen)).toMatchObject({ repeated: 1 });
  const revision = { ...partial, revision: 2, comment: 'other words', content_hash: 'second' };
  expect(await record(revision)).toMatchObject({ stored: 1 });
  expect(await record(answerOf({ identity: partial.identity }))).toMatchObject({ stored: 1 });
  expect(await record({ ...seen, content_hash: 'other' })).toMatchObject({ quarantined: 1 });
}

test('recording reads no table as a whole, although its plans were made when the tables were empty', async () => {
  const tenant_id = v7();
  await recordInEveryWay(tenant_id);
  for (let stored = 0; stored < ROWS; stored += 1000)
    await record(
      ...Array.from({ length: 1000 }, (_, index) =>
        anAcceptedAnswer({ tenant_id, identity: `user|${stored + index}` }),
      ),
    );
  const before = await countScannedRows();
  await recordInEveryWay(v7());
  expect(await countScannedRows()).toBe(before);
});
