import { DAY_MS } from '../domain/durations.ts';
import { FAILING_FROM } from '../domain/events/deliveries.ts';
import type { DisabledReason } from '../domain/events/webhooks.ts';
import { toTypeId } from '../domain/ids.ts';
import { webhookPage } from '../domain/links.ts';
import { NOTICE_DAYS } from '../domain/team/mails.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import { describeFailure } from '../storage/database/errors.ts';
import type { Storage } from '../storage/database/orm.ts';
import type { Transaction } from '../storage/database/transaction.ts';
import { insertNotice } from '../storage/team/mails.ts';
import { type Attempt, recordRound } from '../storage/webhooks/webhook-ledger.ts';
import {
  type LeasedWebhook,
  type LeaseScope,
  leaseWebhooks,
  listTenantsToDeliver,
  PLACES,
  readDeliveryNews,
  readWork,
  type Work,
} from '../storage/webhooks/webhook-rounds.ts';
import { disableWebhook } from '../storage/webhooks/webhooks.ts';
import { runRounds } from './rounds.ts';
import { createTenantRounds, type Outcome, type RoundDeps } from './tenant-rounds.ts';
import {
  type EventRequest,
  type RequestDeps,
  renderRequests,
  type Sender,
  secretsOf,
  sendEvent,
} from './webhook-requests.ts';

/** Pause between two looks for webhooks with something to deliver. */
const EVERY_MS = 100;
const RETRY_MS = 2000;
/** How often it reads all webhooks without news: leases may have expired, and the team may have changed one. */
const LOOK_EVERY_MS = 2000;
/** How many requests a webhook gets at a time, at most. One that is ordered or fails gets one. */
const REQUESTS_PER_WEBHOOK = 8;
/** How long a round starts requests, so that they have the present secrets, URL and objects. */
const ROUND_MS = 250;
/** How long a webhook may start rounds until others get its place. */
const TURN_MS = 1000;
/** How long requests may go on when the process stops. Without a result they are sent again, under the same id. */
const STOP_GRACE_MS = 2000;

export interface DeliveryDeps extends RequestDeps {
  /** As `parley_worker`. */
  storage: Storage;
  /** As `parley_app`. */
  tenants: Storage;
  metrics: RoundDeps['metrics'] & Pick<Metrics, 'webhookDeliveries' | 'webhookSeconds' | 'mails'>;
  /** Whether a mail server is configured. */
  sendsMails: boolean;
  log: Log;
  signal: AbortSignal;
}

/**
 * Delivers events to the webhooks of all tenants until the signal is aborted. Several workers may run at once: each
 * webhook is leased by one of them.
 */
export async function runDeliveries(deps: DeliveryDeps): Promise<void> {
  const { storage, log, now, signal } = deps;
  const overdue = new AbortController();
  signal.addEventListener('abort', () => setTimeout(() => overdue.abort(), STOP_GRACE_MS).unref(), { once: true });
  const running = new Map<LeasedWebhook, Promise<void>>();
  let isDue = true;
  const lease = async (which: LeaseScope): Promise<Outcome> => {
    const failing = [...running.keys()].filter(isFailing).length;
    const free = { working: PLACES.working - (running.size - failing), failing: PLACES.failing - failing };
    for (const webhook of await leaseWebhooks(storage, free, now(), which)) {
      const turn = deliver(webhook, deps, overdue.signal).finally(() => {
        running.delete(webhook);
        isDue = true; // it may have more by now, and others may wait for its place
      });
      running.set(webhook, turn);
    }
    return 'done';
  };
  const rounds = createTenantRounds(deps, {
    loop: 'deliveries',
    list: () => listTenantsToDeliver(storage, now()),
    batch: only => lease({ only }),
    together: except => lease({ except }),
  });
  let known: string | undefined;
  let lookAt = 0;
  await runRounds({ log, signal, failure: 'webhooks could not be read; will retry', retryMs: RETRY_MS }, async () => {
    const { numbered, due } = await readDeliveryNews(storage, now());
    if (numbered === known && !due && !isDue && performance.now() < lookAt) return EVERY_MS;
    isDue = false;
    await rounds.run();
    known = numbered;
    lookAt = performance.now() + LOOK_EVERY_MS;
    return EVERY_MS;
  });
  await Promise.all([rounds.ended(), ...running.values()]);
}

const isFailing = ({ failures }: LeasedWebhook): boolean => failures > 0;

/** Sends to a webhook, round by round, until its backlog is empty or its turn is over. */
async function deliver(leased: LeasedWebhook, deps: DeliveryDeps, overdue: AbortSignal): Promise<void> {
  const until = performance.now() + TURN_MS;
  try {
    let webhook: LeasedWebhook | undefined = leased;
    while (webhook) webhook = await runRound(webhook, until, deps, overdue);
  } catch (error) {
    // its lease expires, and events that were sent without a record are sent again under the same id
    const about = { webhook: toTypeId('webhook', leased.id), ...describeFailure(error) };
    deps.log.warn(about, 'delivering to a webhook failed; will retry');
  }
}

