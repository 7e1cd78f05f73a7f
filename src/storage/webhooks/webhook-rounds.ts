import { FAILING_FROM } from '../../domain/events/deliveries.ts';
import type { EventData, EventObjectType, EventType } from '../../domain/events/events.ts';
import type { StoredWebhook } from '../../domain/events/webhooks.ts';
import { newUuid } from '../../domain/ids.ts';
import type { Storage, TenantStorage } from '../database/orm.ts';
import { numberedEvents } from '../events/events.ts';

/** How long a lease lasts. Longer than a worker's turn with the time limit of a request. */
const LEASE_S = 30;
/** Maximum number of events of one round, and of those that are read to find them. */
const ROUND_EVENTS = 64;
const SCANNED_EVENTS = 500;

/** Numbers of webhooks: those whose receiver works, and those whose last attempt failed. */
export interface Places {
  working: number;
  failing: number;
}

/** Maximum numbers of webhooks to which a worker sends at a time. Failing ones are counted separately, since each may hang. */
export const PLACES: Places = { working: 40, failing: 80 };
/** Maximum numbers of a tenant, whose webhooks may all hang or have a backlog, over all workers. */
const TENANT_PLACES: Places = { working: 4, failing: 8 };

/** A webhook to which this worker sends, as it was when it was leased or the last round was recorded. */
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

const IS_FREE = '(lease_until is null or lease_until < clock_timestamp())';
/** The rows of a deleted tenant remain until they are erased, which may take hours. Nothing of it is sent any more. */
export const IS_KEPT = 'not exists (select from deleted_tenants where deleted_tenants.id = webhooks.tenant_id)';

/**
 * The webhooks with something to deliver, as a condition in SQL. `$1` is the time. One whose receiver fails, or an ordered one
 * with a failed event, does not take further events from the feed.
 */
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

/** The order in which webhooks are leased: the one whose last turn ended first. Workers that lease at once choose the same ones. */
const BY_LAST_TURN = 'lease_until nulls first, due_at nulls last, id';

/** Leases webhooks that have something to deliver, as many as there are free places, and as their tenants may have. */
export const leaseWebhooks = (
  storage: Storage,
  free: Places,
  now: Date,
  { only, except = [] }: LeaseScope = {},
): Promise<LeasedWebhook[]> =>
  storage.query<LeasedWebhook>(
    `with wanted as materialized (
       select webhooks.tenant_id, webhooks.id, failures > 0 as fails, ${IS_FREE} as is_free, lease_until, due_at,
         row_number() over (partition by webhooks.tenant_id, failures > 0 order by ${IS_FREE}, ${BY_LAST_TURN}) as place
       from webhooks left join event_sequences using (tenant_id)
       where (not ${IS_FREE} or ${IS_READY}) and ($5::uuid is null or webhooks.tenant_id = $5)
         and webhooks.tenant_id <> all($6::uuid[])
     ), allowed as materialized (
       select tenant_id, id, fails, row_number() over (partition by fails order by ${BY_LAST_TURN}) as place
       from wanted
       where is_free and place <= case when fails then ${TENANT_PLACES.failing} else ${TENANT_PLACES.working} end
     ), chosen as materialized (
       select webhooks.tenant_id, webhooks.id from webhooks join allowed using (tenant_id, id)
       where place <= case when fails then $3::int else $2::int end and ${IS_FREE} for update of webhooks skip locked
     )
     update webhooks set lease = $4, lease_until = clock_timestamp() + interval '${LEASE_S} seconds'
     from chosen where webhooks.tenant_id = chosen.tenant_id and webhooks.id = chosen.id returning ${LEASED}`,
    [now, free.working, free.failing, newUuid(), only ?? null, except],
  );

