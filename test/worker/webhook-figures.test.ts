import { expect, test } from 'vitest';
import type { Storage } from '../../src/storage/database/orm.ts';
import { countWebhooks } from '../../src/storage/webhooks/webhook-figures.ts';
import { type TestApi, waitFor } from '../support/api.ts';
import { MINUTE } from '../support/clock.ts';
import { makeTenant, type TestTenant } from '../support/make.ts';
import { createReceiver, refuse } from '../support/receivers.ts';
import { makeEvents, makeWebhook, startDeliveries, webhookUuid, withWebhookStores } from '../support/webhooks.ts';

let api: TestApi;
let worker: Storage;
withWebhookStores(stores => {
  ({ api, worker } = stores);
});

test('webhooks without a response are unreachable until any webhook has one', async () => {
  await using deliveries = startDeliveries(api, worker);
  const [first, second, third] = await Promise.all([makeTenant(api), makeTenant(api), makeTenant(api)]);
  await using dead = await createReceiver();
  await using working = await createReceiver();
  await using refusing = await createReceiver();
  refusing.react(refuse(500));
  const { id: deadId } = await makeWebhook(api, first, dead.url);
  await makeWebhook(api, second, working.url);
  await makeWebhook(api, third, refusing.url);
  const counted = () => countWebhooks(worker);
  const event = (tenant: TestTenant) => makeEvents({ api, worker }, tenant, 1);
  expect(await counted()).toEqual({ enabled: 3, unreachable: 0 });

  for (const receiver of [dead, working, refusing]) await receiver.stop();
  await event(first);
  await event(second);
  await waitFor(async () => (await counted()).unreachable === 2);
  await event(third);
  await waitFor(async () => (await counted()).unreachable === 3);

  await refusing.restart();
  deliveries.pass(MINUTE);
  await waitFor(() => refusing.requests.length > 0); // a reply with 500 is a response
  await waitFor(async () => (await counted()).unreachable === 0);
  await working.restart();
  await event(second);
  await working.waitForEvents(1);

  const forbidden =
    "update deliveries set error = 'url-not-allowed: private' where webhook_id = $1 and error is not null";
  await api.database.query('delete from deliveries where response_status is not null');
  await waitFor(async () => (await counted()).unreachable > 0);
  await api.database.query(forbidden, [webhookUuid(deadId)]);
  expect((await counted()).unreachable).toBe(1); // the refusing one, whose responses were deleted above
});
