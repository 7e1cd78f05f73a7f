import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import type { Storage } from '../../src/storage/database/orm.ts';
import { readWebhookLag } from '../../src/storage/webhooks/webhook-figures.ts';
import { type TestApi, waitFor } from '../support/api.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../support/clock.ts';
import { numberAll } from '../support/events.ts';
import { readQueuedMails } from '../support/mail.ts';
import { makeTenant, type TestTenant } from '../support/make.ts';
import { makeMember } from '../support/person.ts';
import {
  accept,
  createReceiver,
  hang,
  type Reaction,
  refuse,
  reset,
  sendGarbage,
  sendMuch,
} from '../support/receivers.ts';
import { makeEvents, makeWebhook, startDeliveries, webhookUuid, withWebhookStores } from '../support/webhooks.ts';

let api: TestApi;
let worker: Storage;
withWebhookStores(stores => {
  ({ api, worker } = stores);
});

const post = (tenant: TestTenant, path: string, body?: unknown) =>
  api.request('POST', path, { as: tenant.key.apiKey, ...(body === undefined ? {} : { body }) });

const addWebhook = (tenant: TestTenant, url: string, fields?: Record<string, unknown>) =>
  makeWebhook(api, tenant, url, fields);

const read = (tenant: TestTenant, path: string) => api.request('GET', path, { as: tenant.key.apiKey });
const patch = (tenant: TestTenant, path: string, body: unknown) =>
  api.request('PATCH', path, { as: tenant.key.apiKey, body });

const rowsOf = (id: string) =>
  api.database.query<{ event_id: string; sequence: string | null; status: string; attempt: number; response: string }>(
    'select event_id, sequence, status, attempt, response from deliveries where webhook_id = $1 order by at, id',
    [webhookUuid(id)],
  );
const events = (tenant: TestTenant, count: number) => makeEvents({ api, worker }, tenant, count);
/** The numbers of a tenant's events; the first one of a tenant is that of its key. */
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 2);
const sequencesOf = (received: Iterable<{ event: { sequence: number } }>) =>
  [...received].map(({ event }) => event.sequence).toSorted((a, b) => a - b);

