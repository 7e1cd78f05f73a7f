import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { CommandContext } from '../../src/commands/command.ts';
import { acknowledge, listFound } from '../../src/commands/losses.ts';
import { toTypeId } from '../../src/domain/ids.ts';
import { createLog } from '../../src/platform/log.ts';
import { connectQueue, connectWorker } from '../../src/queue/connection.ts';
import { insertTenant } from '../../src/storage/tenants/tenants.ts';
import { countLosses } from '../../src/storage/upkeep/conservation.ts';
import { backends, createApi, waitFor } from '../support/api.ts';
import { createDatabase } from '../support/database.ts';
import { runCommand } from '../support/process.ts';

test('losses are listed, and acknowledged once, for all tenants', async () => {
  await using database = await createDatabase();
  const storage = database.storage();
  const context = { storage } as CommandContext;
  const tenants = [await insertTenant(storage, 'a', new Date()), await insertTenant(storage, 'b', new Date())];
  const flushes = [randomUUID(), randomUUID()];
  for (const id of flushes) await database.query('insert into lost_flushes values ($1, now())', [id]);
  const answers = tenants.map(({ id }) => ({ id: randomUUID(), tenant_id: toTypeId('tenant', id) }));
  for (const [index, { id }] of tenants.entries())
    await database.query('insert into vanished_answers values ($1, $2, now())', [id, answers[index]?.id]);

  const listed = await listFound(context);
  expect(listed.flushes.map(({ id }) => id).toSorted()).toEqual(flushes.toSorted());
  expect(listed.answers).toHaveLength(2);
  expect(listed.answers).toEqual(expect.arrayContaining(answers.map(answer => expect.objectContaining(answer))));
  expect(await countLosses(storage)).toEqual({ flushes: 2, answers: 2 });

  const { acknowledged } = await acknowledge(context);
  expect(acknowledged.flushes).toEqual(expect.arrayContaining(listed.flushes));
  expect(acknowledged.answers).toEqual(expect.arrayContaining(listed.answers));
  expect(await countLosses(storage)).toEqual({ flushes: 0, answers: 0 });
  expect(await listFound(context)).toEqual({ flushes: [], answers: [] });
  expect(await acknowledge(context)).toEqual({ acknowledged: { flushes: [], answers: [] } });
});

test.each(backends())('jobs that were set aside return to the queue in %s', async backend => {
  await using api = await createApi({ backend });
  const { REDIS_URL } = api.config;
  const log = createLog('silent', 'test');
  const connection = connectQueue({ databaseUrl: api.database.url, redisUrl: REDIS_URL }, log);
  try {
    if (connection.redis) await waitFor(() => connection.redis?.status === 'ready');
    const queue = connection.queue();
    const data = { v: 1, flush: randomUUID(), answers: [] } as never;
    for (const jobId of ['one', 'two']) await queue.add('answers.record', data, { jobId, attempts: 1 });
    const failing = connectWorker(
      { databaseUrl: api.database.url, redisUrl: REDIS_URL },
      'answers',
      () => Promise.reject(new Error('a bug')),
      {},
      log,
    );
    await waitFor(async () => (await queue.getFailedCount()) === 2);
    await failing.worker.close();
    await failing.disconnect();
    const environment = {
      DATABASE_URL: api.database.url,
      SECRET_KEY: api.secretKey,
      ...(REDIS_URL ? { REDIS_URL } : {}),
    };
    const { stdout, stderr } = await runCommand(['queue', 'retry-failed'], environment);
    expect(JSON.parse(stdout || stderr)).toMatchObject({ retried: { answers: 2 } });
    expect(await queue.getFailedCount()).toBe(0);
    expect(await queue.getWaitingCount()).toBe(2);
  } finally {
    await connection.close();
  }
});