/** An event to send. */
export interface Item {
  /** The delivery that waits for this attempt; null for an event's first attempt, which comes from the feed. */
  delivery_id: string | null;
  attempt: number;
  event_id: string;
  /** Null for a test. */
  sequence: number | null;
  type: string;
  object_id: string;
  event_at: Date;
  /** Null, like `data`, for a test, and for an event that is no longer kept. */
  object_type: EventObjectType | null;
  conversation_id: string | null;
  data: EventData | null;
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

/**
 * Which deliveries that wait are read: by their place in the feed, or those that are due. Both are the order of an index,
 * because a receiver that refuses some events may have any number of waiting deliveries.
 */
const IN_TURN = 'order by deliveries.sequence nulls first';
const BY_TIME = 'and at <= $3 order by at';
/** The one that was sent again last does not wait for earlier ones of a receiver that fails. */
const LAST_REPLAYED = 'and at <= $3 and attempt = 1 order by at desc limit 1';

/** Reads the events of a webhook's next round: one that waits, for a webhook with several failures in a row. */
export async function readWork(tenant: TenantStorage, webhook: LeasedWebhook, now: Date): Promise<Work> {
  const { ordered, failures, position } = webhook;
  const isDown = failures >= FAILING_FROM;
  const which = `${ordered || isDown ? IN_TURN : BY_TIME} limit ${isDown ? 1 : ROUND_EVENTS}`;
  const waiting = await readWaiting(tenant, webhook, now, which);
  const early = waiting.findIndex(({ is_due }) => !is_due);
  const due = early < 0 ? waiting : waiting.slice(0, early);
  if (isDown || (ordered && waiting.length > 0)) {
    const replayed = due.length > 0 || ordered ? [] : await readWaiting(tenant, webhook, now, LAST_REPLAYED);
    return { items: [...due, ...replayed], readTo: position, hasMore: due.length > 0 };
  }
  const ahead = await readFeed(tenant, webhook);
  const taken = ahead.items.slice(0, ROUND_EVENTS - due.length);
  const isCut = taken.length < ahead.items.length;
  return {
    items: [...due, ...taken],
    readTo: isCut ? (taken.at(-1)?.sequence ?? position) : ahead.readTo,
    hasMore: isCut || ahead.hasMore || due.length === ROUND_EVENTS,
  };
}

const OF_EVENT = 'events.object_type, events.conversation_id, events.data';

/** Reads deliveries that wait, in the order of the feed. */
async function readWaiting(
  tenant: TenantStorage,
  { id }: LeasedWebhook,
  now: Date,
  which: string,
): Promise<(Item & { is_due: boolean })[]> {
  const rows = await tenant.query<Item & { is_due: boolean }>(
    `select deliveries.id as delivery_id, attempt, event_id, deliveries.sequence::float8 as sequence, deliveries.type,
       deliveries.object_id, event_at, at <= $3 as is_due, ${OF_EVENT}
     from deliveries left join events on events.tenant_id = deliveries.tenant_id and events.id = deliveries.event_id
     where deliveries.tenant_id = $1 and webhook_id = $2 and status = 'waiting' ${which}`,
    [tenant.tenantId, id, now],
  );
  return rows.sort((one, other) => (one.sequence ?? 0) - (other.sequence ?? 0));
}

/**
 * Reads the next events of the feed that a webhook wants: one more than a round takes, if there are more. Continues with the
 * first event that is kept; expired events and those of other types count as read.
 */
async function readFeed(tenant: TenantStorage, { position, event_types }: LeasedWebhook): Promise<Work> {
  const rows = await tenant.query<Item & { read_to: number; scanned: number }>(
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
     select read_to::float8, scanned::int, null as delivery_id, 1 as attempt, events.id as event_id,
       wanted.sequence::float8 as sequence, events.type, events.object_id, written_at as event_at, ${OF_EVENT}
     from (
       select coalesce(max(sequence), (select last from event_sequences where tenant_id = $1), 0) as read_to, count(*) as scanned
       from ahead
     ) as scan
       left join (wanted join events using (tenant_id, id)) on true
     order by wanted.sequence`,
    [tenant.tenantId, position, event_types],
  );
  const [first] = rows;
  return {
    items: rows.filter(({ event_id }) => event_id !== null),
    readTo: first?.read_to ?? position,
    hasMore: first?.scanned === SCANNED_EVENTS,
  };
}