describe('a webhook', () => {
  test('gets each event since its creation once, signed, and each is one row of the ledger', async () => {
    const tenant = await makeTenant(api);
    await using receiver = await createReceiver();
    await events(tenant, 3);
    const { id, secret, path } = await addWebhook(tenant, receiver.url);
    await makeEvents({ api, worker }, tenant, 2, 'message.created');
    await events(tenant, 200);
    await using deliveries = startDeliveries(api, worker);
    await receiver.waitForEvents(200);
    expect(sequencesOf(receiver.requests)).toEqual(numbers(200).map(number => number + 5));
    const [{ headers, body, event, id: webhookId }] = receiver.requests as [(typeof receiver.requests)[0]];
    expect(new Webhook(secret).verify(body, headers as never)).toEqual(event);
    expect(event).toMatchObject({ id: webhookId, type: 'answer.stored', tenant_id: tenant.id, data: { object: null } });
    const changed = `${body.slice(0, -2)} ${body.slice(-1)}`;
    expect(() => new Webhook(secret).verify(changed, headers as never)).toThrow();
    await waitFor(async () => (await read(tenant, path)).body.lag.events === 0);
    const rows = await rowsOf(id);
    expect(rows.map(row => [row.status, row.attempt])).toEqual(numbers(200).map(() => ['delivered', 1]));
    expect(new Set(rows.map(row => row.sequence)).size).toBe(200);
    const page = await read(tenant, `${path}/deliveries?limit=100&status=delivered&after=106`);
    expect(page.body.data).toHaveLength(100);
    expect(page.body.data[0]).toMatchObject({ status: 'delivered', response_status: 204, error: null, response: null });
    expect(await deliveries.metrics.render()).toContain('parley_webhook_deliveries_total{outcome="delivered"} 200');
  });

  test('gets the next event of its types, however many of other types are before it', async () => {
    const tenant = await makeTenant(api);
    await using receiver = await createReceiver();
    const { path } = await addWebhook(tenant, receiver.url);
    await makeEvents({ api, worker }, tenant, 1100, 'message.created');
    await events(tenant, 1);
    await makeEvents({ api, worker }, tenant, 600, 'message.created');
    await using _ = startDeliveries(api, worker);
    await waitFor(async () => (await read(tenant, path)).body.lag.events === 0);
    expect(sequencesOf(receiver.requests)).toEqual([1102]);
  });

  test('gets every event at least once, under the same id, from a receiver that fails in every way', async () => {
    const tenant = await makeTenant(api);
    await using receiver = await createReceiver();
    const { id, path } = await addWebhook(tenant, receiver.url);
    const reactions: Reaction[] = [
      ...[accept, refuse(500), accept, refuse(302, { Location: 'http://127.0.0.1:1/' }), accept, reset, accept, accept],
      ...[sendGarbage, accept, sendMuch, hang, accept, refuse(429, { 'Retry-After': '3' }), accept],
    ];
    let count = 0;
    receiver.react((...given) => (reactions[count++ % reactions.length] as Reaction)(...given));
    await events(tenant, 150);
    await using deliveries = startDeliveries(api, worker);
    await waitFor(async () => {
      if (receiver.requests.length === 60) {
        await receiver.stop();
        await receiver.restart();
      }
      deliveries.pass(10 * MINUTE);
      return (await read(tenant, path)).body.lag.events === 0;
    });
    expect(sequencesOf(receiver.accepted.values())).toEqual(numbers(150));
    const eventsOfIds = Map.groupBy(receiver.requests, request => request.id);
    for (const those of eventsOfIds.values()) expect(new Set(those.map(({ event }) => event.sequence)).size).toBe(1);
    const rows = await rowsOf(id);
    const delivered = rows.filter(({ status }) => status === 'delivered');
    expect(delivered.map(({ sequence }) => Number(sequence)).toSorted((a, b) => a - b)).toEqual(numbers(150));
    expect(rows.filter(({ status }) => status === 'waiting')).toEqual([]);
    expect(rows.length).toBeGreaterThan(200);
    const errors = (await read(tenant, `${path}/deliveries?limit=100&status=failed`)).body.data;
    for (const error of ['ECONNRESET', 'HPE_INVALID_CONSTANT', 'ETIMEDOUT'])
      expect(errors.some((one: { error: string }) => one.error === error)).toBe(true);
  });

  test('of a day-long outage gets all events afterwards, and has few rows meanwhile', async () => {
    const tenant = await makeTenant(api);
    await using receiver = await createReceiver();
    const { id, path } = await addWebhook(tenant, receiver.url);
    receiver.react(refuse(503));
    await using deliveries = startDeliveries(api, worker);
    for (let hour = 0; hour < 24; hour++) {
      await events(tenant, 40);
      const before = receiver.requests.length;
      for (let step = 0; step < 4; step++) {
        deliveries.pass(15 * MINUTE);
        await new Promise(resolve => setImmediate(resolve));
      }
      if (hour < 3) await waitFor(() => receiver.requests.length > before);
    }
    const outage = await rowsOf(id);
    expect(outage.filter(({ status }) => status === 'waiting').length).toBeLessThanOrEqual(12);
    expect(receiver.requests.length).toBeLessThan(60);
    expect((await read(tenant, path)).body.lag.events).toBeGreaterThan(950);
    receiver.react(accept);
    deliveries.pass(DAY);
    await receiver.waitForEvents(960);
    expect(sequencesOf(receiver.accepted.values())).toEqual(numbers(960));
    await waitFor(async () => (await read(tenant, path)).body.lag.events === 0);
  });

  test('with "ordered" gets the next event only after the previous one succeeded', async () => {
    const tenant = await makeTenant(api);
    await using receiver = await createReceiver();
    await addWebhook(tenant, receiver.url, { ordered: true });
    let count = 0;
    receiver.react((...given) => (count++ % 3 === 1 ? refuse(500) : accept)(...given));
    await events(tenant, 12);
    await using deliveries = startDeliveries(api, worker);
    await waitFor(() => {
      deliveries.pass(MINUTE);
      return receiver.accepted.size === 12;
    });
    expect([...receiver.accepted.values()].map(({ event }) => event.sequence)).toEqual(numbers(12));
    expect(receiver.requests.map(({ event }) => event.sequence).toSorted((a, b) => a - b)).toEqual(
      receiver.requests.map(({ event }) => event.sequence),
    );
  });

  test('is not slowed down by ten whose receivers hang', async () => {
    const tenant = await makeTenant(api);
    await using dead = await createReceiver();
    dead.react(hang);
    await using receiver = await createReceiver();
    for (let count = 0; count < 10; count++) await addWebhook(tenant, dead.url);
    await addWebhook(tenant, receiver.url);
    await using _ = startDeliveries(api, worker);
    await events(tenant, 100);
    await receiver.waitForEvents(100);
    expect(dead.accepted.size).toBe(0);
    expect(dead.requests.length).toBeGreaterThan(0);
  });
});

