import { v7 } from 'uuid';
import { describe, expect, test } from 'vitest';
import { createLog } from '../../src/platform/log.ts';
import { connectQueue } from '../../src/queue/connection.ts';
import { QUEUES } from '../../src/queue/jobs.ts';
import { findOldest } from '../../src/queue/snapshot.ts';
import { backends, createApi, waitFor } from '../support/api.ts';

describe.each(backends())('with the queue in %s', backend => {
  test('the oldest job is found in any waiting state, and in its own queue', async () => {
    await using api = await createApi({ backend });
    const target = { databaseUrl: api.database.url, redisUrl: api.config.REDIS_URL };
    const connection = connectQueue(target, createLog('silent', 'test'));
    if (connection.redis) await waitFor(() => connection.redis?.status === 'ready');
    const add = (timestamp: number, delay = 0) =>
      connection.queue().add('answers.record', { v: 1, flush: v7(), answers: [] }, { jobId: v7(), timestamp, delay });
    const oldest = async () => (await findOldest(connection, QUEUES.answers))?.getTime();

    expect(await oldest()).toBeUndefined();
    for (const timestamp of [3000, 4000]) await add(timestamp);
    expect(await oldest()).toBe(3000);
    for (const timestamp of [2500, 2000]) await add(timestamp, 1e12);
    expect(await oldest()).toBe(2000);
    expect(await findOldest(connection, QUEUES.isolation)).toBeUndefined();
    await connection.close();
  });
});
