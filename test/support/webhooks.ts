import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect } from 'vitest';
import type { EventType } from '../../src/domain/events/events.ts';
import { parseTypeId } from '../../src/domain/ids.ts';
import { createLog } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { createOutbound } from '../../src/platform/outbound.ts';
import type { Storage } from '../../src/storage/database/orm.ts';
import { writeEvents } from '../../src/storage/events/events.ts';
import { runDeliveries } from '../../src/worker/deliveries.ts';
import { createApi, type TestApi } from './api.ts';
import { numberAll } from './events.ts';
import { storageOf, type TestTenant } from './make.ts';

/** Settings with which webhooks may be sent to this machine. */
export const LOCAL_WEBHOOKS = { OUTBOUND_ALLOW: '127.0.0.0/8', OUTBOUND_HTTP: 'on' };

/** An API whose webhooks may be sent to this machine, and the storage of a worker. */
export interface WebhookStores {
  api: TestApi;
  worker: Storage;
}

/** Opens the stores of a test file before its tests, and closes them after them. `use` receives them. */
export function withWebhookStores(use: (stores: WebhookStores) => void): void {
  let api: TestApi | undefined;
  beforeAll(async () => {
    api = await createApi({ settings: LOCAL_WEBHOOKS });
    use({ api, worker: api.database.storage('parley_worker') });
  });
  afterAll(() => api?.[Symbol.asyncDispose]());
}

const TOTAL_MS = 1500;

export interface DeliveringWorker extends AsyncDisposable {
  /** Lets time pass, by its clock. */
  pass(ms: number): void;
  now(): Date;
  metrics: ReturnType<typeof createMetrics>;
}

/** Runs the deliveries of a worker, with a clock that tests can put forward and requests that end, by default, after 1.5 s. */
export function startDeliveries(api: TestApi, worker: Storage, totalMs = TOTAL_MS): DeliveringWorker {
  const stop = new AbortController();
  const metrics = createMetrics('work');
  let passedMs = 0;
  const now = () => new Date(Date.now() + passedMs);
  const outbound = createOutbound(api.config, { totalMs });
  const ended = runDeliveries({
    storage: worker,
    tenants: storageOf(api),
    outbound,
    seals: api.seals,
    baseUrl: 'https://parley.test',
    metrics,
    sendsMails: true,
    log: createLog('silent', 'work'),
    signal: stop.signal,
    now,
  });
  return {
    pass(ms) {
      passedMs += ms;
    },
    now,
    metrics,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
      outbound.close();
    },
  };
}

/** Creates a webhook of a tenant for the event `answer.stored`, unless `fields` has others. */
export async function makeWebhook(
  api: TestApi,
  tenant: TestTenant,
  url: string,
  fields: Record<string, unknown> = {},
): Promise<{ id: string; secret: string; path: string }> {
  const body = { url, event_types: ['answer.stored'], ...fields };
  const made = await api.request('POST', '/v1/webhooks', { as: tenant.key.apiKey, body });
  expect(made.status).toBe(201);
  return { id: made.body.id, secret: made.body.secret, path: `/v1/webhooks/${made.body.id}` };
}

/** Writes events of a type, of objects that do not exist, and numbers them. */
export async function makeEvents(
  { api, worker }: { api: TestApi; worker: Storage },
  tenant: TestTenant,
  count: number,
  type: EventType = 'answer.stored',
): Promise<void> {
  const object = () => ({ type: 'answer', id: randomUUID() }) as const;
  const events = Array.from({ length: count }, () => ({ tenantId: tenant.uuid, type, object: object() }));
  await storageOf(api)
    .forTenant(tenant.uuid)
    .transaction(tx => writeEvents(tx, events));
  await numberAll(worker);
}

export const webhookUuid = (id: string): string => parseTypeId('webhook', id) as string;
