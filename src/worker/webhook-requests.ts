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

/**
 * Maximum length of a round's bodies in characters, so that slow receivers of large objects use little memory. The next round
 * reads the other events again.
 */
const ROUND_CHARACTERS = 128 * 1024;

export interface RequestDeps {
  outbound: Outbound;
  seals: Seals;
  /** The public URL of the API. */
  baseUrl: string;
  now: () => Date;
}

/** An event to send, and the body of its request; undefined if the event is no longer kept. */
export interface EventRequest {
  item: Item;
  body: string | undefined;
}

/** Returns the requests for the first events, as many as fit into a round, with the objects as they are now. */
export async function renderRequests(
  tenant: TenantStorage,
  { id, payload }: LeasedWebhook,
  items: readonly Item[],
  baseUrl: string,
): Promise<EventRequest[]> {
  const events = items.filter(({ object_type }) => object_type !== null).map(storedEventOf);
  const shown = events.length > 0 ? await presentEvents(tenant, events, payload === 'full') : [];
  const bodies = new Map(shown.map((event, index) => [events[index]?.id, deliveryBody(baseUrl, event)]));
  let length = 0;
  return items
    .map(item => ({ item, body: item.type === TEST_TYPE ? testBody(tenant, id, item) : bodies.get(item.event_id) }))
    .filter(({ body = '' }, index) => {
      length += body.length;
      return index === 0 || length <= ROUND_CHARACTERS;
    });
}

const storedEventOf = (item: Item) => ({ ...item, id: item.event_id, written_at: item.event_at }) as StoredEvent;

const testBody = ({ tenantId }: TenantStorage, webhookId: string, { event_id, event_at }: Item): string =>
  JSON.stringify({
    id: toTypeId('event', event_id),
    type: TEST_TYPE,
    timestamp: event_at,
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
  /** Ends the requests. */
  signal: AbortSignal;
}

/** Sends one event, and returns how that ended. Undefined if the process stopped meanwhile. */
export async function sendEvent({ item, body }: EventRequest, sender: Sender): Promise<Attempt | undefined> {
  const { outbound, now, url, secrets, signal } = sender;
  const at = now();
  const started = performance.now();
  const ended = (outcome: Outcome, parts: Partial<Attempt>): Attempt => ({
    ...{ item, at, outcome, status: null, error: null, response: null, retryAfter: undefined },
    durationMs: Math.round(performance.now() - started),
    ...parts,
  });
  if (body === undefined) return ended('expired', { error: 'the event is no longer kept' });
  const id = toTypeId('event', item.event_id);
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
