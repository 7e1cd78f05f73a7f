import { FAILING_FROM, judgeAttempts, nextAttemptAt, type Outcome, TEST_TYPE } from '../domain/deliveries.ts';
import type { EventObjectType, EventType, StoredEvent } from '../domain/events.ts';
import { newUuid } from '../domain/ids.ts';
import type { DisabledReason, StoredWebhook } from '../domain/webhooks.ts';
import type { Storage, TenantStorage } from './orm.ts';
import { unnest, WANTED_IDS } from './sql.ts';
import type { Transaction } from './transaction.ts';

/** How long a worker may deliver for a webhook until it renews the lease. Longer than a round. */
const LEASE_S = 30;
/** Maximum number of events of one round, and of those that are read to find them. */
export const ROUND_EVENTS = 64;
const SCANNED_EVENTS = 500;

/** A webhook for which this worker delivers. */
export interface LeasedWebhook extends Pick<StoredWebhook, 'id' | 'url' | 'payload' | 'ordered' | 'status'> {
  tenant_id: string;
  lease: string;
  event_types: EventType[];
  secret_sealed: Buffer;
  previous_secret_sealed: Buffer | null;
  previous_secret_until: Date | null;
  position: number;
  /** Failed attempts since the last success. */
  failures: number;
  failing_since: Date | null;
}

const LEASED = `webhooks.tenant_id, webhooks.id, webhooks.url, webhooks.payload, webhooks.ordered, webhooks.status, webhooks.lease,
  webhooks.event_types, webhooks.secret_sealed, webhooks.previous_secret_sealed, webhooks.previous_secret_until,
  webhooks.feed_position::float8 as position, webhooks.failures, webhooks.failing_since`;

/** How many webhooks a worker may lease, and how many of them may be ones whose receiver failed the last time. */
export interface LeaseLimits {
  all: number;
  failing: number;
}

const IS_FREE = '(lease_until is null or lease_until < clock_timestamp())';
/** The rows of a deleted tenant remain until they are erased, which may take hours. Nothing of it is sent any more. */
const IS_KEPT = 'not exists (select from deleted_tenants where deleted_tenants.id = webhooks.tenant_id)';

/**
 * Leases webhooks of all tenants that have something to deliver, the one whose last lease ended first. For the worker,
 * like all functions here.
 *
 * Those that fail come after the others and are limited, because each may hang until its time-out. A webhook whose
 * receiver fails, or an ordered one with a failed event, does not take further events from the feed.
 */
export const leaseWebhooks = (storage: Storage, { all, failing }: LeaseLimits, now: Date): Promise<LeasedWebhook[]> =>
  storage.query<LeasedWebhook>(
    `with ready as materialized (
       select webhooks.tenant_id, webhooks.id, failures > 0 as fails,
         row_number() over (partition by failures > 0 order by lease_until nulls first, due_at nulls last) as place
       from webhooks left join event_sequences using (tenant_id)
       where status = 'enabled' and ${IS_FREE} and ${IS_KEPT}
         and (due_at <= $1 or (feed_position < last and failures < ${FAILING_FROM} and not (ordered and due_at is not null)))
     ), chosen as materialized (
       select tenant_id, id from ready where not fails or place <= $4 order by fails, place limit $2
     ), due as materialized (
       select webhooks.tenant_id, webhooks.id from webhooks join chosen using (tenant_id, id)
       where ${IS_FREE} for update of webhooks skip locked
     )
     update webhooks set lease = $3, lease_until = clock_timestamp() + interval '${LEASE_S} seconds'
     from due where webhooks.tenant_id = due.tenant_id and webhooks.id = due.id returning ${LEASED}`,
    [now, all, newUuid(), failing],
  );

/** Returns a webhook as it is now; undefined if its lease was lost, or its tenant deleted. */
export const readLeased = async (
  tenant: TenantStorage,
  { id, lease }: LeasedWebhook,
): Promise<LeasedWebhook | undefined> =>
  (
    await tenant.query<LeasedWebhook>(
      `select ${LEASED} from webhooks where tenant_id = $1 and id = $2 and lease = $3 and ${IS_KEPT}`,
      [tenant.tenantId, id, lease],
    )
  )[0];

/** An event to send, and the delivery that waits for it, unless the event comes from the feed. */
export interface Item {
  deliveryId: string | undefined;
  attempt: number;
  eventId: string;
  sequence: number | null;
  type: string;
  objectId: string;
  eventAt: Date;
  /** The event; undefined for a test, and for an event that is no longer kept. */
  event: StoredEvent | undefined;
}

