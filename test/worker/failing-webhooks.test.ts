import { expect, test } from 'vitest';
import { makeTenant } from '../support/make.ts';
import { createReceiver, hang, refuse } from '../support/receivers.ts';
import { waitFor } from '../support/wait.ts';
import {
  makeEvents,
  makeWebhook,
  startDeliveries,
  type WebhookStores,
  webhookUuid,
  withWebhookStores,
} from '../support/webhooks.ts';

let stores: WebhookStores;
withWebhookStores(opened => {
  stores = opened;
});

test('a webhook that has just failed gets one event at a time until it succeeds', async () => {
  const { api, worker } = stores;
  await using receiver = await createReceiver();
  const tenant = await makeTenant(api);
  const { id } = await makeWebhook(api, tenant, receiver.url);
  receiver.react(refuse(500));
  await using _ = startDeliveries(api, worker);
  await makeEvents(stores, tenant, 1);
  const countFailures = async () =>
    (
      await api.database.query<{ failures: number }>('select failures from webhooks where id = $1', [webhookUuid(id)])
    )[0]?.failures;
  await waitFor(async () => (await countFailures()) === 1);
  receiver.react(hang);
  await makeEvents(stores, tenant, 20);
  await waitFor(() => receiver.requests.length > 1);
  await new Promise(resolve => setTimeout(resolve, 300)); // further ones would follow at once
  expect(receiver.requests).toHaveLength(2);
});

test('a worker that stops records the requests that it has sent', async () => {
  const { api, worker } = stores;
  await using receiver = await createReceiver();
  const tenant = await makeTenant(api);
  const { id } = await makeWebhook(api, tenant, receiver.url);
  receiver.react((_, response) => void setTimeout(() => response.writeHead(204).end(), 500));
  const deliveries = startDeliveries(api, worker);
  await makeEvents(stores, tenant, 1);
  await waitFor(() => receiver.requests.length > 0);
  await deliveries[Symbol.asyncDispose]();
  const rows = await api.database.query('select status from deliveries where webhook_id = $1', [webhookUuid(id)]);
  expect(rows).toEqual([{ status: 'delivered' }]);
});
