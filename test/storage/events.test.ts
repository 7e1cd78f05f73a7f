import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { EVENTS_KEPT_DAYS, type NewEvent } from '../../src/domain/events.ts';
import { withClient } from '../../src/platform/postgres-client.ts';
import { deleteTenant, eraseDeletedTenant } from '../../src/storage/deleted-tenants.ts';
import {
  deleteOldEvents,
  listEvents,
  numberEvents,
  readFeedBounds,
  readNumberingDelay,
  writeEvents,
} from '../../src/storage/events.ts';
import type { Storage, TenantStorage } from '../../src/storage/orm.ts';
import { insertTenant } from '../../src/storage/tenants.ts';
import { createSequencer } from '../../src/worker/sequencer.ts';
import { createDatabase } from '../support/database.ts';

const database = await createDatabase();
const storage = database.storage();
const worker = database.storage('parley_worker');
afterAll(() => database[Symbol.asyncDispose]());

const makeTenant = async () => storage.forTenant((await insertTenant(storage, 'Acme', new Date())).id);
const anEvent = (id: string = randomUUID()): NewEvent => ({ type: 'answer.stored', object: { type: 'answer', id } });
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
const numbersOf = async (tenant: TenantStorage) => (await feedOf(tenant)).map(({ sequence }) => sequence);
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

beforeEach(numberAll);

test('ids of events are UUIDs of version 7, of the time of writing', async () => {
  const tenant = await makeTenant();
  const before = Date.now();
  await write(tenant, anEvent(), anEvent());
  await numberAll();
  const ids = (await feedOf(tenant)).map(({ id }) => id);
  expect(new Set(ids).size).toBe(2);
  for (const id of ids) {
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const time = Number.parseInt(id.slice(0, 13).replace('-', ''), 16);
    expect(time).toBeGreaterThanOrEqual(before);
    expect(time).toBeLessThanOrEqual(Date.now());
  }
});

describe('numbering', () => {
  test('gives each tenant numbers of its own, in the order of writing', async () => {
    const [one, other] = [await makeTenant(), await makeTenant()];
    const ids = upTo(6).map(() => randomUUID());
    await write(one, anEvent(ids[0]), anEvent(ids[1]), anEvent(ids[2]));
    await write(other, anEvent());
    await write(one, anEvent(ids[3]));
    expect(await feedOf(one)).toEqual([]);
    expect(await readNumberingDelay(storage)).toBeGreaterThan(0);
    await numberAll();
    expect(await readNumberingDelay(storage)).toBe(0);
    await write(one, anEvent(ids[4]), anEvent(ids[5]));
    await numberAll();
    const feed = await feedOf(one);
    expect(feed.map(({ object_id, sequence }) => [object_id, sequence])).toEqual(
      ids.map((id, index) => [id, index + 1]),
    );
    expect(await numbersOf(other)).toEqual([1]);
    expect(await readFeedBounds(one)).toEqual({ oldest: 1, last: 6 });
  });

  test('waits for an open transaction, and then numbers its events first', async () => {
    const tenant = await makeTenant();
    const [early, late] = [randomUUID(), randomUUID()];
    const open = Promise.withResolvers<void>();
    const written = Promise.withResolvers<void>();
    const slow = tenant.transaction(async tx => {
      await writeEvents(tx, [{ ...anEvent(early), tenantId: tenant.tenantId }]);
      written.resolve();
      await open.promise;
    });
    await written.promise;
    await write(tenant, anEvent(late));
    expect(await numberEvents(worker, null)).toMatchObject({ count: 0 });
    expect(await feedOf(tenant)).toEqual([]);
    open.resolve();
    await slow;
    await numberAll();
    expect((await feedOf(tenant)).map(({ object_id }) => object_id)).toEqual([early, late]);
  });

  test('loses nothing when the process that numbers is killed before its commit', async () => {
    const tenant = await makeTenant();
    await write(tenant, anEvent(), anEvent());
    await withClient(database.url, async client => {
      await client.query('begin');
      const { rows } = await client.query("select numbered from number_events('-infinity', 100)");
      expect(rows).toEqual([{ numbered: 2 }]);
      expect(await numberEvents(worker, null)).toEqual({ count: 0, completeUntil: null });
    }); // the connection ends without a commit
    await numberAll();
    expect(await numbersOf(tenant)).toEqual([1, 2]);
  });

  test('gives no number to events of a deleted tenant, which are erased with the rest', async () => {
    const tenant = await makeTenant();
    await write(tenant, anEvent());
    await numberAll();
    await deleteTenant(tenant);
    await write(tenant, anEvent());
    await numberAll();
    const numbered = () => database.query('select sequence from events where tenant_id = $1', [tenant.tenantId]);
    expect(await numbered()).toHaveLength(2);
    for await (const _ of eraseDeletedTenant(worker, tenant.tenantId));
    expect(await numbered()).toEqual([]);
    expect(await database.query('select from event_sequences where tenant_id = $1', [tenant.tenantId])).toEqual([]);
  });
});

