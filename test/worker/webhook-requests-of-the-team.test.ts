import { expect, test } from 'vitest';
import type { Storage } from '../../src/storage/database/orm.ts';
import { type TestApi, waitFor } from '../support/api.ts';
import { HOUR, MINUTE } from '../support/clock.ts';
import { makeTenant, type TestTenant } from '../support/make.ts';
import { accept, createReceiver, type Received, refuse } from '../support/receivers.ts';
import { makeEvents, makeWebhook, startDeliveries, webhookUuid, withWebhookStores } from '../support/webhooks.ts';

let api: TestApi;
let worker: Storage;
withWebhookStores(stores => {
  ({ api, worker } = stores);
});

const send = (tenant: TestTenant, method: string, path: string, body?: unknown) =>
  api.request(method, path, { as: tenant.key.apiKey, ...(body === undefined ? {} : { body }) });
const types = (received: Iterable<Received>) => [...received].map(({ event }) => event.type);
const waitingOf = async (id: string): Promise<string[]> =>
  (
    await api.database.query<{ type: string }>(
      "select type from deliveries where webhook_id = $1 and status = 'waiting' order by sequence",
      [webhookUuid(id)],
    )
  ).map(({ type }) => type);

test.each([false, true])(
  'events of a type that a webhook no longer has are not tried again (ordered: %s)',
  async ordered => {
    const tenant = await makeTenant(api);
    await using receiver = await createReceiver();
    const event_types = ['answer.stored', 'answer.deleted'];
    const { id, path } = await makeWebhook(api, tenant, receiver.url, { event_types, ordered });
    receiver.react(refuse(500));
    for (const type of ['answer.stored', 'answer.deleted', 'answer.stored'] as const)
      await makeEvents({ api, worker }, tenant, 1, type);
    await using deliveries = startDeliveries(api, worker);
    const first = ordered ? ['answer.stored'] : ['answer.stored', 'answer.deleted', 'answer.stored'];
    await waitFor(async () => (await waitingOf(id)).join() === first.join());
    // the attempt that is under way when the type is removed fails afterwards
    let end = () => {};
    receiver.react((_, response) => {
      end = () => response.writeHead(500).end();
    });
    const before = receiver.requests.length;
    deliveries.pass(MINUTE);
    await waitFor(() => receiver.requests.length > before);
    expect((await send(tenant, 'PATCH', path, { event_types: ['answer.deleted'] })).status).toBe(200);
    receiver.react(accept);
    await new Promise(resolve => setTimeout(resolve, 500)); // until the worker reads the settings again
    end();
    await waitFor(() => receiver.accepted.size === 1);
    deliveries.pass(HOUR);
    await waitFor(async () => (await send(tenant, 'GET', path)).body.lag.events === 0);
    expect([types(receiver.accepted.values()), await waitingOf(id)]).toEqual([['answer.deleted'], []]);
  },
);

test('an event that is sent again does not wait for earlier ones of a webhook that fails', async () => {
  const tenant = await makeTenant(api);
  await using receiver = await createReceiver();
  const { id, path } = await makeWebhook(api, tenant, receiver.url);
  receiver.react(refuse(500));
  await makeEvents({ api, worker }, tenant, 6);
  await using deliveries = startDeliveries(api, worker);
  const list = async (status: string) =>
    (await send(tenant, 'GET', `${path}/deliveries?limit=100&status=${status}`)).body.data;
  await waitFor(async () => (await waitingOf(id)).length === 6);
  for (let round = 0; round < 2; round++) {
    const before = receiver.requests.length;
    deliveries.pass(10 * MINUTE);
    await waitFor(() => receiver.requests.length > before);
    // the next attempt is due by the time of its record
    await waitFor(async () => (await list('failed')).length === receiver.requests.length);
  }
  const last = (await list('waiting')).find(({ sequence }: { sequence: number }) => sequence === 7);
  const replay = async () => {
    const { body } = await send(tenant, 'POST', `${path}/deliveries/${last.id}/replay`);
    expect(body).toMatchObject({ event_id: last.event_id, status: 'waiting', attempt: 1 });
  };
  const tried = receiver.requests.length;
  await replay();
  await waitFor(() => receiver.requests.length === tried + 1);
  expect(receiver.requests.at(-1)?.id).toBe(last.event_id);
  expect(receiver.requests).toHaveLength(tried + 1);
});

test('a range of events may begin at any time before them', async () => {
  const tenant = await makeTenant(api);
  await using receiver = await createReceiver();
  const { path } = await makeWebhook(api, tenant, receiver.url);
  await makeEvents({ api, worker }, tenant, 3);
  await using _ = startDeliveries(api, worker);
  await waitFor(async () => (await send(tenant, 'GET', path)).body.lag.events === 0);
  for (const from of ['0001-01-01T00:00:00Z', '1970-01-01T00:00:30Z', '2026-01-01T00:00:00Z']) {
    await waitFor(async () => (await waitingOf(path.split('/').at(-1) as string)).length === 0);
    expect([from, (await send(tenant, 'POST', `${path}/replay`, { from })).body]).toEqual([from, { count: 3 }]);
  }
});

test('a range of events includes those that wait for another attempt', async () => {
  const tenant = await makeTenant(api);
  await using receiver = await createReceiver();
  const { id, path } = await makeWebhook(api, tenant, receiver.url);
  receiver.react(refuse(500));
  await makeEvents({ api, worker }, tenant, 3);
  await using _ = startDeliveries(api, worker);
  await waitFor(async () => (await waitingOf(id)).length === 3);
  receiver.react(accept);
  const later = { from: new Date(Date.now() + HOUR).toISOString(), to: new Date(Date.now() + 2 * HOUR).toISOString() };
  expect((await send(tenant, 'POST', `${path}/replay`, later)).body).toEqual({ count: 0 });
  const range = { from: new Date(Date.now() - HOUR).toISOString() };
  expect((await send(tenant, 'POST', `${path}/replay`, range)).body).toEqual({ count: 3 });
  await receiver.waitForEvents(3);
  await waitFor(async () => (await waitingOf(id)).length === 0);
});
