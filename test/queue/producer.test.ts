import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { createLog } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { infoField } from '../../src/platform/redis.ts';
import { openProducer } from '../../src/queue/producer.ts';
import { askValkey, openValkey } from '../faults/stores.ts';
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
    const metrics = createMetrics('serve');
    const producer = openProducer(target, api.config, createLog('silent', 'test'), metrics);
    await waitFor(() => producer.health().reasons.length === 0);
    await producer.enqueue([anAcceptedAnswer()], 100);
    store.freeze();
    const ends = new Map<number, string>();
    const send = (number: number) =>
      producer.enqueue([anAcceptedAnswer()], 100).then(
        () => ends.set(number, 'accepted'),
        error => ends.set(number, error.code),
      );
    void send(0);
    let sent = 1;
    for (; !ends.has(0); sent++) {
      void send(sent);
      await sleep(50);
    }
    await waitFor(() => ends.size === sent);
    expect([...ends.values()]).toEqual(Array(sent).fill('queue-unavailable'));
    const flushes = (await metrics.queueFlushes.get()).values.find(({ labels }) => labels.outcome === 'failed');
    expect(flushes?.value).toBeLessThanOrEqual(2); // those in progress at once; the others did not wait for the store
    await expect(producer.enqueue([anAcceptedAnswer()], 100)).rejects.toMatchObject({ code: 'queue-unavailable' });
    store.thaw();
    await producer.close();
  });

  test('a flush that the store confirms after a check found it not durable is rejected', async () => {
    await using api = await createApi({ backend });
    await using store = await createProxy(api.config.REDIS_URL ?? api.database.url);
    let reasons: string[] = [];
    const target = {
      databaseUrl: store.through(api.database.url),
      redisUrl: api.config.REDIS_URL && store.through(api.config.REDIS_URL),
      databaseReasons: () => reasons,
    };
    const producer = openProducer(target, api.config, createLog('silent', 'test'), createMetrics('serve'));
    await waitFor(() => producer.health().reasons.length === 0);
    await producer.enqueue([anAcceptedAnswer()], 100);
    store.delay(100); // so that flushes are in progress at the end of each check
    /** The outcomes of flushes that were in progress when the check found it not durable. */
    const outcomes: string[] = [];
    const send = () =>
      producer
        .enqueue([anAcceptedAnswer()], 100)
        .then(
          () => 'confirmed',
          ({ cause, message }: Error) => (cause instanceof Error ? cause.message : message),
        )
        .then(outcome => producer.health().reasons.length > 0 && outcomes.push(outcome));
    while (outcomes.length === 0) {
      reasons = ['fsync is off'];
      const sent: Promise<unknown>[] = [];
      while (producer.health().reasons.length === 0) {
        sent.push(send());
        await sleep(5);
      }
      await Promise.all(sent);
      reasons = []; // if the process paused for longer than a flush takes, none was in progress
      await waitFor(() => producer.health().reasons.length === 0);
    }
    store.delay(0);
    await producer.close();
    expect(outcomes).toContain('the queue connection or its settings changed during the write');
    expect(outcomes).not.toContain('confirmed');
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

test.runIf(backends().includes('valkey'))(
  'observers share reads of the queue, over another connection than answers',
  async () => {
    await using api = await createApi({ backend: 'valkey' });
    const { REDIS_URL: redisUrl = '' } = api.config;
    const target = { databaseUrl: api.database.url, redisUrl };
    const producer = openProducer(target, api.config, createLog('silent', 'test'), createMetrics('serve'));
    await waitFor(() => producer.health().reasons.length === 0);
    const answer = anAcceptedAnswer();
    const redis = new Redis(redisUrl);
    const monitor = await redis.monitor();
    /** The connections on which this producer and that of the API add answers, and check the store every second. */
    const producers = new Set<string>();
    const readers: string[] = [];
    monitor.on('monitor', (_, [command = '', ...args]: string[], source: string, database: string) => {
      if (/^info$/i.test(command) && redisUrl.endsWith(`/${database}`)) producers.add(source);
      if (/^zrange$/i.test(command) && args[0]?.includes(answer.tenant_id)) readers.push(source);
    });
    await producer.enqueue([answer], 100);
    const read = await Promise.all(Array.from({ length: 50 }, () => producer.pending(answer.tenant_id)));
    expect(new Set(read.map(({ count }) => count))).toEqual(new Set([1]));
    await waitFor(() => producers.size === 2 && readers.length > 0);
    expect(readers.length).toBeLessThanOrEqual(2);
    expect(readers.filter(source => producers.has(source))).toEqual([]);
    monitor.disconnect();
    redis.disconnect();
    await producer.close();
  },
);

test.runIf(backends().includes('valkey'))('Valkey reads a flush, and writes it to its disk, at once', async () => {
  await using api = await createApi({ backend: 'valkey' });
  await using valkey = await openValkey();
  const target = { databaseUrl: api.database.url, redisUrl: valkey.url };
  const producer = openProducer(target, api.config, createLog('silent', 'test'), createMetrics('serve'));
  const reads = async () =>
    Number(infoField(await askValkey(valkey.url, redis => redis.info('stats')), 'total_reads_processed'));
  await waitFor(() => producer.health().reasons.length === 0);
  await producer.enqueue([anAcceptedAnswer()], 100); // sends the scripts
  const before = await reads();
  for (let flush = 0; flush < 200; flush++) await producer.enqueue([anAcceptedAnswer()], 100);
  expect((await reads()) - before).toBeLessThan(250); // 200, and those of the checks
  await producer.close();
});
