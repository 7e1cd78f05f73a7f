import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createLog } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { openProducer } from '../../src/queue/producer.ts';
import { backends, createApi, waitFor } from '../support/api.ts';
import { anAcceptedAnswer } from '../support/make.ts';
import { createProxy } from '../support/proxy.ts';

describe.each(backends())('with the queue in %s', backend => {
  test('answers that wait behind a flush that an unresponsive store never confirms are rejected together with it', async () => {
    await using api = await createApi({ backend });
    const url = api.config.REDIS_URL ?? api.database.url;
    await using store = await createProxy(url);
    const target = {
      databaseUrl: store.through(api.database.url),
      redisUrl: api.config.REDIS_URL && store.through(api.config.REDIS_URL),
    };
    const producer = openProducer(target, api.config, createLog('silent', 'test'), createMetrics('serve'));
    await waitFor(() => producer.health().reasons.length === 0);
    await producer.enqueue([anAcceptedAnswer()], 100);
    store.freeze();
    const waits: Promise<{ ms: number; code: string }>[] = [];
    for (let sent = 0; sent < 30; sent++) {
      const startedAt = Date.now();
      waits.push(
        producer.enqueue([anAcceptedAnswer()], 100).then(
          () => ({ ms: 0, code: 'accepted' }),
          error => ({ ms: Date.now() - startedAt, code: error.code }),
        ),
      );
      await sleep(100);
    }
    const refusals = await Promise.all(waits);
    store.thaw();
    await producer.close();
    expect(new Set(refusals.map(({ code }) => code))).toEqual(new Set(['queue-unavailable']));
    expect(Math.max(...refusals.map(({ ms }) => ms))).toBeLessThan(2200);
  });
});

test.runIf(backends().includes('valkey'))(
  'answers are rejected while Valkey has fewer replicas than QUEUE_REPLICAS',
  async () => {
    await using api = await createApi({ backend: 'valkey', settings: { QUEUE_REPLICAS: '1' } });
    const target = { databaseUrl: api.database.url, redisUrl: api.config.REDIS_URL };
    const producer = openProducer(target, api.config, createLog('silent', 'test'), createMetrics('serve'));
    await waitFor(() => producer.health().reachable);
    expect(producer.health().reasons).toEqual(['0 replicas are connected, but QUEUE_REPLICAS is 1']);
    await expect(producer.enqueue([anAcceptedAnswer()], 100)).rejects.toMatchObject({ code: 'queue-unavailable' });
    await producer.close();
  },
);
