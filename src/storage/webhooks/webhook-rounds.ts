import { FAILING_FROM } from '../../domain/events/deliveries.ts';
import type { EventType, StoredEvent } from '../../domain/events/events.ts';
import type { StoredWebhook } from '../../domain/events/webhooks.ts';
import { newUuid } from '../../domain/ids.ts';
import type { Storage, TenantStorage } from '../database/orm.ts';
import { numberedEvents } from '../events/events.ts';

/** How long a worker may deliver for a webhook until it renews the lease. Longer than a round. */
export const LEASE_S = 30;
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
  /** When the first delivery that waits is due. A change means that the team wants one sent again (`recordRound`). */
  due_at: Date | null;
}

/** The columns of a leased webhook. */
export const LEASED = `webhooks.tenant_id, webhooks.id, webhooks.url, webhooks.payload, webhooks.ordered, webhooks.status, webhooks.lease,
  webhooks.event_types, webhooks.secret_sealed, webhooks.previous_secret_sealed, webhooks.previous_secret_until,
  webhooks.feed_position::float8 as position, webhooks.failures, webhooks.failing_since, webhooks.due_at`;

/** How many webhooks a worker may lease, and how many of them may be ones whose receiver failed the last time. */
export interface LeaseLimits {
  all: number;
  failing: number;
}

const IS_FREE = '(lease_until is null or lease_until < clock_timestamp())';
/** The rows of a deleted tenant remain until they are erased, which may take hours. Nothing of it is sent any more. */
export const IS_KEPT = 'not exists (select from deleted_tenants where deleted_tenants.id = webhooks.tenant_id)';

/** The webhooks with something to deliver, as a condition in SQL. `$1` is the time. */
const IS_READY = `status = 'enabled' and ${IS_FREE} and ${IS_KEPT}
  and (due_at <= $1 or (feed_position < last and failures < ${FAILING_FROM} and not (ordered and due_at is not null)))`;

/** Returns the tenants with webhooks that have something to deliver. For the worker, like all functions here. */
export const listTenantsToDeliver = async (storage: Storage, now: Date): Promise<string[]> =>
  (
    await storage.query<{ tenant_id: string }>(
      `select distinct webhooks.tenant_id from webhooks left join event_sequences using (tenant_id) where ${IS_READY}`,
      [now],
    )
  ).map(({ tenant_id }) => tenant_id);

/** A cheap sign that webhooks may have something to deliver. */
export interface DeliveryNews {
  /** Changes when events are numbered. */
  numbered: string;
  /** Whether a delivery is due that waits for its time. */
  due: boolean;
}

/** Reads the news, which costs much less than to read all webhooks. */
export async function readDeliveryNews(storage: Storage, now: Date): Promise<DeliveryNews> {
  const [row] = await storage.query<DeliveryNews>(
    `select numbered_until() as numbered, exists (
       select from webhooks where due_at <= $1 and status = 'enabled' and ${IS_FREE}) as due`,
    [now],
  );
  return row as DeliveryNews;
}

/** Whose webhooks are leased: those of one tenant, or of all but some. */
export interface LeaseScope {
  only?: string;
  except?: readonly string[];
}

/**
 * Leases webhooks that have something to deliver, the one whose last lease ended first.
 *
 * Those that fail come after the others and are limited, because each may hang until its time-out. A webhook whose
 * receiver fails, or an ordered one with a failed event, does not take further events from the feed.
 */
export const leaseWebhooks = (
  storage: Storage,
  { all, failing }: LeaseLimits,
  now: Date,
  { only, except = [] }: LeaseScope = {},
): Promise<LeasedWebhook[]> =>
  storage.query<LeasedWebhook>(
    `with ready as materialized (
       select webhooks.tenant_id, webhooks.id, failures > 0 as fails,
         row_number() over (partition by failures > 0 order by lease_until nulls first, due_at nulls last) as place
       from webhooks left join event_sequences using (tenant_id)
       where ${IS_READY} and ($5::uuid is null or webhooks.tenant_id = $5) and webhooks.tenant_id <> all($6::uuid[])
     ), chosen as materialized (
       select tenant_id, id from ready where not fails or place <= $4 order by fails, place limit $2
     ), due as materialized (
       select webhooks.tenant_id, webhooks.id from webhooks join chosen using (tenant_id, id)
       where ${IS_FREE} for update of webhooks skip locked
     )
     update webhooks set lease = $3, lease_until = clock_timestamp() + interval '${LEASE_S} seconds'
     from due where webhooks.tenant_id = due.tenant_id and webhooks.id = due.id returning ${LEASED}`,
    [now, all, newUuid(), failing, only ?? null, except],
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
  events.written_at`;

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
       deliveries.sequence::float8 as due_sequence, deliveries.type as due_type, deliveries.object_id as due_object_id, ${EVENT},
       deliveries.sequence::float8 as sequence
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

/** Continues with the first event that is kept. Expired events count as looked at. */
async function readFeed(tenant: TenantStorage, { position, event_types }: LeasedWebhook): Promise<Ahead> {
  const rows = await tenant.query<{ looked_to: number; looked_at: number } & (EventRow | { event_id: null })>(
    `with start as materialized (
       select coalesce(max(after), $2) as after from (
         select greatest($2, last - cardinality(ids)) as after from event_batches
         where tenant_id = $1 and last > $2 order by last limit 1
       ) as kept
     ), ahead as materialized (
       select * from ${numberedEvents('(select after from start)', `(select after + ${SCANNED_EVENTS} from start)`)}
     ), wanted as materialized (
       select tenant_id, id, sequence from ahead where type = any($3) order by sequence limit ${ROUND_EVENTS + 1}
     )
     select looked_to::float8, looked_at::int, ${EVENT}, wanted.sequence::float8 as sequence
     from (
       select coalesce(max(sequence), (select last from event_sequences where tenant_id = $1), 0) as looked_to, count(*) as looked_at
       from ahead
     ) as scan
       left join (wanted join events using (tenant_id, id)) on true
     order by wanted.sequence`,
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
