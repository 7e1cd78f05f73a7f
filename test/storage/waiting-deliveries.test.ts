import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TenantStorage } from '../../src/storage/database/orm.ts';
import { numberedEvents } from '../../src/storage/events/events.ts';
import { replayDelivery, replayRange } from '../../src/storage/webhooks/deliveries.ts';
import { recordRound } from '../../src/storage/webhooks/webhook-ledger.ts';
import { type LeasedWebhook, leaseWebhooks, readWork } from '../../src/storage/webhooks/webhook-rounds.ts';
import { findWebhook, lagOf } from '../../src/storage/webhooks/webhooks.ts';
import { type Explained, explainTo } from '../plans/explained.ts';
import { createApi, type TestApi } from '../support/api.ts';
import { HOUR, MINUTE } from '../support/clock.ts';
import { makeTenant } from '../support/make.ts';
import { LOCAL_WEBHOOKS, makeWebhook, webhookUuid } from '../support/webhooks.ts';

/** Events a second apart, all with a delivery, and the older ones with one that waits. */
const EVENTS = 20_000;
const WAITING = 12_000;
/** A statement that reads all waiting deliveries or all events reads more than twice as many. */
const MOST_PAGES = 200;

let api: TestApi;
let webhook: LeasedWebhook;
let explained: (role: 'parley_app' | 'parley_worker') => { tenant: TenantStorage; found: Explained[] };

beforeAll(async () => {
  api = await createApi({ settings: LOCAL_WEBHOOKS });
  const { database } = api;
  const tenant = await makeTenant(api);
  const { id } = await makeWebhook(api, tenant, 'http://127.0.0.1:9999/');
  await database.query(
    `with written as (
       insert into events (tenant_id, id, type, object_type, object_id, written_at)
       select $1, event_id_at(at, gen_random_uuid()), 'answer.stored', 'answer', gen_random_uuid(), at
       from generate_series(1, ${EVENTS}) as number, lateral (select now() - (${EVENTS} - number) * interval '1 second' as at) as time
       returning *
     ), numbered as (
       select *, 1000 + row_number() over (order by written_at) as number from written
     )
     insert into event_batches
     select tenant_id, max(number), array_agg(id order by number), array_agg(type order by number), max(written_at)
     from numbered group by tenant_id, (number - 1) / 50`,
    [tenant.uuid],
  );
  await database.query(
    `insert into deliveries (tenant_id, id, webhook_id, event_id, sequence, type, object_id, event_at, attempt, at, status)
     select tenant_id, gen_random_uuid(), $2, id, sequence, type, object_id, written_at, attempt,
       case attempt when 1 then written_at else now() + interval '1 day' end, case attempt when 1 then 'delivered' else 'waiting' end
     from ${numberedEvents('1000', '100000')} join events using (tenant_id, id, type), generate_series(1, 2) as attempt
     where attempt = 1 or sequence <= 1000 + ${WAITING} order by attempt, sequence`,
    [tenant.uuid, webhookUuid(id)],
  );
  await database.query('update webhooks set feed_position = $2, due_at = now() where tenant_id = $1', [
    tenant.uuid,
    1000 + EVENTS,
  ]);
  const [leased] = await leaseWebhooks(database.storage('parley_worker'), { working: 1, failing: 1 }, new Date());
  webhook = leased as LeasedWebhook;
  explained = role => {
    const found: Explained[] = [];
    return { tenant: explainTo(found, database.storage(role)).forTenant(tenant.uuid), found };
  };
});
afterAll(() => api[Symbol.asyncDispose]());

const expectFewPages = (found: Explained[]) => {
  expect(found.length).toBeGreaterThan(0);
  for (const { pages, plan } of found) expect(pages, plan).toBeLessThan(MOST_PAGES);
};

describe('with many waiting deliveries', () => {
  test.each([
    ['no failures', {}],
    ['an order', { ordered: true }],
    ['failures in a row', { failures: 5 }],
  ])('a round of a webhook with %s reads few pages', async (_, fields) => {
    const { tenant, found } = explained('parley_worker');
    const now = new Date();
    const leased = { ...webhook, ...fields };
    expect((await readWork(tenant, leased, now)).items).toEqual([]);
    const round = { attempts: [], position: webhook.position, isLast: false, now };
    expect((await recordRound(tenant, leased, round))?.webhook).toBeDefined();
    expectFewPages(found);
  });

  test('the lag of a webhook reads few pages, and counts up to 10,000 of them', async () => {
    const { tenant, found } = explained('parley_app');
    const lag = lagOf(await findWebhook(tenant, webhook.id), new Date());
    expect(lag.events).toBe(10_000);
    expect(lag.seconds).toBeGreaterThan(EVENTS - MINUTE / 1000);
    for (const { pages, plan } of found) expect(pages, plan).toBeLessThan(2 * MOST_PAGES);
  });
});

test('a replay of a minute reads few pages, however many events are kept', async () => {
  const { tenant, found } = explained('parley_app');
  const [from, to] = [new Date(Date.now() - HOUR), new Date(Date.now() - HOUR + MINUTE)];
  await replayRange(tenant, webhook.id, { from, to, types: ['answer.stored'] }, new Date());
  const waiting = await api.database.query(
    "select from deliveries where status = 'waiting' and event_at between $1 and $2",
    [from, to],
  );
  expect(waiting).toHaveLength(60);
  for (const { sql, pages, plan } of found)
    expect(pages, plan).toBeLessThan((sql.includes('insert') ? 8 : 3) * MOST_PAGES);
});

test('a delivery that the team wants sent again while a round ends is due at once', async () => {
  const { database } = api;
  await database.query('update webhooks set failures = 5 where id = $1', [webhook.id]); // in turn, by the first that waits
  const [last] = await database.query<{ id: string }>(
    "select id from deliveries where status = 'waiting' order by sequence desc limit 1",
  );
  const now = new Date();
  await replayDelivery(database.storage().forTenant(webhook.tenant_id), webhook.id, last?.id ?? '', now);
  const round = { attempts: [], position: webhook.position, isLast: true, now };
  await recordRound(database.storage('parley_worker').forTenant(webhook.tenant_id), webhook, round);
  expect(await database.query('select due_at from webhooks where id = $1', [webhook.id])).toEqual([{ due_at: now }]);
});
