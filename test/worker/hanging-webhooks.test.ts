import { expect, test } from 'vitest';
import type { Storage } from '../../src/storage/database/orm.ts';
import { type TestApi, waitFor } from '../support/api.ts';
import { MINUTE } from '../support/clock.ts';
import { readQueuedMails } from '../support/mail.ts';
import { makeTenant, type TestTenant } from '../support/make.ts';
import { createReceiver, hang } from '../support/receivers.ts';
import { makeEvents, makeWebhook, startDeliveries, withWebhookStores } from '../support/webhooks.ts';

/** More webhooks in total than a worker delivers for at a time. */
const TENANTS = 12;
const WEBHOOKS = 20;
/** As the limit of the worker. */
const FAILING = 80;

let api: TestApi;
let worker: Storage;
withWebhookStores(stores => {
  ({ api, worker } = stores);
});

/** Makes a tenant's webhooks failing ones that are due again, each with an event that waits. */
const makeFailing = (tenant: TestTenant) =>
  api.database.query(
    `with failing as (
       update webhooks set failures = 5, failing_since = now(), due_at = now() - interval '1 minute'
       where tenant_id = $1 returning *
     )
     insert into deliveries (tenant_id, id, webhook_id, event_id, sequence, type, object_id, event_at, attempt, at, status)
     select failing.tenant_id, gen_random_uuid(), failing.id, events.id, last, type, object_id, written_at, 6, due_at, 'waiting'
     from failing join events using (tenant_id) join event_sequences using (tenant_id) where type = 'answer.stored'`,
    [tenant.uuid],
  );

test('hanging webhooks of many tenants do not delay those of others', async () => {
  await using dead = await createReceiver();
  await using receiver = await createReceiver();
  dead.react(hang);
  const hanging = await Promise.all(Array.from({ length: TENANTS }, () => makeTenant(api)));
  for (const tenant of hanging) {
    for (let count = 0; count < WEBHOOKS; count++) await makeWebhook(api, tenant, dead.url);
    await makeEvents({ api, worker }, tenant, 1);
    await makeFailing(tenant);
  }
  await using _ = startDeliveries(api, worker, MINUTE);
  await waitFor(() => dead.requests.length === FAILING);

  const tenant = await makeTenant(api);
  await makeWebhook(api, tenant, receiver.url);
  await makeEvents({ api, worker }, tenant, 1);
  await receiver.waitForEvents(1);
  expect(dead.requests.length).toBe(FAILING);
  expect(await api.database.query("select from deliveries where status = 'failed'")).toEqual([]); // all still hang
  expect(await readQueuedMails(api)).toEqual([]);
});
