import { z } from 'zod';
import { Delivery, DeliveryStatus, presentDelivery, type StoredDelivery } from '../../domain/events/deliveries.ts';
import { rightsToExpand } from '../../domain/events/events.ts';
import {
  NewWebhook,
  presentWebhook,
  ReplayCount,
  rangeOf,
  requireResumable,
  type StoredWebhook,
  Webhook,
  WebhookPatch,
  WebhookReplay,
  WebhookRotation,
  webhookSettings,
} from '../../domain/events/webhooks.ts';
import { toTypeId, typeId } from '../../domain/ids.ts';
import { filterOf, pageOf, pageQuery, queryInt } from '../../domain/pages.ts';
import { fieldFault } from '../../domain/problem.ts';
import { type Outbound, UrlNotAllowed } from '../../platform/outbound.ts';
import {
  findDelivery,
  insertTest,
  listDeliveries as listDeliveryRows,
  replayDelivery as replayOne,
  replayRange,
} from '../../storage/webhooks/deliveries.ts';
import {
  deleteWebhook as deleteWebhookRow,
  findWebhook,
  insertWebhook,
  lagOf,
  listWebhooks as listWebhookRows,
  rotateWebhookSecret as rotateSecret,
  updateWebhook,
  type WebhookRow,
} from '../../storage/webhooks/webhooks.ts';
import type { Caller } from '../caller.ts';
import { authorize } from '../credentials/authenticate.ts';
import { settingsTagOf } from '../http/etag.ts';
import { operation, reply } from '../operation.ts';

const WebhookPath = z.object({ id: typeId('webhook') });
const DeliveryPath = z.object({ id: typeId('webhook'), delivery_id: typeId('delivery') });

const present = (row: WebhookRow, now: Date, secret?: string) => presentWebhook(row, lagOf(row, now), now, secret);

/** The lag changes with every event. `If-Match` compares only the settings. */
const tagOf = (row: WebhookRow, now: Date): string => settingsTagOf(webhookSettings(row, now), present(row, now));

const replyWith = (row: WebhookRow, now: Date, secret?: string) =>
  reply({ headers: { ETag: tagOf(row, now) }, body: present(row, now, secret) });

/** The audit log names the webhook: its deliveries are kept for 30 days only. */
const replyDelivery = (row: StoredDelivery, webhookId: string) =>
  reply({ body: presentDelivery(row), target: toTypeId('webhook', webhookId) });

/** Throws 403 if the caller may not read the objects that a webhook would send. */
function requireRights(caller: Caller, { payload, event_types }: Pick<StoredWebhook, 'payload' | 'event_types'>): void {
  if (payload === 'full') for (const right of rightsToExpand(event_types)) authorize(caller, [caller.kind], right);
}

/** Returns whether a patch only disables the webhook, which then sends no objects. */
const onlyDisables = ({ status, ...others }: WebhookPatch): boolean =>
  status === 'disabled' && Object.keys(others).length === 0;

/** Throws 422 for a URL to which no request can be sent. */
async function requireUrl(outbound: Outbound, url: string): Promise<void> {
  try {
    await outbound.check(url);
  } catch (error) {
    if (error instanceof UrlNotAllowed) throw fieldFault('/url', 'url-not-allowed', error.message);
    throw error;
  }
}

const shared = {
  tag: 'Webhooks',
  credentials: ['api-key', 'session'] as ('api-key' | 'session')[],
  right: 'webhooks:manage',
} as const;

export const listWebhooks = operation({
  ...shared,
  id: 'listWebhooks',
  method: 'get',
  path: '/v1/webhooks',
  summary: 'List webhooks, oldest first',
  query: z.object(pageQuery),
  status: 200,
  response: pageOf(Webhook),
  async handle({ caller, query, after, page }, { storage, now }) {
    const rows = await listWebhookRows(storage.forTenant(caller.tenantId), query.limit, after);
    return page(rows, row => present(row, now()));
  },
});