describe('the secrets of a webhook', () => {
  test('both sign while one is rotated, and afterwards only the new one', async () => {
    const tenant = await makeTenant(api);
    await using receiver = await createReceiver();
    const { secret, path } = await addWebhook(tenant, receiver.url);
    const rotated = await post(tenant, `${path}/rotate-secret`, { overlap_hours: 1 });
    expect(rotated.body.secret).toMatch(/^whsec_/);
    expect((await post(tenant, `${path}/rotate-secret`, {})).body.code).toBe('rotation-running');
    await events(tenant, 1);
    await using deliveries = startDeliveries(api, worker);
    await receiver.waitForEvents(1);
    const verify = (key: string, index: number) => {
      const { body, headers } = receiver.requests[index] as (typeof receiver.requests)[0];
      const at = Math.floor(Date.now() / 1000);
      expect(Number(headers['webhook-timestamp'])).toBeGreaterThan(at - 60);
      return new Webhook(key).verify(body, headers as never);
    };
    for (const key of [secret, rotated.body.secret]) expect(verify(key, 0)).toMatchObject({ type: 'answer.stored' });
    deliveries.pass(HOUR + SECOND);
    await events(tenant, 1);
    await receiver.waitForEvents(2);
    const signatures = receiver.requests.map(({ headers }) => String(headers['webhook-signature']).split(' ').length);
    expect(signatures).toEqual([2, 1]);
    const stored = await api.database.query('select * from webhooks where tenant_id = $1', [tenant.uuid]);
    expect(JSON.stringify(stored)).not.toContain(secret.slice('whsec_'.length));
  });

  test('without an overlap, only the new one signs shortly after the rotation, also within a backlog', async () => {
    const tenant = await makeTenant(api);
    await using receiver = await createReceiver();
    receiver.react((...given) => setTimeout(() => accept(...given), 20));
    const { path } = await addWebhook(tenant, receiver.url);
    await events(tenant, 1000);
    await using _ = startDeliveries(api, worker);
    await waitFor(async () => receiver.requests.length > 10);
    const { secret } = (await post(tenant, `${path}/rotate-secret`, { overlap_hours: 0 })).body;
    await new Promise(resolve => setTimeout(resolve, 1000)); // longer than settings are used without being read again
    const sent = receiver.requests.length;
    await receiver.waitForEvents(1000);
    expect(sequencesOf(receiver.requests)).toEqual(numbers(1000));
    expect(sent).toBeLessThan(900);
    for (const { body, headers } of receiver.requests.slice(sent))
      expect(() => new Webhook(secret).verify(body, headers as never)).not.toThrow();
  });
});