/** Follows the feed of a tenant until it has seen a number of events, and returns those events. */
async function follow(tenant: TenantStorage, count: number) {
  const seen: { id: string; sequence: number }[] = [];
  while (seen.length < count) {
    const { last } = await readFeedBounds(tenant);
    const { rows } = await listEvents(tenant, { after: seen.length, until: last }, 100);
    for (const { object_id: id, sequence } of rows) seen.push({ id, sequence });
  }
  return seen;
}

/** Numbers events until the signal is aborted, like a worker. */
async function keepNumbering(of: Storage, signal: AbortSignal) {
  const sequencer = createSequencer(of);
  while (!signal.aborted) await sequencer.run();
}

test('readers that poll while 20 writers and two sequencers work see each of 10,000 events once, in order', async () => {
  const tenants = await Promise.all(upTo(4).map(makeTenant));
  const written = tenants.map(() => new Set<string>());
  const writer = async (number: number) => {
    for (let round = 0; round < 100; round++) {
      const place = (number + round) % tenants.length;
      const ids = upTo(5).map(() => randomUUID());
      await write(tenants[place] as TenantStorage, ...ids.map(anEvent));
      for (const id of ids) written[place]?.add(id);
    }
  };
  const ending = new AbortController();
  const sequencers = [worker, database.storage('parley_worker')].map(of => keepNumbering(of, ending.signal));
  const reading = tenants.map(tenant => follow(tenant, 2500));
  await Promise.all(upTo(20).map(writer));
  const seen = await Promise.all(reading);
  ending.abort();
  await Promise.all(sequencers);
  for (const [place, events] of seen.entries()) {
    expect(events.map(({ sequence }) => sequence)).toEqual(upTo(2500));
    expect(new Set(events.map(({ id }) => id))).toEqual(written[place]);
  }
}, 120_000);

test('events are deleted after their time, and their numbers are not used again', async () => {
  const tenant = await makeTenant();
  await write(tenant, anEvent(), anEvent());
  await numberAll();
  const now = new Date();
  await deleteOldEvents(worker, now);
  expect(await numbersOf(tenant)).toEqual([1, 2]);
  await database.query(
    `update events set id = event_id_at(now() - make_interval(days => $2, mins => 1), id)
     where tenant_id = $1 and sequence = 1`,
    [tenant.tenantId, EVENTS_KEPT_DAYS],
  );
  expect(await deleteOldEvents(worker, now)).toBe(1);
  expect(await numbersOf(tenant)).toEqual([2]);
  expect(await readFeedBounds(tenant)).toEqual({ oldest: 2, last: 2 });
  await database.query('delete from events where tenant_id = $1', [tenant.tenantId]);
  await write(tenant, anEvent());
  await numberAll();
  expect(await numbersOf(tenant)).toEqual([3]);
});
