import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { EVENTS_KEPT_DAYS, type NewEvent } from '../../../src/domain/events/events.ts';
import { MAX_SCANNED } from '../../../src/domain/pages.ts';
import { withClient } from '../../../src/platform/postgres-client.ts';
import type { Storage, TenantStorage } from '../../../src/storage/database/orm.ts';
import {
  listEvents,
  numberEvents,
  OLD_EVENTS,
  readFeedBounds,
  readNumberingDelay,
  writeEvents,
} from '../../../src/storage/events/events.ts';
import { insertTenant } from '../../../src/storage/tenants/tenants.ts';
import { deleteTenant, eraseDeletedTenant } from '../../../src/storage/upkeep/deleted-tenants.ts';
import { createDatabase } from '../../support/database.ts';
import { expireEvents, numberAll } from '../../support/events.ts';

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
const feedOf = async (tenant: TenantStorage, after = 0, limit = 100) =>
  (await listEvents(tenant, { after, until: 1e9 }, limit)).rows;
const numbersOf = async (tenant: TenantStorage) => (await feedOf(tenant)).map(({ sequence }) => sequence);
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

beforeEach(() => numberAll(worker));

test('ids of events are UUIDs of version 7, of the time of writing', async () => {
  const tenant = await makeTenant();
  const before = Date.now();
  await write(tenant, anEvent(), anEvent());
  await numberAll(worker);
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
    await numberAll(worker);
    expect(await readNumberingDelay(storage)).toBe(0);
    await write(one, anEvent(ids[4]), anEvent(ids[5]));
    await numberAll(worker);
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
    expect(await numberEvents(worker)).toMatchObject({ count: 0 });
    expect(await feedOf(tenant)).toEqual([]);
    open.resolve();
    await slow;
    await numberAll(worker);
    expect((await feedOf(tenant)).map(({ object_id }) => object_id)).toEqual([early, late]);
  });

  /** Writes events while another transaction has written: each starts after one more run, so a run always finds an open write. */
  async function numberBesideWriters(tenant: TenantStorage, act: () => Promise<unknown>): Promise<void> {
    const begin = async () => {
      const [isOpen, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const ended = tenant.transaction(async tx => {
        await tx.query('select pg_current_xact_id()');
        isOpen.resolve();
        await end.promise;
      });
      await isOpen.promise;
      return () => {
        end.resolve();
        return ended;
      };
    };
    let endLast = await begin();
    await act();
    for (let run = 0; run < 3; run++) {
      await numberEvents(worker);
      const endThis = await begin();
      await endLast();
      endLast = endThis;
    }
    await endLast();
  }

  test('goes on while there is always an open write', async () => {
    const tenant = await makeTenant();
    await numberBesideWriters(tenant, () => write(tenant, anEvent()));
    expect(await numbersOf(tenant)).toEqual([1]);
  });

  test('goes on in order when the clock is set back by an hour', async () => {
    const tenant = await makeTenant();
    const ids = upTo(4).map(() => randomUUID());
    await database.query("select setval('event_floor', last_value + 3600 * 1000000::bigint) from event_floor");
    await write(tenant, anEvent(ids[0]), anEvent(ids[1]));
    await numberAll(worker);
    await numberBesideWriters(tenant, () => write(tenant, anEvent(ids[2])));
    await write(tenant, anEvent(ids[3]));
    await numberAll(worker);
    const feed = await feedOf(tenant);
    expect(feed.map(({ object_id }) => object_id)).toEqual(ids);
    for (const { written_at } of feed) expect(written_at.getTime()).toBeLessThanOrEqual(Date.now() + 1000);
  });

  test('goes on after a restore on a server whose transaction ids start anew', async () => {
    const tenant = await makeTenant();
    await database.query('update event_numbering set floor_set_by = floor_set_by + 1000000');
    await numberBesideWriters(tenant, () => write(tenant, anEvent()));
    expect(await numbersOf(tenant)).toEqual([1]);
  });

  test('loses nothing when the process that numbers is killed before its commit', async () => {
    const tenant = await makeTenant();
    await write(tenant, anEvent(), anEvent());
    await withClient(database.url, async client => {
      await client.query('begin');
      const { rows } = await client.query('select numbered from number_events(100)');
      expect(rows).toEqual([{ numbered: 2 }]);
      expect(await numberEvents(worker)).toEqual({ count: 0, remain: true, hasHeld: false });
    }); // the connection ends without a commit
    await numberAll(worker);
    expect(await numbersOf(tenant)).toEqual([1, 2]);
  });

  test('gives no number to events of a deleted tenant, which are erased with the rest', async () => {
    const tenant = await makeTenant();
    await write(tenant, anEvent());
    await numberAll(worker);
    await deleteTenant(tenant);
    await write(tenant, anEvent());
    await numberAll(worker);
    const rowsOf = (table: string) => database.query(`select from ${table} where tenant_id = $1`, [tenant.tenantId]);
    expect(await rowsOf('events')).toHaveLength(2);
    expect(await rowsOf('event_batches')).toHaveLength(1);
    for await (const _ of eraseDeletedTenant(worker, tenant.tenantId));
    for (const table of ['events', 'event_batches', 'event_sequences']) expect(await rowsOf(table), table).toEqual([]);
  });
});

test('a page of a rare type ends after the numbers that a request scans, and the next one continues there', async () => {
  const tenant = await makeTenant();
  await write(tenant, ...upTo(MAX_SCANNED + 120).map(() => anEvent()));
  await write(tenant, { ...anEvent(), type: 'answer.completed' });
  await numberAll(worker);
  const list = (after: number, limit: number) =>
    listEvents(tenant, { after, until: MAX_SCANNED + 121, types: ['answer.completed'] }, limit);
  expect(await list(0, 10)).toEqual({ rows: [], next: [String(MAX_SCANNED)] });
  expect(await list(MAX_SCANNED, 10)).toMatchObject({ rows: [{ sequence: MAX_SCANNED + 121 }], next: null });
  const page = await listEvents(tenant, { after: 70, until: MAX_SCANNED + 121 }, 100);
  expect(page.rows.map(({ sequence }) => sequence)).toEqual(upTo(170).slice(70));
  expect(page.next).toEqual(['170']);
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
  while (!signal.aborted) await numberEvents(of);
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
  await numberAll(worker);
  const now = new Date();
  await OLD_EVENTS.forget(worker, now);
  expect(await numbersOf(tenant)).toEqual([1, 2]);
  await database.query(
    `update event_batches set written_until = now() - make_interval(days => $2, mins => 1)
     where tenant_id = $1 and last = 2`,
    [tenant.tenantId, EVENTS_KEPT_DAYS],
  );
  await write(tenant, anEvent());
  await numberAll(worker);
  expect(await OLD_EVENTS.forget(worker, now)).toBe(2);
  expect(await database.query('select from events where tenant_id = $1', [tenant.tenantId])).toHaveLength(1);
  expect(await numbersOf(tenant)).toEqual([3]);
  expect(await readFeedBounds(tenant)).toEqual({ oldest: 3, last: 3 });
  await expireEvents(database, tenant.tenantId, 3);
  expect(await readFeedBounds(tenant)).toEqual({ oldest: 4, last: 3 });
  await write(tenant, anEvent());
  await numberAll(worker);
  expect(await numbersOf(tenant)).toEqual([4]);
});
