import { describe, expect, test } from 'vitest';
import { openRedis, readSentinelReplicas } from '../../src/platform/redis.ts';

const optionsOf = (url: string) => {
  const redis = openRedis(url, { lazyConnect: true });
  redis.disconnect();
  return redis.options;
};

describe('a REDIS_URL', () => {
  test("with Sentinels has the primary's name as host, and keeps its user, password and database", () => {
    expect(
      optionsOf('redis://app:pa%3Ass@queue/2?sentinels=10.0.0.1,sentinel.example:26380,[::1]:26381'),
    ).toMatchObject({
      ...{ name: 'queue', username: 'app', password: 'pa:ss', db: 2 },
      sentinels: [
        { host: '10.0.0.1', port: 26379 },
        { host: 'sentinel.example', port: 26380 },
        { host: '::1', port: 26381 },
      ],
    });
  });

  test('without them names the server', () => {
    expect(optionsOf('redis://127.0.0.1:6380/1')).toMatchObject({
      host: '127.0.0.1',
      port: 6380,
      db: 1,
      sentinels: null,
    });
  });
});

describe('the replicas that Sentinels list', () => {
  test('are undefined without Sentinels', async () => {
    expect(await readSentinelReplicas('redis://127.0.0.1:6380/1')).toBeUndefined();
  });

  test('are unknown while no Sentinel is reachable, for the reason of the connection', async () => {
    await expect(readSentinelReplicas('redis://queue?sentinels=127.0.0.1:1,127.0.0.1:2')).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    });
  });
});
