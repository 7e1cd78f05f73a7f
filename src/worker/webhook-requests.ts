import { deliveryBody, keptResponse, type Outcome, TEST_TYPE } from '../domain/events/deliveries.ts';
import type { StoredEvent } from '../domain/events/events.ts';
import { signatureHeaders } from '../domain/events/signatures.ts';
import { toTypeId } from '../domain/ids.ts';
import { BUILD } from '../platform/build-info.ts';
import { type Outbound, UrlNotAllowed } from '../platform/outbound.ts';
import type { Seals } from '../platform/secrets.ts';
import type { TenantStorage } from '../storage/database/orm.ts';
import { presentEvents } from '../storage/webhooks/event-objects.ts';
import type { Attempt } from '../storage/webhooks/webhook-ledger.ts';
import type { Item, LeasedWebhook } from '../storage/webhooks/webhook-rounds.ts';

export interface RequestDeps {
  outbound: Outbound;
  seals: Seals;
  /** The public URL of the API. */
  baseUrl: string;
  now: () => Date;
}

/** Returns the bodies of the requests for events, by the ids of the events, with the objects as they are now. */
export async function renderBodies(
  tenant: TenantStorage,
  { id, payload }: LeasedWebhook,
  items: readonly Item[],
  baseUrl: string,
): Promise<Map<string, string>> {
  const events = items.flatMap(({ event }): StoredEvent[] => (event ? [event] : []));
  const shown = events.length > 0 ? await presentEvents(tenant, events, payload === 'full') : [];
  const bodies = shown.map(
    (event, index) => [(events[index] as StoredEvent).id, deliveryBody(baseUrl, event)] as const,
  );
  const tests = items.filter(({ type }) => type === TEST_TYPE).map(item => [item.eventId, testBody(tenant, id, item)]);
  return new Map([...bodies, ...(tests as [string, string][])]);
}

const testBody = ({ tenantId }: TenantStorage, webhookId: string, { eventId, eventAt }: Item): string =>
  JSON.stringify({
    id: toTypeId('event', eventId),
    type: TEST_TYPE,
    timestamp: eventAt,
    tenant_id: toTypeId('tenant', tenantId),
    object: { type: 'webhook', id: toTypeId('webhook', webhookId) },
    data: {},
  });

/** Returns the secrets with which a webhook's requests are signed now, the newer one first. */
export function secretsOf(webhook: LeasedWebhook, seals: Seals, now: Date): string[] {
  const { id, secret_sealed, previous_secret_sealed, previous_secret_until } = webhook;
  const secrets = [seals.unseal(secret_sealed, id)];
  if (previous_secret_sealed && previous_secret_until && previous_secret_until > now)
    secrets.push(seals.unseal(previous_secret_sealed, id));
  return secrets;
}

/** Shared by the requests of a round. */
export interface Sender extends Pick<RequestDeps, 'outbound' | 'now'> {
  url: string;
  secrets: readonly string[];
  /** The bodies by the ids of the events. */
  bodies: ReadonlyMap<string, string>;
  /** Ends the requests. */
  signal: AbortSignal;
}

/** Sends one event, and returns how that ended. Undefined if the process stopped meanwhile. */
export async function sendEvent(item: Item, sender: Sender): Promise<Attempt | undefined> {
  const { outbound, now, url, secrets, bodies, signal } = sender;
  const body = bodies.get(item.eventId);
  const at = now();
  const started = performance.now();
  const ended = (outcome: Outcome, parts: Partial<Attempt>): Attempt => ({
    ...{ item, at, outcome, status: null, error: null, response: null, retryAfter: undefined },
    durationMs: Math.round(performance.now() - started),
    ...parts,
  });
  if (body === undefined) return ended('expired', { error: 'the event is no longer kept' });
  const id = toTypeId('event', item.eventId);
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': `Parley/${BUILD.version}`,
    ...signatureHeaders(secrets, { id, at, body }),
  };
  try {
    const { status, retryAfter, body: response } = await outbound.post(url, { headers, body, signal });
    const isDelivered = status >= 200 && status < 300;
    return ended(isDelivered ? 'delivered' : 'status', { status, retryAfter, response: keptResponse(response) });
  } catch (error) {
    if (signal.aborted) return undefined;
    return ended(...failureOf(error));
  }
}

const TIMEOUTS = ['ETIMEDOUT', 'ETIMEOUT'];

function failureOf(error: unknown): [Outcome, Partial<Attempt>] {
  const { message, code } = error as NodeJS.ErrnoException;
  if (error instanceof UrlNotAllowed) return ['url-not-allowed', { error: `url-not-allowed: ${message}` }];
  return [TIMEOUTS.includes(code ?? '') ? 'timeout' : 'connection', { error: code ?? 'connection failed' }];
}
