import { expect, test } from 'vitest';
import type { Storage } from '../../src/storage/database/orm.ts';
import { type TestApi, waitFor } from '../support/api.ts';
import { makeTenant, type TestTenant } from '../support/make.ts';
import { createReceiver, type Reaction, trickle } from '../support/receivers.ts';
import { makeEvents, makeWebhook, startDeliveries, withWebhookStores } from '../support/webhooks.ts';

/** As the limits of the worker: eight requests each of four webhooks that work, and one each of eight that fail. */
const REQUESTS_PER_TENANT = 40;
const WEBHOOKS = 20;
const FAILING = 10;

let api: TestApi;
let worker: Storage;
withWebhookStores(stores => {
  ({ api, worker } = stores);
});

const events = (tenant: TestTenant, count: number) => makeEvents({ api, worker }, tenant, count);

test('a receiver that sends a byte a second ends with the time limit of a request', async () => {
  const tenant = await makeTenant(api);
  await using receiver = await createReceiver();
  receiver.react(trickle);
  const { path } = await makeWebhook(api, tenant, receiver.url);
  await events(tenant, 1);
  await using _ = startDeliveries(api, worker);
  const failed = await waitFor(async () => {
    const { body } = await api.request('GET', `${path}/deliveries?status=failed`, { as: tenant.key.apiKey });
    return body.data.length > 0 && body.data[0];
  });
  expect(failed).toMatchObject({ response_status: null, error: 'ETIMEDOUT' });
});

test('two tenants whose 40 webhooks hang hold at most 40 requests each, and a third one gets its events', async () => {
  await using good = await createReceiver();
  await using stack = new AsyncDisposableStack();
  const most: number[] = [];
  for (const index of [0, 1]) {
    const tenant = await makeTenant(api);
    const dead = stack.use(await createReceiver());
    let open = 0;
    const hangAndCount: Reaction = (_, response) => {
      most[index] = Math.max(most[index] ?? 0, ++open);
      response.on('close', () => open--);
    };
    dead.react(hangAndCount);
    for (let count = 0; count < WEBHOOKS; count++) await makeWebhook(api, tenant, dead.url);
    await api.database.query(
      'update webhooks set failures = 1 where id in (select id from webhooks where tenant_id = $1 limit $2)',
      [tenant.uuid, FAILING],
    );
    await events(tenant, 20);
  }
  const tenant = await makeTenant(api);
  await makeWebhook(api, tenant, good.url);
  await events(tenant, 100);
  await using _ = startDeliveries(api, worker);
  await using __ = startDeliveries(api, api.database.storage('parley_worker'));
  await good.waitForEvents(100);
  await waitFor(() => most.length === 2 && most.every(count => count >= REQUESTS_PER_TENANT));
  expect(most).toEqual([REQUESTS_PER_TENANT, REQUESTS_PER_TENANT]);
});

test('a late 410 of the previous URL neither disables a webhook that was moved nor delays its events', async () => {
  const tenant = await makeTenant(api);
  await using previous = await createReceiver();
  await using next = await createReceiver();
  let reply = () => {};
  previous.react((_, response) => {
    reply = () => response.writeHead(410, { 'Retry-After': '86400' }).end();
  });
  const { path } = await makeWebhook(api, tenant, previous.url);
  await events(tenant, 1);
  await using _ = startDeliveries(api, worker);
  await waitFor(() => previous.requests.length === 1);
  const moved = await api.request('PATCH', path, { as: tenant.key.apiKey, body: { url: next.url } });
  expect(moved.status).toBe(200);
  reply();
  await next.waitForEvents(1);
  expect((await api.request('GET', path, { as: tenant.key.apiKey })).body.status).toBe('enabled');
});
