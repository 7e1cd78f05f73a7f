import { FAILING_FROM } from '../domain/deliveries.ts';
import { toTypeId } from '../domain/ids.ts';
import type { DisabledReason } from '../domain/webhooks.ts';
import type { Log } from '../platform/log.ts';
import type { Mail } from '../platform/mail.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Storage } from '../storage/orm.ts';
import {
  type Attempt,
  type Item,
  type LeasedWebhook,
  leaseWebhooks,
  readWork,
  recordRound,
  type Work,
} from '../storage/webhook-rounds.ts';
import { disableWebhook } from '../storage/webhooks.ts';
import { runRounds } from './rounds.ts';
import { createSlots, type Slots } from './slots.ts';
import { type RequestDeps, renderBodies, type Sender, secretsOf, sendEvent } from './webhook-requests.ts';

/** Pause between two looks for webhooks with something to deliver. */
const EVERY_MS = 100;
const RETRY_MS = 2000;
/** Maximum number of requests at a time, in total and per webhook. */
const REQUESTS = 200;
const REQUESTS_PER_WEBHOOK = 8;
/** How long a round starts requests. With the time of a request, it ends before its lease. */
const ROUND_MS = 5000;
/** How long requests may go on when the process stops. Without a result they are sent again, under the same id. */
const STOP_GRACE_MS = 2000;

export interface DeliveryDeps extends RequestDeps {
  /** As `parley_worker`. */
  storage: Storage;
  /** As `parley_app`. */
  tenants: Storage;
  metrics: Pick<Metrics, 'webhookDeliveries' | 'webhookSeconds'>;
  mail: Mail | undefined;
  log: Log;
  signal: AbortSignal;
}

/** Shared by the rounds of all webhooks. */
interface Shared {
  slots: Slots;
  /** Aborted some time after the process was asked to stop. */
  overdue: AbortSignal;
}

/**
 * Delivers events to the webhooks of all tenants until the signal is aborted. Several workers may run at once: each
 * webhook is leased by one of them.
 */
export async function runDeliveries(deps: DeliveryDeps): Promise<void> {
  const { storage, log, now, signal } = deps;
  const overdue = new AbortController();
  signal.addEventListener('abort', () => setTimeout(() => overdue.abort(), STOP_GRACE_MS).unref(), { once: true });
  const shared = { slots: createSlots(REQUESTS), overdue: overdue.signal };
  const running = new Set<Promise<void>>();
  await runRounds({ log, signal, failure: 'webhooks could not be read; will retry', retryMs: RETRY_MS }, async () => {
    const free = REQUESTS - running.size;
    for (const webhook of free > 0 ? await leaseWebhooks(storage, free, now()) : []) {
      const one = deliver(webhook, deps, shared).finally(() => running.delete(one));
      running.add(one);
    }
    return EVERY_MS;
  });
  await Promise.all(running);
}

/** Delivers for one webhook, round by round, until its backlog is empty. */
async function deliver(leased: LeasedWebhook, deps: DeliveryDeps, shared: Shared): Promise<void> {
  try {
    for (let webhook: LeasedWebhook | undefined = leased; webhook; ) webhook = await runRound(webhook, deps, shared);
  } catch (error) {
    // its lease expires, and events that were sent without a record are sent again under the same id
    const { message: reason } = error as Error;
    deps.log.warn({ webhook: toTypeId('webhook', leased.id), reason }, 'delivering to a webhook failed; will retry');
  }
}

