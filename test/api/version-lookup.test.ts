import { v7 } from 'uuid';
import { afterAll, expect, test } from 'vitest';
import { createVersionLookup } from '../../src/api/cache/version-lookup.ts';
import { createCaches } from '../../src/platform/caches.ts';
import type { Storage } from '../../src/storage/database/orm.ts';
import { createDatabase } from '../support/database.ts';

const database = await createDatabase();
afterAll(() => database[Symbol.asyncDispose]());

/** A storage that counts the statements of each tenant, in total and at once. They run when `begin` resolves. */
function createCountingStorage(begin?: Promise<void>) {
  const counts = { total: 0, running: 0, most: 0 };
  const storage = database.storage();
  const forTenant: Storage['forTenant'] = tenantId => {
    const tenant = storage.forTenant(tenantId);
    return {
      ...tenant,
      async query(sql, params) {
        counts.total++;
        counts.most = Math.max(counts.most, ++counts.running);
        try {
          await begin;
          return await tenant.query(sql, params);
        } finally {
          counts.running--;
        }
      },
    };
  };
  return { counts, storage: { ...storage, forTenant } };
}

test('unknown questions of one tenant are looked up by one statement at a time, which all later callers share', async () => {
  const { promise, resolve: begin } = Promise.withResolvers<void>();
  const { counts, storage } = createCountingStorage(promise);
  const versions = createVersionLookup(storage, createCaches());
  const tenantId = v7();
  const lookUps: Promise<boolean>[] = [];
  for (let arrived = 0; arrived < 100; arrived++) {
    lookUps.push(versions.isAnyPublished(tenantId, [{ questionId: v7(), version: 1 }]));
    await new Promise(resolve => setImmediate(resolve)); // in turns of the event loop of their own
  }
  begin();
  expect(new Set(await Promise.all(lookUps))).toEqual(new Set([false]));
  expect(counts).toMatchObject({ most: 1 });
  expect(counts.total).toBeLessThan(20);
});