describe('a webhook is disabled', () => {
  const disabled = async (tenant: TestTenant, path: string) =>
    (await waitFor(async () => {
      const { body } = await read(tenant, path);
      return body.status === 'disabled' && body;
    })) as { disabled_reason: string };

  test('by status 410, with an event, an entry in the audit log and a mail to the admins', async () => {
    const tenant = await makeTenant(api);
    const admin = await makeMember(api, tenant, 'admin');
    await makeMember(api, tenant, 'agent');
    await using receiver = await createReceiver();
    receiver.react(refuse(410));
    const { path, id } = await addWebhook(tenant, receiver.url);
    await events(tenant, 1);
    await using _ = startDeliveries(api, worker);
    expect((await disabled(tenant, path)).disabled_reason).toBe('gone');
    await numberAll(worker);
    const feed = await api.database.query(
      "select data from events where tenant_id = $1 and type = 'webhook.disabled'",
      [tenant.uuid],
    );
    expect(feed).toEqual([{ data: { to: 'gone', by: { type: 'system', id: null } } }]);
    const log = await api.request('GET', '/v1/audit-log?action=webhook.disabled', {
      headers: { ...admin.headers, 'Tenant-Id': tenant.id },
    });
    expect(log.body.data).toMatchObject([{ actor: { type: 'system' }, target: { id } }]);
    const mails = await waitFor(async () => (await readQueuedMails(api)).length > 0 && readQueuedMails(api));
    expect(mails.map(({ to }) => to)).toEqual([admin.email]);
    expect(mails[0]?.text).toContain(receiver.url);
    expect(mails[0]?.text).toContain(`/dashboard/settings${path.slice('/v1'.length)}\n`);
    expect((await post(tenant, `${path}/test`)).body.code).toBe('invalid-transition');

    receiver.react(accept);
    await events(tenant, 2);
    expect((await patch(tenant, path, { resume: 'now' })).body.errors[0].pointer).toBe('/resume');
    expect((await patch(tenant, path, { status: 'enabled' })).body).toMatchObject({ disabled_reason: null });
    await receiver.waitForEvents(3);
  });

  test('after five days without a success, and skips what it missed with "resume": "now"', async () => {
    const tenant = await makeTenant(api);
    await using receiver = await createReceiver();
    receiver.react(refuse(500));
    const { path } = await addWebhook(tenant, receiver.url);
    await events(tenant, 1);
    await using deliveries = startDeliveries(api, worker);
    await waitFor(async () => {
      deliveries.pass(6 * HOUR);
      return (await read(tenant, path)).body.status === 'disabled';
    });
    expect((await disabled(tenant, path)).disabled_reason).toBe('failing');
    receiver.react(accept);
    expect((await patch(tenant, path, { status: 'enabled', resume: 'now' })).body.lag.events).toBe(0);
    await events(tenant, 1);
    await receiver.waitForEvents(1);
    expect(sequencesOf(receiver.accepted.values())).not.toContain(2);
  });
});

describe('an event is sent again', () => {
  test('under its id, one or those of a range, and a test as a type of its own', async () => {
    const tenant = await makeTenant(api);
    await using receiver = await createReceiver();
    const from = new Date().toISOString();
    const { path } = await addWebhook(tenant, receiver.url);
    await events(tenant, 5);
    await using _ = startDeliveries(api, worker);
    await receiver.waitForEvents(5);
    const list = async () => (await read(tenant, `${path}/deliveries`)).body.data;
    await waitFor(async () => (await list()).length === 5);
    const [one] = await list();
    expect((await read(tenant, `${path}/deliveries/${one.id}`)).body).toEqual(one);
    const replayed = await post(tenant, `${path}/deliveries/${one.id}/replay`);
    expect(replayed.body).toMatchObject({
      event_id: one.event_id,
      sequence: one.sequence,
      status: 'waiting',
      attempt: 1,
    });
    await waitFor(() => receiver.requests.length === 6);
    expect(receiver.requests[5]?.id).toBe(one.event_id);
    const range = await post(tenant, `${path}/replay`, { from, types: ['answer.stored'] });
    expect([range.status, range.body]).toEqual([202, { count: 5 }]);
    await waitFor(() => receiver.requests.length === 11);
    expect(receiver.accepted.size).toBe(5);
    expect((await post(tenant, `${path}/replay`, { from, types: ['message.created'] })).body).toEqual({ count: 0 });
    const tested = await post(tenant, `${path}/test`);
    expect(tested.body).toMatchObject({ type: 'webhook.test', sequence: null, status: 'waiting' });
    await waitFor(() => receiver.requests.length === 12);
    expect(receiver.requests[11]).toMatchObject({ id: tested.body.event_id, event: { type: 'webhook.test' } });
  });
});