export const createWebhook = operation({
  ...shared,
  id: 'createWebhook',
  method: 'post',
  path: '/v1/webhooks',
  summary: 'Create a webhook',
  description:
    'Sends the events from now on to a URL, signed as Standard Webhooks describe. `secret` verifies the signatures and is shown only once. `payload: full` requires the rights to read the objects.',
  audit: 'webhook.created',
  showsSecret: true,
  body: NewWebhook,
  status: 201,
  sends: ['Location'],
  response: Webhook,
  etag: true,
  problems: ['limit-reached'],
  async handle({ caller, body }, { storage, keychain, outbound, now }) {
    requireRights(caller, { payload: 'full', ...body });
    await requireUrl(outbound, body.url);
    const at = now();
    const { row, secret } = await insertWebhook(storage.forTenant(caller.tenantId), keychain, body, at);
    return reply({
      headers: { Location: `/v1/webhooks/${toTypeId('webhook', row.id)}`, ETag: tagOf(row, at) },
      body: present(row, at, secret),
    });
  },
});

export const readWebhook = operation({
  ...shared,
  id: 'readWebhook',
  method: 'get',
  path: '/v1/webhooks/{id}',
  summary: 'Get a webhook, without its secret',
  params: WebhookPath,
  status: 200,
  response: Webhook,
  etag: true,
  async handle({ caller, params }, { storage, now }) {
    return replyWith(await findWebhook(storage.forTenant(caller.tenantId), params.id), now());
  },
});

export const patchWebhook = operation({
  ...shared,
  id: 'patchWebhook',
  method: 'patch',
  path: '/v1/webhooks/{id}',
  summary: 'Update, disable or enable a webhook',
  description:
    'A webhook that is enabled again continues where it stood, or with the next event (`resume`). With another URL, with fewer types, or enabled again, it is tried at once, with up to 10,000 of the events that wait for another attempt. Events of types that it no longer has are not sent any more, also those that wait for another attempt. A change of `payload: full` requires the rights to read the objects, unless it only disables the webhook.',
  audit: 'webhook.updated',
  params: WebhookPath,
  body: WebhookPatch,
  status: 200,
  response: Webhook,
  ifMatch: true,
  etag: true,
  async handle({ caller, params, body, requireTag }, { storage, outbound, now }) {
    requireResumable(body);
    if (body.url !== undefined) await requireUrl(outbound, body.url);
    const at = now();
    const row = await updateWebhook(storage.forTenant(caller.tenantId), params.id, body, at, before => {
      requireTag(tagOf(before, at), 'settings');
      if (onlyDisables(body)) return;
      requireRights(caller, {
        payload: body.payload ?? before.payload,
        event_types: body.event_types ?? before.event_types,
      });
    });
    return replyWith(row, at);
  },
});

export const deleteWebhook = operation({
  ...shared,
  id: 'deleteWebhook',
  method: 'delete',
  path: '/v1/webhooks/{id}',
  summary: 'Delete a webhook',
  description: 'Events that it has not delivered are not sent any more. They remain in the feed.',
  audit: 'webhook.deleted',
  params: WebhookPath,
  status: 204,
  ifMatch: true,
  async handle({ caller, params, requireTag }, { storage, now }) {
    const at = now();
    const row = await deleteWebhookRow(storage.forTenant(caller.tenantId), params.id, before =>
      requireTag(tagOf(before, at), 'settings'),
    );
    return reply({ status: 204, body: present(row, at) });
  },
});

export const rotateWebhookSecret = operation({
  ...shared,
  id: 'rotateWebhookSecret',
  method: 'post',
  path: '/v1/webhooks/{id}/rotate-secret',
  summary: 'Rotate the secret of a webhook',
  description:
    'The reply contains the new `secret`, which is shown only once. For `overlap_hours`, requests are signed with both secrets. Requests that begin within a second after the reply may still be signed with the previous secret only.',
  audit: 'webhook.rotated',
  showsSecret: true,
  params: WebhookPath,
  body: WebhookRotation,
  isBodyOptional: true,
  status: 200,
  response: Webhook,
  ifMatch: true,
  etag: true,
  problems: ['rotation-running'],
  async handle({ caller, params, body, requireTag }, { storage, keychain, now }) {
    const at = now();
    const tenant = storage.forTenant(caller.tenantId);
    const check = (before: WebhookRow) => requireTag(tagOf(before, at), 'settings');
    const rotation = { overlapHours: body.overlap_hours, now: at, check };
    const { row, secret } = await rotateSecret(tenant, keychain, params.id, rotation);
    return replyWith(row, at, secret);
  },
});

