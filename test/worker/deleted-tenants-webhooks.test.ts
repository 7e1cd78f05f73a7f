import { expect, test } from 'vitest';
import type { Storage } from '../../src/storage/database/orm.ts';
import { deleteTenant } from '../../src/storage/upkeep/deleted-tenants.ts';
import { type TestApi, waitFor } from '../support/api.ts';
import { makeTenant, storageOf } from '../support/make.ts';
import { createReceiver } from '../support/receivers.ts';
import { makeEvents, makeWebhook, startDeliveries, withWebhookStores } from '../support/webhooks.ts';

/** More than the age of settings with which a request may start. */
const SETTINGS_MS = 500;

let api: TestApi;
let worker: Storage;
withWebhookStores(stores => {
  ({ api, worker } = stores);
});

test('the webhooks of a deleted tenant get no more events while its rows are erased', async () => {
  await using receiver = await createReceiver();
  await using other = await createReceiver();
  const [early, late, kept] = await Promise.all([makeTenant(api), makeTenant(api), makeTenant(api)]);
  let reply = () => {};
  receiver.react((_, response) => {
    reply = () => response.writeHead(204).end();
  });
  for (const tenant of [early, late]) await makeWebhook(api, tenant, receiver.url, { ordered: true });
  for (const tenant of [early, late]) await makeEvents({ api, worker }, tenant, 3);
  await deleteTenant(storageOf(api).forTenant(early.uuid));
  await using _ = startDeliveries(api, worker);
  await waitFor(() => receiver.requests.length === 1);
  await deleteTenant(storageOf(api).forTenant(late.uuid)); // while its first event is sent
  await new Promise(resolve => setTimeout(resolve, SETTINGS_MS));
  reply();
  await makeWebhook(api, kept, other.url);
  await makeEvents({ api, worker }, kept, 1);
  await other.waitForEvents(1);
  await new Promise(resolve => setTimeout(resolve, 1500));
  expect(receiver.requests.map(({ event }) => event.tenant_id)).toEqual([late.id]);
  expect(await api.database.query('select from deliveries where tenant_id = $1', [late.uuid])).toEqual([]);
});