describe('several workers', () => {
  test('send each event once, and one takes over what a killed one has leased', async () => {
    const tenant = await makeTenant(api);
    await using receiver = await createReceiver();
    const hooks = [];
    for (let count = 0; count < 5; count++) hooks.push(await addWebhook(tenant, `${receiver.url}${count}`));
    await events(tenant, 100);
    await using _ = startDeliveries(api, worker);
    await using __ = startDeliveries(api, api.database.storage('parley_worker'));
    await waitFor(() => receiver.requests.length >= 500);
    await waitFor(async () => (await readWebhookLag(worker)) === 0);
    expect(receiver.requests.length).toBe(500);
    const killed =
      "update webhooks set lease = gen_random_uuid(), lease_until = now() + interval '3 seconds' where tenant_id = $1";
    await api.database.query(killed, [tenant.uuid]);
    await events(tenant, 1);
    await waitFor(() => receiver.requests.length === 505);
  });
});

test('one that is disabled meanwhile gets no more than a round, and the rest once it is enabled again', async () => {
  const tenant = await makeTenant(api);
  await using receiver = await createReceiver();
  const { path } = await addWebhook(tenant, receiver.url);
  receiver.react((_, response) => {
    setTimeout(() => response.writeHead(204).end(), 20);
  });
  await events(tenant, 600);
  await using _ = startDeliveries(api, worker);
  await waitFor(() => receiver.requests.length > 0);
  expect((await patch(tenant, path, { status: 'disabled' })).status).toBe(200);
  const before = receiver.requests.length;
  await waitFor(async () => {
    const [row] = await api.database.query('select from webhooks where tenant_id = $1 and lease is null', [
      tenant.uuid,
    ]);
    return row !== undefined;
  });
  expect(receiver.requests.length - before).toBeLessThanOrEqual(64);
  const sent = receiver.requests.length;
  await new Promise(resolve => setTimeout(resolve, 500));
  expect(receiver.requests.length).toBe(sent);
  expect((await patch(tenant, path, { status: 'enabled' })).status).toBe(200);
  await receiver.waitForEvents(600);
  expect(sequencesOf(receiver.requests)).toEqual(numbers(600));
});

test('the next events are read again when a receiver takes long, so that a deleted object is not sent', async () => {
  const tenant = await makeTenant(api);
  await using receiver = await createReceiver();
  const user = await tenant.sign('user|42');
  const { path } = await addWebhook(tenant, receiver.url, { event_types: ['answer.stored', 'message.created'] });
  await events(tenant, 64);
  const { body } = await api.request('POST', '/v1/conversations', { as: user, body: { message: 'Zanzibar' } });
  await numberAll(worker);
  const held: (() => void)[] = [];
  receiver.react((_, response) => {
    held.push(() => response.writeHead(204).end());
  });
  await using _ = startDeliveries(api, worker, 60_000);
  await waitFor(() => held.length === 8);
  expect((await api.request('DELETE', `/v1/conversations/${body.id}`, { as: tenant.key.apiKey })).status).toBe(204);
  await new Promise(resolve => setTimeout(resolve, 1100));
  receiver.react(accept);
  for (const release of held) release();
  await waitFor(async () => (await read(tenant, path)).body.lag.events === 0);
  expect(receiver.requests.map(({ event }) => event.type)).toContain('message.created');
  expect(receiver.requests.some(request => request.body.includes('Zanzibar'))).toBe(false);
});

test('at most 20 webhooks are created', async () => {
  const tenant = await makeTenant(api);
  for (let count = 0; count < 20; count++) await addWebhook(tenant, 'https://93.184.215.14/');
  const more = await post(tenant, '/v1/webhooks', { url: 'https://93.184.215.14/', event_types: ['answer.stored'] });
  expect([more.status, more.body.code]).toEqual([409, 'limit-reached']);
});