/** Returns the webhook if its lease goes on. */
async function runRound(
  webhook: LeasedWebhook,
  deps: DeliveryDeps,
  shared: Shared,
): Promise<LeasedWebhook | undefined> {
  const { storage, tenants, outbound, seals, metrics, now, signal } = deps;
  const tenant = storage.forTenant(webhook.tenant_id);
  const work = await readWork(tenant, webhook, now());
  const bodies = await renderBodies(tenants.forTenant(webhook.tenant_id), webhook, work.items, deps.baseUrl);
  const secrets = secretsOf(webhook, seals, now());
  const sender = { outbound, now, url: webhook.url, secrets, bodies, signal: shared.overdue };
  const { attempts, position } = await sendAll(webhook, work, sender, shared.slots, signal);
  for (const { outcome, durationMs } of attempts) {
    metrics.webhookDeliveries.inc({ outcome });
    metrics.webhookSeconds.observe(durationMs / 1000);
  }
  const release = signal.aborted || (!work.hasMore && attempts.length === work.items.length);
  const recorded = await recordRound(tenant, webhook, { attempts, position, release, now: now() });
  if (!recorded) return undefined;
  if (recorded.disable) {
    await disable(webhook, recorded.disable, deps);
    return undefined;
  }
  return release ? undefined : recorded.webhook;
}

/** The attempts of a round, and the number in the feed up to which it sent everything. */
interface Sent {
  attempts: Attempt[];
  position: number;
}

/** Sends the events of a round in their order, several at a time, until one has to wait for those before it. */
async function sendAll(
  webhook: LeasedWebhook,
  { items, readTo }: Work,
  sender: Sender,
  slots: Slots,
  stopping: AbortSignal,
): Promise<Sent> {
  const attempts: Attempt[] = [];
  const startUntil = performance.now() + ROUND_MS;
  let { failures } = webhook;
  let next = 0;
  const mustStop = () =>
    stopping.aborted ||
    performance.now() > startUntil ||
    (attempts.length > 0 && failures >= FAILING_FROM) ||
    (webhook.ordered && attempts.some(({ outcome }) => outcome !== 'delivered' && outcome !== 'expired'));
  const sendNext = () =>
    slots.use(async () => {
      const item = mustStop() ? undefined : items[next++];
      if (!item) return false;
      const attempt = await sendEvent(item, sender);
      if (!attempt) return false;
      attempts.push(attempt);
      failures = attempt.outcome === 'delivered' ? 0 : failures + 1;
      return true;
    });
  const atOnce = webhook.ordered || failures > 0 ? 1 : REQUESTS_PER_WEBHOOK;
  const sendInTurn = async () => {
    while (await sendNext());
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, sendInTurn));
  return { attempts, position: positionAfter(items, attempts, readTo) };
}

/** Returns the number before the first event of the feed that was not sent. */
function positionAfter(items: readonly Item[], attempts: readonly Attempt[], readTo: number): number {
  const sent = new Set(attempts.map(({ item }) => item));
  const left = items.find(item => item.deliveryId === undefined && !sent.has(item));
  return left?.sequence ? left.sequence - 1 : readTo;
}

async function disable(webhook: LeasedWebhook, reason: DisabledReason, deps: DeliveryDeps): Promise<void> {
  const { tenants, mail, log, now, baseUrl } = deps;
  const disabled = await disableWebhook(tenants, webhook.tenant_id, webhook.id, reason, now());
  if (!disabled) return;
  log.warn({ webhook: toTypeId('webhook', webhook.id), tenant: webhook.tenant_id, reason }, 'a webhook was disabled');
  const text = letterText(webhook.url, reason, baseUrl);
  for (const to of disabled.adminEmails)
    await mail
      ?.send({ to, subject: 'A webhook of Parley was disabled', text })
      .catch(error => log.warn({ reason: (error as Error).message }, 'a mail about a disabled webhook was not sent'));
}

const REASONS: Record<DisabledReason, string> = {
  manual: 'It was disabled by your team.',
  gone: 'The receiver has replied with status 410 (Gone).',
  failing: 'The receiver has not accepted an event for 5 days.',
};

const letterText = (url: string, reason: DisabledReason, baseUrl: string): string =>
  `Parley no longer sends events to this webhook:

  ${url}

${REASONS[reason]} Events are kept for 30 days. When you enable the webhook again, it continues where it stood:

  ${baseUrl}/dashboard/
`;
