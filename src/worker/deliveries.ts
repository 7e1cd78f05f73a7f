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
import { type Attempt, type Round, recordRound } from '../storage/webhooks/webhook-ledger.ts';
import {
  type Item,
  type LeasedWebhook,
  type LeaseScope,
  leaseWebhooks,
  listTenantsToDeliver,
  readDeliveryNews,
  readLeased,
  readWork,
  type Work,
} from '../storage/webhooks/webhook-rounds.ts';
import { disableWebhook } from '../storage/webhooks/webhooks.ts';
import { runRounds } from './rounds.ts';
import { createSlots, type Slots } from './slots.ts';
import { createTenantRounds, type Outcome, type RoundDeps } from './tenant-rounds.ts';
import { type RequestDeps, renderBodies, type Sender, secretsOf, sendEvent } from './webhook-requests.ts';
import { trackSettings, type WebhookSettings } from './webhook-settings.ts';

/** Pause between two looks for webhooks with something to deliver. */
const EVERY_MS = 100;
const RETRY_MS = 2000;
/** How often it reads all webhooks without news: leases may have expired, and the team may have changed one. */
const LOOK_EVERY_MS = 2000;
/** Maximum number of requests at a time: in total, of a tenant, whose webhooks may all hang, and of a webhook. */
const REQUESTS = 200;
const REQUESTS_PER_TENANT = 40;
const REQUESTS_PER_WEBHOOK = 8;
/** Maximum number of failing webhooks at a time, so that the hanging ones of many tenants do not delay the others. */
const FAILING_WEBHOOKS = 100;
/** How long a round starts requests. With the time of a request, it ends before its lease. */
const ROUND_MS = 5000;
/**
 * Up to this number of webhooks, the next round is read while one is sent. With more of them the worker is busy anyway,
 * and holds only the bodies of one round for each.
 */
const READ_AHEAD_WEBHOOKS = 8;
/** With more of them, maximum length of a round's bodies in characters, so that slow receivers of large objects use little memory. */
const ROUND_CHARACTERS = 128 * 1024;
/** How old the objects of a round that was read ahead may be. */
const READ_AHEAD_MS = 1000;
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

