import { afterEach, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/platform/config.ts';
import { createLog, type Log } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { isTimeout } from '../../src/platform/timeouts.ts';
import { commandRedis, connectQueue } from '../../src/queue/connection.ts';
import { watchHealth } from '../../src/queue/health.ts';
import { askValkey, openValkey } from '../faults/stores.ts';
import { backends, valkeyUrl } from '../support/api.ts';
import { createProxy } from '../support/proxy.ts';
import { waitFor } from '../support/wait.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** The health of a queue behind a proxy. */
async function watchBehindProxy(url: string, warnings: string[] = []) {
  const log = {
    ...createLog('silent', 'test'),
    warn: (_: unknown, message: string) => warnings.push(message),
  } as unknown as Log;
  const proxy = await createProxy(url);
  ends.push(() => proxy[Symbol.asyncDispose]());
  const target = { databaseUrl: 'postgresql://nobody@127.0.0.1:1/none', redisUrl: proxy.through(url) };
  const config = loadConfig({
    DATABASE_URL: target.databaseUrl,
    SECRET_KEY: Buffer.alloc(32).toString('base64'),
    REDIS_URL: target.redisUrl,
  });
  const connection = connectQueue(target, log);
  ends.push(() => connection.close());
  const ignore = () => undefined;
  const deps = { connection, target, config, metrics: createMetrics('serve'), log };
  const health = watchHealth({ ...deps, onFailure: ignore, onTally: ignore });
  ends.push(() => health.stop());
  await waitFor(() => health.current().reasons.length === 0);
  return { proxy, health };
}

test.runIf(backends().includes('valkey'))(
  'a healthy start logs no warning, and a store that is gone is reported',
  async () => {
    const warnings: string[] = [];
    const { proxy, health } = await watchBehindProxy(await valkeyUrl(), warnings);
    expect(warnings).toEqual([]);
    proxy.cut();
    await waitFor(() => health.current().reasons.length > 0);
    await waitFor(() => warnings.includes('queue does not accept answers'));
  },
);

describe.runIf(backends().includes('valkey'))('a flush', () => {
  test('is not confirmed on another connection than the one that it was added on', async () => {
    const { proxy, health } = await watchBehindProxy(await valkeyUrl());
    const basis = health.basis();
    expect(health.isStillValid(basis)).toBe(true);
    proxy.reset();
    await waitFor(() => !health.isStillValid(basis)); // at once, before the next check
    await waitFor(() => health.basis().socket !== basis.socket && health.isStillValid(health.basis()));
    expect(health.isStillValid(basis)).toBe(false);
  });

  test('is not confirmed while its connection is down, or after the settings have become lax', async () => {
    await using store = await openValkey();
    const { proxy, health } = await watchBehindProxy(store.url);
    const basis = health.basis();
    await askValkey(store.url, redis => redis.config('SET', 'appendfsync', 'everysec'));
    await waitFor(() => !health.isStillValid(basis));
    await askValkey(store.url, redis => redis.config('SET', 'appendfsync', 'always'));
    await waitFor(() => health.isStillValid(basis));
    proxy.cut();
    await waitFor(() => !health.isStillValid(basis), 900); // the check that notices it may be a second away
  });

  test('sends no pending command again when the connection is replaced', async () => {
    await using store = await openValkey();
    const { url } = store;
    await using proxy = await createProxy(url);
    const redis = commandRedis(proxy.through(url));
    ends.push(() => redis.disconnect());
    redis.on('error', () => undefined);
    await waitFor(() => redis.status === 'ready');
    const waiting = redis.wait(1, 5000).then(
      () => expect.fail('a store without replicas confirmed'),
      (error: Error) => error,
    );
    await waitFor(async () => /blocked_clients:1/.test(await askValkey(url, other => other.info('clients'))));
    proxy.reset();
    expect(isTimeout(await waiting)).toBe(false); // rejected with the connection, instead of sent on the next one
  });
});
