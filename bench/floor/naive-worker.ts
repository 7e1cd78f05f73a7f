import { createServer } from 'node:http';
import { Worker } from 'bullmq';
import { Pool } from 'pg';
import { NAIVE_QUEUE, type NaiveAnswer } from './naive.ts';

const pool = new Pool({ connectionString: process.env.DATABASE_URL ?? '', max: 10 });

/** One prepared statement per job, into a table with the same columns and indexes as Parley's. */
const INSERT = {
  name: 'insert_answer',
  text: `insert into floor.answers (tenant_id, id, identity, identity_verified, card_id, question_id, question_version,
      revision, state, "values", metadata, content_hash, tags, received_at, stored_at, updated_at)
    values ($1, $2, $3, true, $4, $5, 1, 1, 'completed', $6, '{}', '', '{}', $7, now(), now()) on conflict do nothing`,
};

const worker = new Worker<NaiveAnswer>(
  NAIVE_QUEUE,
  async ({ data }) => {
    const { tenant_id, id, identity, card_id, question_id, values, received_at } = data;
    await pool.query({
      ...INSERT,
      values: [tenant_id, id, identity, card_id, question_id, JSON.stringify(values), received_at],
    });
  },
  { connection: { url: process.env.REDIS_URL ?? '', maxRetriesPerRequest: null }, concurrency: 50 },
);
worker.on('error', error => process.stderr.write(`${error.stack}\n`));
worker.on('failed', (_, error) => process.stderr.write(`${error.stack}\n`));

await worker.waitUntilReady();
createServer((_, response) => response.end('ready')).listen(Number(process.env.METRICS_PORT), '127.0.0.1');
