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

test('a tenant whose webhooks cannot be leased does not keep those of others from their events', async () => {
  const { api, worker } = stores;
  await using receiver = await createReceiver();
  await using other = await createReceiver();
  const [failing, third] = [await makeTenant(api), await makeTenant(api)];
  await makeWebhook(api, failing, receiver.url);
  await makeWebhook(api, third, other.url);
  await api.database.query(
    `create function refuse() returns trigger language plpgsql as $$ begin
       if new.tenant_id = '${failing.uuid}' then raise exception 'refused'; end if;
       return new;
     end $$`,
  );
  await api.database.query('create trigger refuse before update on webhooks for each row execute function refuse()');
  await makeEvents(stores, failing, 3);
  await using deliveries = startDeliveries(api, worker);
  for (let event = 1; event <= 3; event++) {
    await makeEvents(stores, third, 1);
    await other.waitForEvents(event);
  }
  expect(receiver.requests).toEqual([]);
  expect((await deliveries.metrics.workFailures.get()).values[0]?.value).toBeGreaterThan(0);
  await api.database.query('drop function refuse() cascade');
  await receiver.waitForEvents(3);
});