/** Shared by the rounds of all webhooks. */
interface Shared {
  slots: Slots;
  /** The webhooks for which this process delivers now. */
  running: Map<Promise<void>, LeasedWebhook>;
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
  const running: Shared['running'] = new Map();
  const shared = { slots: createSlots(REQUESTS, REQUESTS_PER_TENANT), running, overdue: overdue.signal };
  let isDue = true;
  const lease = async (which: LeaseScope): Promise<Outcome> => {
    const failing = [...running.values()].filter(({ failures }) => failures > 0);
    const free = { all: REQUESTS - running.size, failing: FAILING_WEBHOOKS - failing.length };
    const leased = free.all > 0 ? await leaseWebhooks(storage, free, now(), which) : [];
    for (const webhook of leased) {
      const one = deliver(webhook, deps, shared).finally(() => {
        running.delete(one);
        isDue = true; // it may have more by now, and others may wait for its place
      });
      running.set(one, webhook);
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
  await Promise.all([rounds.ended(), ...running.keys()]);
}

/** Events of a webhook that are ready to be sent. */
interface Prepared {
  webhook: LeasedWebhook;
  work: Work;
  sender: Sender;
  /** When they were read, by the clock of `performance`. */
  readAt: number;
}

/**
 * Delivers for one webhook, round by round, until its backlog is empty, or until another webhook may be waiting for its
 * place. Otherwise slow receivers with a long backlog would keep those of all others waiting.
 */
async function deliver(leased: LeasedWebhook, deps: DeliveryDeps, shared: Shared): Promise<void> {
  try {
    await deliverRounds(leased, deps, shared);
  } catch (error) {
    // its lease expires, and events that were sent without a record are sent again under the same id
    const about = { webhook: toTypeId('webhook', leased.id), ...describeFailure(error) };
    deps.log.warn(about, 'delivering to a webhook failed; will retry');
  }
}

/**
 * While the events of a round are sent, those of the next one are read and the previous round is recorded. A round is
 * recorded only after the previous one was, so the position never passes an event without a record.
 */
async function deliverRounds(leased: LeasedWebhook, deps: DeliveryDeps, shared: Shared): Promise<void> {
  let recording: Promise<LeasedWebhook | undefined> = Promise.resolve(leased);
  const settings = trackSettings(leased, () => readLeased(deps.storage.forTenant(leased.tenant_id), leased));
  for (let round: Prepared | undefined = await prepare(leased, deps, shared); round; ) {
    const current: Prepared = round;
    const { webhook, work } = current;
    const ahead = readAhead(current, deps, shared);
    ahead?.catch(() => undefined); // awaited below, unless it is not needed
    const sent = await sendAll(current, settings, shared.slots, deps.signal);
    count(sent.attempts, deps.metrics);
    const latest = await recording;
    if (!latest) return;
    const isComplete = sent.attempts.length === work.items.length;
    const isFull = shared.running.size >= REQUESTS;
    const release = deps.signal.aborted || isFull || (isComplete && !work.hasMore);
    recording = record(webhook, { ...sent, release }, deps).then(settings.update);
    recording.catch(() => undefined); // awaited below, or after the next round
    const isClean = isComplete && sent.attempts.every(({ outcome }) => outcome === 'delivered');
    const next = isClean && !release && latest.status === 'enabled' ? await ahead : undefined;
    round = next && isFresh(next) ? next : await recording.then(kept => kept && prepare(kept, deps, shared));
  }
}

/**
 * Reads the next round while this one is sent, in the hope that every attempt succeeds. Undefined if another outcome is
 * likely, or if the next round depends on rows that this one has yet to change.
 */
function readAhead({ webhook, work }: Prepared, deps: DeliveryDeps, shared: Shared): Promise<Prepared> | undefined {
  const isSmooth = webhook.failures === 0 && work.items.every(({ deliveryId }) => deliveryId === undefined);
  if (!work.hasMore || !isSmooth || webhook.ordered || shared.running.size > READ_AHEAD_WEBHOOKS) return undefined;
  return prepare({ ...webhook, position: work.readTo }, deps, shared);
}

/** Reads the events of a round, and renders the requests. */
async function prepare(webhook: LeasedWebhook, deps: DeliveryDeps, shared: Shared): Promise<Prepared> {
  const { storage, tenants, outbound, seals, now, baseUrl } = deps;
  const readAt = performance.now();
  const read = await readWork(storage.forTenant(webhook.tenant_id), webhook, now());
  const rendered = await renderBodies(tenants.forTenant(webhook.tenant_id), webhook, read.items, baseUrl);
  const isOneOfMany = shared.running.size > READ_AHEAD_WEBHOOKS;
  const { work, bodies } = isOneOfMany ? cutToSize(read, rendered) : { work: read, bodies: rendered };
  const secrets = secretsOf(webhook, seals, now());
  const sender = { outbound, now, url: webhook.url, secrets, bodies, signal: shared.overdue };
  return { webhook, work, sender, readAt };
}

/** Returns the first events of a round whose bodies are short enough, at least one. The next round reads the others again. */
function cutToSize(work: Work, bodies: Map<string, string>): Pick<Sender, 'bodies'> & { work: Work } {
  let length = 0;
  const end = work.items.findIndex(({ eventId }, index) => {
    length += bodies.get(eventId)?.length ?? 0;
    return length > ROUND_CHARACTERS && index > 0;
  });
  if (end < 0) return { work, bodies };
  const items = work.items.slice(0, end);
  const kept = new Set(items.map(({ eventId }) => eventId));
  return {
    work: { items, readTo: positionAfter(work.items, items, work.readTo), hasMore: true },
    bodies: new Map([...bodies].filter(([eventId]) => kept.has(eventId))),
  };
}

const isFresh = ({ readAt }: Prepared): boolean => performance.now() - readAt < READ_AHEAD_MS;

function count(attempts: readonly Attempt[], { webhookDeliveries, webhookSeconds }: DeliveryDeps['metrics']): void {
  for (const { outcome, durationMs } of attempts) {
    webhookDeliveries.inc({ outcome });
    webhookSeconds.observe(durationMs / 1000);
  }
}

/** Records a round, and returns the webhook if its lease goes on. */
async function record(
  webhook: LeasedWebhook,
  round: Omit<Round, 'now'>,
  deps: DeliveryDeps,
): Promise<LeasedWebhook | undefined> {
  const { storage, now } = deps;
  const recorded = await recordRound(storage.forTenant(webhook.tenant_id), webhook, { ...round, now: now() });
  if (recorded?.disable) await disable(webhook, recorded.disable, deps);
  return recorded?.webhook;
}

/** The attempts of a round, and the number in the feed up to which it sent everything. */
interface Sent {
  attempts: Attempt[];
  position: number;
}

/**
 * Sends the events of a round in their order, several at a time, until one has to wait for those before it, or the settings
 * of the webhook change.
 */
async function sendAll(
  { webhook, work, sender }: Prepared,
  settings: WebhookSettings,
  slots: Slots,
  stopping: AbortSignal,
): Promise<Sent> {
  const { items, readTo } = work;
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
    slots.use(webhook.tenant_id, async () => {
      const isUnchanged = await settings.areThoseOf(webhook);
      const item = isUnchanged && !mustStop() ? items[next++] : undefined;
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
  const done = attempts.map(({ item }) => item);
  return { attempts, position: positionAfter(items, done, readTo) };
}

/** Returns the number before the first event of the feed that was not sent. */
function positionAfter(items: readonly Item[], done: readonly Item[], readTo: number): number {
  const sent = new Set(done);
  const left = items.find(item => item.deliveryId === undefined && !sent.has(item));
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