/** The events that a webhook is to deliver now. */
export interface Work {
  /** In the order in which they are sent: those that are due again first. */
  items: Item[];
  /** The number up to which the feed was read. */
  readTo: number;
  /** Whether there may be more. */
  hasMore: boolean;
}

const EVENT = `events.id as event_id, events.type, events.object_type, events.object_id, events.conversation_id, events.data,
  events.written_at, events.sequence::float8 as sequence`;

interface EventRow extends Omit<StoredEvent, 'id'> {
  event_id: string;
}

interface DueRow {
  delivery_id: string;
  attempt: number;
  due_event_id: string;
  due_sequence: number | null;
  due_type: string;
  due_object_id: string;
  event_at: Date;
  at: Date;
}

const eventOf = ({ event_id, ...event }: EventRow): StoredEvent => ({ id: event_id, ...event });

const isInTurn = ({ ordered, failures }: LeasedWebhook): boolean => ordered || failures >= FAILING_FROM;

/**
 * Reads the deliveries that are due: in turn by their place in the feed, otherwise those that have waited longest. Both are
 * the order of an index, because a receiver that refuses some events may have any number of waiting deliveries.
 */
function readDue(tenant: TenantStorage, webhook: LeasedWebhook, now: Date): Promise<Item[]> {
  const most = webhook.failures >= FAILING_FROM ? 1 : ROUND_EVENTS;
  const which = isInTurn(webhook) ? 'order by deliveries.sequence nulls first' : 'and at <= $3 order by at';
  return readWaiting(tenant, webhook, now, `${which} limit ${most}`);
}

/** Reads the delivery that was sent again last, if it is due. It does not wait for earlier ones of a receiver that fails. */
const readReplayed = (tenant: TenantStorage, webhook: LeasedWebhook, now: Date): Promise<Item[]> =>
  readWaiting(tenant, webhook, now, 'and at <= $3 and attempt = 1 order by at desc limit 1');

async function readWaiting(tenant: TenantStorage, webhook: LeasedWebhook, now: Date, which: string): Promise<Item[]> {
  const rows = await tenant.query<DueRow & EventRow>(
    `select deliveries.id as delivery_id, attempt, deliveries.event_id as due_event_id, event_at, at,
       deliveries.sequence::float8 as due_sequence, deliveries.type as due_type, deliveries.object_id as due_object_id, ${EVENT}
     from deliveries left join events on events.tenant_id = deliveries.tenant_id and events.id = deliveries.event_id
     where deliveries.tenant_id = $1 and webhook_id = $2 and status = 'waiting' ${which}`,
    which.includes('$3') ? [tenant.tenantId, webhook.id, now] : [tenant.tenantId, webhook.id],
  );
  rows.sort((one, other) => (one.due_sequence ?? 0) - (other.due_sequence ?? 0));
  const early = rows.findIndex(({ at }) => at > now);
  return rows.slice(0, early < 0 ? rows.length : early).map(row => {
    const { delivery_id, attempt, due_event_id, due_sequence, due_type, due_object_id, event_at, at, ...event } = row;
    return {
      deliveryId: delivery_id,
      attempt,
      eventId: due_event_id,
      sequence: due_sequence,
      type: due_type,
      objectId: due_object_id,
      eventAt: event_at,
      event: event.event_id === null ? undefined : eventOf(event),
    };
  });
}

/** The next events of the feed that a webhook wants. */
interface Ahead {
  /** One more than a round takes, if there are more. */
  wanted: EventRow[];
  /** The number up to which events were looked at, also those of other types. */
  lookedTo: number;
  /** Whether there may be more after it. */
  isFull: boolean;
}

async function readFeed(tenant: TenantStorage, { position, event_types }: LeasedWebhook): Promise<Ahead> {
  const rows = await tenant.query<{ looked_to: number; looked_at: number } & (EventRow | { event_id: null })>(
    `with ahead as materialized (
       select tenant_id, id, type, sequence from events where tenant_id = $1 and sequence > $2 order by sequence limit ${SCANNED_EVENTS}
     ), wanted as materialized (
       select tenant_id, id from ahead where type = any($3) order by sequence limit ${ROUND_EVENTS + 1}
     )
     select looked_to::float8, looked_at::int, ${EVENT}
     from (select coalesce(max(sequence), $2) as looked_to, count(*) as looked_at from ahead) as scan
       left join (wanted join events using (tenant_id, id)) on true
     order by events.sequence`,
    [tenant.tenantId, position, event_types],
  );
  const [first] = rows;
  return {
    wanted: rows.flatMap(({ looked_to, looked_at, ...event }) => (event.event_id === null ? [] : [event])),
    lookedTo: first?.looked_to ?? position,
    isFull: first?.looked_at === SCANNED_EVENTS,
  };
}