/**
 * Reads the next events of a webhook, sends and records them. Returns the webhook as it is then, if another round follows:
 * one that fails has one round in a turn, so that it gets a place of the working ones only after a success.
 */
async function runRound(
  webhook: LeasedWebhook,
  turnUntil: number,
  deps: DeliveryDeps,
  overdue: AbortSignal,
): Promise<LeasedWebhook | undefined> {
  const { storage, tenants, outbound, seals, now, baseUrl, signal } = deps;
  const startUntil = performance.now() + ROUND_MS;
  const tenant = storage.forTenant(webhook.tenant_id);
  const work = await readWork(tenant, webhook, now());
  const requests = await renderRequests(tenants.forTenant(webhook.tenant_id), webhook, work.items, baseUrl);
  const sender = { outbound, now, url: webhook.url, secrets: secretsOf(webhook, seals, now()), signal: overdue };
  const isOver = () => signal.aborted || performance.now() > startUntil;
  const attempts = await sendAll(webhook, requests, sender, isOver);
  for (const { outcome, durationMs } of attempts) {
    deps.metrics.webhookDeliveries.inc({ outcome });
    deps.metrics.webhookSeconds.observe(durationMs / 1000);
  }
  const isEmpty = attempts.length === work.items.length && !work.hasMore;
  const isLast = isEmpty || isFailing(webhook) || signal.aborted || performance.now() > turnUntil;
  const round = { attempts, position: positionAfter(work, attempts), isLast, now: now() };
  const recorded = await recordRound(tenant, webhook, round);
  if (recorded?.disable) await disable(webhook, recorded.disable, deps);
  return recorded?.webhook;
}

/**
 * Sends events in their order, several at a time unless the webhook is ordered or fails, and returns the attempts in the order
 * in which they ended. Starts no more once its time is over, or after a failure that the next event has to wait for. The first
 * ones are always sent, so that a slow database does not prevent them.
 */
async function sendAll(
  { ordered, failures: before }: LeasedWebhook,
  requests: readonly EventRequest[],
  sender: Sender,
  isOver: () => boolean,
): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  let next = 0;
  let failures = before;
  const mustStop = () => failures >= (ordered ? 1 : FAILING_FROM) || isOver();
  const sendInTurn = async () => {
    for (let request = requests[next++]; request; request = mustStop() ? undefined : requests[next++]) {
      const attempt = await sendEvent(request, sender);
      if (!attempt) return;
      attempts.push(attempt);
      if (attempt.outcome !== 'expired') failures = attempt.outcome === 'delivered' ? 0 : failures + 1;
    }
  };
  const atOnce = ordered || before > 0 ? 1 : REQUESTS_PER_WEBHOOK;
  await Promise.all(Array.from({ length: atOnce }, sendInTurn));
  return attempts;
}

/** Returns the number in the feed before the first event that was not sent. */
function positionAfter({ items, readTo }: Work, attempts: readonly Attempt[]): number {
  const sent = new Set(attempts.map(({ item }) => item));
  const left = items.find(item => item.delivery_id === null && !sent.has(item));
  return left?.sequence ? left.sequence - 1 : readTo;
}

async function disable(webhook: LeasedWebhook, reason: DisabledReason, deps: DeliveryDeps): Promise<void> {
  const { tenants, sendsMails, seals, metrics, log, now, baseUrl } = deps;
  const { tenant_id: tenantId, url } = webhook;
  const id = toTypeId('webhook', webhook.id);
  const at = now();
  const letter = {
    subject: 'A webhook of Parley was disabled',
    text: letterText(url, reason, webhookPage(baseUrl, id)),
  };
  const expiresAt = new Date(at.getTime() + NOTICE_DAYS * DAY_MS);
  let limited = 0;
  const notify = async (tx: Transaction, adminEmails: string[]) => {
    limited = 0;
    for (const to of sendsMails ? adminEmails.toSorted() : []) // in one order, so that transactions lock quotas without a deadlock
      if (!(await insertNotice(tx, seals, { tenantId, to, expiresAt, ...letter }, at))) limited++;
  };
  if (!(await disableWebhook(tenants, webhook, reason, at, notify))) return;
  log.warn({ webhook: id, tenant: toTypeId('tenant', tenantId), reason }, 'a webhook was disabled');
  if (limited > 0) metrics.mails.inc({ outcome: 'limited' }, limited);
}

const REASONS: Record<DisabledReason, string> = {
  manual: 'It was disabled by your team.',
  gone: 'The receiver has replied with status 410 (Gone).',
  failing: 'The receiver has not accepted an event for 5 days.',
};

const letterText = (url: string, reason: DisabledReason, page: string): string =>
  `Parley no longer sends events to this webhook:

  ${url}

${REASONS[reason]} Events are kept for 30 days. When you enable the webhook again, it continues where it stood:

  ${page}
`;
