import { expect, test } from 'vitest';
import type { Storage } from '../../src/storage/database/orm.ts';
import { type TestApi, waitFor } from '../support/api.ts';
import { MINUTE } from '../support/clock.ts';
import { makeTenant } from '../support/make.ts';
import { accept, createReceiver, refuse } from '../support/receivers.ts';
import { makeEvents, makeWebhook, startDeliveries, withWebhookStores } from '../support/webhooks.ts';

let api: TestApi;
let worker: Storage;
withWebhookStores(stores => {
  ({ api, worker } = stores);
});

test('an event that is no longer kept fails for good, and the next one of an ordered webhook is sent', async () => {
  const tenant = await makeTenant(api);
  await using receiver = await createReceiver();
  receiver.react(refuse(500));
  const { path } = await makeWebhook(api, tenant, receiver.url, { ordered: true });
  await makeEvents({ api, worker }, tenant, 1);
  await using deliveries = startDeliveries(api, worker);
  const ledger = async () => (await api.request('GET', `${path}/deliveries`, { as: tenant.key.apiKey })).body.data;
  await waitFor(async () => (await ledger()).some(({ status }: { status: string }) => status === 'waiting'));

  await api.database.query('delete from events where tenant_id = $1 and type = $2', [tenant.uuid, 'answer.stored']);
  await makeEvents({ api, worker }, tenant, 1);
  receiver.react(accept);
  deliveries.pass(MINUTE);
  await receiver.waitForEvents(1);
  await waitFor(async () => (await ledger()).length === 3);
  expect(await ledger()).toMatchObject([
    { status: 'delivered', attempt: 1 },
    { status: 'failed', attempt: 2, response_status: null, error: 'the event is no longer kept' },
    { status: 'failed', attempt: 1, response_status: 500 },
  ]);
  const { body } = await api.request('GET', path, { as: tenant.key.apiKey });
  expect(body).toMatchObject({ status: 'enabled', lag: { events: 0 } });
});
