import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import type { NewEvent } from '../../src/domain/events.ts';
import { listEvents, numberEvents, readFeedBounds, writeEvents } from '../../src/storage/events.ts';
import type { TenantStorage } from '../../src/storage/orm.ts';
import { insertTenant } from '../../src/storage/tenants.ts';
import { createDatabase } from '../support/database.ts';

const database = await createDatabase();
const storage = database.storage();
const worker = database.storage('parley_worker');
afterAll(() => database[Symbol.asyncDispose]());

const makeTenant = async () => storage.forTenant((await insertTenant(storage, 'Acme', new Date())).id);
const anEvent = (id = randomUUID()): NewEvent => ({ type: 'answer.stored', object: { type: 'answer', id } });
const write = (tenant: TenantStorage, ...events: NewEvent[]) =>
  tenant.transaction(tx =>
    writeEvents(
      tx,
      events.map(event => ({ ...event, tenantId: tenant.tenantId })),
    ),
  );
const numberAll = async () => {
  while ((await numberEvents(worker, null)).count > 0);
};
const feedOf = async (tenant: TenantStorage, after = 0, limit = 100) =>
  (await listEvents(tenant, { after, until: 1e9 }, limit)).rows;

describe('numbering', () => {
  test('gives each tenant numbers of its own, in the order of writing', async () => {
    const [one, other] = [await makeTenant(), await makeTenant()];
    const ids = Array.from({ length: 6 }, () => randomUUID());
    await write(one, anEvent(ids[0]), anEvent(ids[1]), anEvent(ids[2]));
    await write(other, anEvent());
    await write(one, anEvent(ids[3]));
    expect(await feedOf(one)).toEqual([]);
    await numberAll();
    await write(one, anEvent(ids[4]), anEvent(ids[5]));
    await numberAll();
    const feed = await feedOf(one);
    expect(feed.map(({ object_id, sequence }) => [object_id, sequence])).toEqual(
      ids.map((id, index) => [id, index + 1]),
    );
    expect((await feedOf(other)).map(({ sequence }) => sequence)).toEqual([1]);
    expect(await readFeedBounds(one)).toEqual({ oldest: 1, last: 6 });
  });
});