/** Reads the events of the next round of a webhook: none if it was disabled meanwhile. */
export async function readWork(tenant: TenantStorage, webhook: LeasedWebhook, now: Date): Promise<Work> {
  if (webhook.status === 'disabled') return { items: [], readTo: webhook.position, hasMore: false };
  const [due, ahead] = await Promise.all([readDue(tenant, webhook, now), readFeed(tenant, webhook)]);
  const takesNew = webhook.failures < FAILING_FROM && !(webhook.ordered && (await hasWaiting(tenant, webhook)));
  if (!takesNew) {
    const again = due.length > 0 || webhook.ordered ? [] : await readReplayed(tenant, webhook, now);
    return { items: [...due, ...again], readTo: webhook.position, hasMore: due.length > 0 };
  }
  const taken = ahead.wanted.slice(0, Math.max(0, ROUND_EVENTS - due.length));
  const isCut = taken.length < ahead.wanted.length;
  return {
    items: [...due, ...taken.map(itemOf)],
    readTo: isCut ? (taken.at(-1)?.sequence ?? webhook.position) : ahead.lookedTo,
    hasMore: isCut || ahead.isFull || due.length === ROUND_EVENTS,
  };
}

const itemOf = (row: EventRow): Item => ({
  deliveryId: undefined,
  attempt: 1,
  eventId: row.event_id,
  sequence: row.sequence,
  type: row.type,
  objectId: row.object_id,
  eventAt: row.written_at,
  event: eventOf(row),
});

async function hasWaiting(tenant: TenantStorage, { id }: LeasedWebhook): Promise<boolean> {
  const rows = await tenant.query(
    "select from deliveries where tenant_id = $1 and webhook_id = $2 and status = 'waiting' limit 1",
    [tenant.tenantId, id],
  );
  return rows.length > 0;
}

/** A finished attempt. */
export interface Attempt {
  item: Item;
  at: Date;
  durationMs: number;
  outcome: Outcome;
  status: number | null;
  error: string | null;
  response: string | null;
  retryAfter: string | undefined;
}

export interface Round {
  /** In the order in which they ended. */
  attempts: Attempt[];
  /** The number up to which the events of the feed were sent, or are not of the webhook's types. */
  position: number;
  /** Whether to end the lease. */
  release: boolean;
  now: Date;
}

/** The state of a webhook after a round. */
export interface Recorded {
  /** If its lease goes on. */
  webhook: LeasedWebhook | undefined;
  /** Why it has to be disabled. */
  disable: DisabledReason | undefined;
}

/**
 * Records the attempts of a round, and how far the webhook has got, in one transaction. Undefined, without a record,
 * if the lease was lost, or the webhook or its tenant deleted.
 *
 * If the webhook got another URL meanwhile, the replies of the previous one do not count, and what failed is sent to the
 * new one at once. Events of types that it no longer has do not count either, and are not sent again.
 */
export const recordRound = (
  tenant: TenantStorage,
  { id, lease, url, event_types }: LeasedWebhook,
  round: Round,
): Promise<Recorded | undefined> =>
  tenant.transaction(async tx => {
    const { tenantId } = tenant;
    const [before] = await tx.query<LeasedWebhook>(
      `select ${LEASED} from webhooks where tenant_id = $1 and id = $2 and lease = $3 and ${IS_KEPT} for update`,
      [tenantId, id, lease],
    );
    if (!before) return undefined;
    const isMoved = before.url !== url;
    const dropped = new Set<string>(event_types.filter(type => !before.event_types.includes(type)));
    await writeAttempts(tx, { tenantId, webhookId: id, round, isMoved, dropped });
    const counted = isMoved ? [] : round.attempts.filter(({ item }) => !dropped.has(item.type));
    const { failures, failing_since, disable } = judgeAttempts(before, counted, round.now);
    const [after] = await tx.query<LeasedWebhook>(
      `update webhooks set feed_position = greatest(feed_position, $3), failures = $4, failing_since = $5,
         lease = case when $6 then null else lease end,
         lease_until = clock_timestamp() + case when $6 then interval '0' else interval '${LEASE_S} seconds' end,
         due_at = case when ordered or $4 >= ${FAILING_FROM} then (
           select at from deliveries where tenant_id = $1 and webhook_id = $2 and deliveries.status = 'waiting'
           order by sequence nulls first limit 1
         ) else (
           select min(at) from deliveries where tenant_id = $1 and webhook_id = $2 and deliveries.status = 'waiting'
         ) end
       where tenant_id = $1 and id = $2 returning ${LEASED}`,
      [tenantId, id, round.position, failures, failing_since, round.release],
    );
    return { webhook: round.release || disable ? undefined : after, disable };
  });

