import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { openRedisCounters } from '../../src/coordination/rate-stores.ts';
import { backends, valkeyUrl } from '../support/api.ts';

test.runIf(backends().includes('valkey'))(
  'a refused counter fails the batch, instead of counting as zero',
  async () => {
    const url = await valkeyUrl();
    const redis = new Redis(url);
    const counters = openRedisCounters(url, () => undefined);
    const delta = (key: string) => ({ key, count: 1, expiresAt: new Date(Date.now() + 60_000), needsExpiry: true });
    expect((await counters.add([delta('a'), delta('b')])).totals).toEqual([1, 1]);
    await redis.lpush('parley:rate:c', 'not a number');
    await expect(counters.add([delta('a'), delta('c')])).rejects.toThrow(/WRONGTYPE/);
    expect((await counters.add([delta('a')])).totals).toEqual([3]);
    await Promise.all([counters.close(), redis.quit()]);
  },
);