export const testWebhook = operation({
  ...shared,
  id: 'testWebhook',
  method: 'post',
  path: '/v1/webhooks/{id}/test',
  summary: 'Send a test event',
  description:
    'Sends an event of the type `webhook.test` once. The reply is its delivery, which is `waiting`; its outcome is in the list of deliveries within seconds.',
  audit: 'webhook.tested',
  params: WebhookPath,
  status: 200,
  response: Delivery,
  problems: ['invalid-transition'],
  async handle({ caller, params }, { storage, now }) {
    const row = await insertTest(storage.forTenant(caller.tenantId), params.id, now());
    return replyDelivery(row, params.id);
  },
});

export const listDeliveries = operation({
  ...shared,
  id: 'listDeliveries',
  method: 'get',
  path: '/v1/webhooks/{id}/deliveries',
  summary: 'List the attempts of a webhook, newest first',
  description: 'Attempts are kept for 30 days. Those with the status `waiting` are still to come.',
  params: WebhookPath,
  query: z.object({
    ...pageQuery,
    status: filterOf(DeliveryStatus.options, 'Status of the delivery'),
    after: queryInt(0, 9_999_999_999).optional().meta({ description: 'Only of events after this `sequence`' }),
  }),
  status: 200,
  response: pageOf(Delivery),
  async handle({ caller, params, query, after, page }, { storage }) {
    const tenant = storage.forTenant(caller.tenantId);
    const filter = { webhookId: (await findWebhook(tenant, params.id)).id, status: query.status, after: query.after };
    return page(await listDeliveryRows(tenant, filter, query.limit, after), presentDelivery);
  },
});

export const readDelivery = operation({
  ...shared,
  id: 'readDelivery',
  method: 'get',
  path: '/v1/webhooks/{id}/deliveries/{delivery_id}',
  summary: 'Get an attempt of a webhook',
  params: DeliveryPath,
  status: 200,
  response: Delivery,
  async handle({ caller, params }, { storage }) {
    return presentDelivery(await findDelivery(storage.forTenant(caller.tenantId), params.id, params.delivery_id));
  },
});

export const replayDelivery = operation({
  ...shared,
  id: 'replayDelivery',
  method: 'post',
  path: '/v1/webhooks/{id}/deliveries/{delivery_id}/replay',
  summary: 'Send an event again',
  description: 'Sends the event of a delivery again, under its `webhook-id`, with the object as it is now.',
  audit: 'webhook.replayed',
  params: DeliveryPath,
  status: 200,
  response: Delivery,
  problems: ['invalid-transition'],
  async handle({ caller, params }, { storage, now }) {
    const tenant = storage.forTenant(caller.tenantId);
    return replyDelivery(await replayOne(tenant, params.id, params.delivery_id, now()), params.id);
  },
});

export const replayDeliveries = operation({
  ...shared,
  id: 'replayDeliveries',
  method: 'post',
  path: '/v1/webhooks/{id}/replay',
  summary: 'Send the events of a range of time again',
  description:
    'Of the types of the webhook, or some of them; at most 10,000 events, as far as they are kept. Each is sent under its `webhook-id`.',
  audit: 'webhook.replayed',
  params: WebhookPath,
  body: WebhookReplay,
  status: 202,
  response: ReplayCount,
  problems: ['invalid-transition'],
  async handle({ caller, params, body }, { storage, now }) {
    const tenant = storage.forTenant(caller.tenantId);
    const at = now();
    const { from, to } = rangeOf(body, at);
    const { event_types } = await findWebhook(tenant, params.id);
    const types = event_types.filter(type => body.types?.includes(type) ?? true);
    return { count: await replayRange(tenant, params.id, { from, to, types }, at) };
  },
});

/** Every operation on webhooks. */
export const webhookRoutes = [
  ...[listWebhooks, createWebhook, readWebhook, patchWebhook, deleteWebhook],
  ...[rotateWebhookSecret, testWebhook, listDeliveries, readDelivery, replayDelivery, replayDeliveries],
];