const COLUMNS = {
  tenant_id: 'uuid',
  id: 'uuid',
  webhook_id: 'uuid',
  event_id: 'uuid',
  sequence: 'bigint',
  type: 'text',
  object_id: 'uuid',
  event_at: 'timestamptz',
  attempt: 'int',
  at: 'timestamptz',
  status: 'text',
  response_status: 'int',
  duration_ms: 'int',
  error: 'text',
  response: 'text',
} as const;
const NAMES = Object.keys(COLUMNS).join(', ');

interface Target {
  tenantId: string;
  webhookId: string;
  round: Round;
  /** Whether the webhook got another URL while the round was sent. */
  isMoved: boolean;
  /** The types of events that it lost meanwhile. */
  dropped: ReadonlySet<string>;
}

/**
 * Writes a row for each attempt, which replaces the one that waited for it, and a row that waits for the next attempt of
 * each that failed.
 */
async function writeAttempts(tx: Transaction, { tenantId, webhookId, round, isMoved, dropped }: Target): Promise<void> {
  const { attempts } = round;
  if (attempts.length === 0) return;
  const waited = attempts.flatMap(({ item }) => item.deliveryId ?? []);
  if (waited.length > 0)
    await tx.query(
      `with ${WANTED_IDS} delete from deliveries using wanted
       where deliveries.tenant_id = wanted.tenant_id and deliveries.id = wanted.id`,
      [tenantId, waited],
    );
  const present = await lockObjects(tx, tenantId, attempts);
  const rows = attempts.flatMap(attempt => {
    const { item, outcome, at, retryAfter } = attempt;
    const common = {
      tenant_id: tenantId,
      webhook_id: webhookId,
      event_id: item.eventId,
      sequence: item.sequence,
      type: item.type,
      object_id: item.objectId,
      event_at: item.eventAt.getTime(),
    };
    const row = {
      ...common,
      id: item.deliveryId ?? newUuid(),
      attempt: item.attempt,
      at: at.getTime(),
      status: outcome === 'delivered' ? 'delivered' : 'failed',
      response_status: attempt.status,
      duration_ms: attempt.durationMs,
      error: attempt.error,
      response: mayRepeatWords(item) && !present.has(item.objectId) ? null : attempt.response,
    };
    if (outcome === 'delivered' || outcome === 'expired' || item.type === TEST_TYPE || dropped.has(item.type))
      return [row];
    const next = {
      ...common,
      id: newUuid(),
      attempt: item.attempt + 1,
      at: (isMoved ? round.now : nextAttemptAt(item.attempt, round.now, retryAfter, Math.random())).getTime(),
      status: 'waiting',
      response_status: null,
      duration_ms: null,
      error: null,
      response: null,
    };
    return [row, next];
  });
  const { sql, params } = unnest<(typeof rows)[number]>(rows, COLUMNS);
  await tx.query(`insert into deliveries (${NAMES}) select ${NAMES} from ${sql}`, params);
}

/** Objects with a person's words. */
const WORDED: EventObjectType[] = ['answer', 'conversation', 'message', 'identity'];
const mayRepeatWords = ({ event }: Item): boolean => event !== undefined && WORDED.includes(event.object_type);

/** Returns the objects that exist, until the end of the transaction, of those whose responses may repeat their words. */
async function lockObjects(tx: Transaction, tenantId: string, attempts: Attempt[]): Promise<Set<string>> {
  const ids = attempts.flatMap(({ item, response }) => (response && mayRepeatWords(item) ? item.objectId : []));
  if (ids.length === 0) return new Set();
  const rows = await tx.query<{ id: string }>('select lock_objects($1, $2::uuid[]) as id', [tenantId, ids]);
  return new Set(rows.map(({ id }) => id));
}
