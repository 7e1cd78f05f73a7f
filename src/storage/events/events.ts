import type { EventType, NamedIdentity, NewEvent, StoredEvent } from '../../domain/events/events.ts';
import { EVENTS_KEPT_DAYS } from '../../domain/events/events.ts';
import { newUuids } from '../../domain/ids.ts';
import { MAX_SCANNED, type Page, toPage } from '../../domain/pages.ts';
import type { Storage, TenantStorage } from '../database/orm.ts';
import { unnestColumns, WANTED_IDS } from '../database/sql.ts';
import type { Transaction } from '../database/transaction.ts';
import type { OldRows } from '../tenants/retention.ts';

/** Number of events after which a transaction that numbers events ends. */
export const NUMBERED_AT_ONCE = 5000;
const BATCHES_DELETED_AT_ONCE = 100;

const NO_DATA = {};

/** An event and its tenant. */
export type TenantEvent = NewEvent & { tenantId: string };

/**
 * Writes events in the transaction that caused them. Those of one call keep their order, because their ids rise. Writers
 * never wait for each other: events are numbered after the commit (`numberEvents`).
 */
export async function writeEvents(tx: Transaction, events: readonly TenantEvent[]): Promise<void> {
  if (events.length === 0) return;
  const { sql, params } = unnestColumns({
    tenant_id: ['uuid', events.map(({ tenantId }) => tenantId)],
    id: ['uuid', newUuids(events.length)],
    type: ['text', events.map(({ type }) => type)],
    object_type: ['text', events.map(({ object }) => object.type)],
    object_id: ['uuid', events.map(({ object }) => object.id)],
    conversation_id: ['uuid', events.map(({ object }) => object.conversationId)],
    data: ['jsonb', events.map(({ data }) => data ?? NO_DATA)],
  });
  await tx.query(
    `insert into events (tenant_id, id, type, object_type, object_id, conversation_id, data, written_at, place)
     select incoming.*, (select clock_timestamp()), (select place_of_write()) from ${sql}`,
    params,
  );
}

/** The outcome of numbering. */
export interface Numbered {
  count: number;
  /** Whether there are events without a number. */
  remain: boolean;
  /** Whether the events of some tenants are numbered separately (`numberHeldEvents`). */
  hasHeld: boolean;
}

/**
 * Numbers the events of all tenants that no open write can precede, in the order of their places. For the worker. Only one
 * process at a time numbers events; in others the count is 0.
 *
 * Events next to open writes are numbered by the second run after them (`functions/number_events.sql`).
 */
export async function numberEvents(storage: Storage): Promise<Numbered> {
  const [row] = await storage.query<{ numbered: number; remain: boolean; has_held: boolean }>(
    'select numbered, remain, has_held from number_events($1)',
    [NUMBERED_AT_ONCE],
  );
  return { count: row?.numbered ?? 0, remain: row?.remain ?? false, hasHeld: row?.has_held ?? false };
}

/** Holds the tenants with events in the next batch, after numbering it has failed. For the worker. */
export const holdEvents = (storage: Storage): Promise<unknown> =>
  storage.query('select hold_events($1)', [NUMBERED_AT_ONCE]);

/** Returns the tenants whose events are numbered separately. For the worker. */
export const listHeldTenants = async (storage: Storage): Promise<string[]> =>
  (await storage.query<{ tenant_id: string }>('select tenant_id from held_events order by held_at, tenant_id')).map(
    ({ tenant_id }) => tenant_id,
  );

/**
 * Numbers a batch of a held tenant's events, as far as those of the others are numbered. `remain` is whether there may be
 * more of them, or another process numbers now. For the worker.
 */
export async function numberHeldEvents(storage: Storage, tenantId: string): Promise<Omit<Numbered, 'hasHeld'>> {
  const [row] = await storage.query<{ numbered: number; remain: boolean }>(
    'select numbered, remain from number_held_events($1, $2)',
    [tenantId, NUMBERED_AT_ONCE],
  );
  return { count: row?.numbered ?? 0, remain: row?.remain ?? false };
}

/** Returns the age in seconds of the oldest event without a number; 0 without one. */
export const readNumberingDelay = async (storage: Storage): Promise<number> =>
  (await storage.query<{ delay: number | null }>('select oldest_unnumbered_event() as delay'))[0]?.delay ?? 0;

/** Maximum number of events in a row of `event_batches`, which `number_events` writes. */
const BATCH = 50;

/**
 * The ids and types of the events of a tenant (`$1`) with the numbers from after `after` up to `until`, in SQL, as `numbered`.
 * Its columns are those of a key of `events`, `type` and `sequence`.
 */
export const numberedEvents = (after: string, until: string): string =>
  `(select batches.tenant_id, listed.id, listed.type, last - cardinality(ids) + listed.place as sequence
    from event_batches as batches cross join lateral unnest(ids, types) with ordinality as listed (id, type, place)
    where batches.tenant_id = $1 and last > ${after} and last < ${until} + ${BATCH}
      and last - cardinality(ids) + listed.place > ${after} and last - cardinality(ids) + listed.place <= ${until}
   ) as numbered`;

/** The time of the first event after the position of a row of `webhooks` in the feed, in SQL. */
export const NEXT_WRITTEN_AT = `(
  select written_at from (
    select tenant_id, ids[greatest(1, feed_position - last + cardinality(ids) + 1)::int] as id from event_batches
    where tenant_id = webhooks.tenant_id and last > feed_position order by last limit 1
  ) as next join events using (tenant_id, id))`;

const COLUMNS = `events.id, events.type, object_type, object_id, conversation_id, data, written_at,
  found.sequence::float8 as sequence`;

/** Which events of the feed a page has. */
export interface EventFilter {
  /** Only events after this number. */
  after: number;
  /** Only events up to this number. */
  until: number;
  /** All types if it is absent. */
  types?: readonly EventType[] | undefined;
}

/**
 * Returns a page of a tenant's events in the order of their numbers. With `types` it ends early after scanning `MAX_SCANNED`
 * numbers.
 */
export async function listEvents(
  tenant: TenantStorage,
  { after, until, types }: EventFilter,
  limit: number,
): Promise<Page<StoredEvent>> {
  const to = Math.min(until, after + (types ? MAX_SCANNED : limit));
  const rows = await tenant.query<StoredEvent>(
    `with found as materialized (
       select tenant_id, id, sequence from ${numberedEvents('$2::bigint', '$3::bigint')}
       where $4::text[] is null or type = any($4) order by sequence limit $5
     )
     select ${COLUMNS} from found join events using (tenant_id, id) order by found.sequence`,
    [tenant.tenantId, after, to, types ?? null, limit + 1],
  );
  const page = toPage(rows, limit, ({ sequence }) => [String(sequence)]);
  return page.next || to === until ? page : { ...page, next: [String(to)] };
}

/** The numbers of the first event that is kept, and of the last one. Without kept events, the first is yet to come. */
export interface FeedBounds {
  oldest: number;
  last: number;
}

/** Returns the bounds of a tenant's feed. */
export async function readFeedBounds(tenant: TenantStorage): Promise<FeedBounds> {
  const [row] = await tenant.query<{ oldest: number | null; last: number | null }>(
    `select (select last - cardinality(ids) + 1 from event_batches where tenant_id = $1 order by last limit 1)::float8 as oldest,
       (select last from event_sequences where tenant_id = $1)::float8 as last`,
    [tenant.tenantId],
  );
  const last = row?.last ?? 0;
  return { oldest: row?.oldest ?? last + 1, last };
}

/** Returns the names of the identities in events, by the ids that events have of them. */
export async function nameIdentities(
  tenant: TenantStorage,
  events: readonly StoredEvent[],
): Promise<Map<string, NamedIdentity>> {
  const ids = events.flatMap(event => (event.object_type === 'identity' ? [event.object_id] : []));
  if (ids.length === 0) return new Map();
  const rows = await tenant.query<{ id: string; identity: string; verified: boolean }>(
    `with ${WANTED_IDS} select id, identity, identity_verified as verified from wanted join identities using (tenant_id, id)`,
    [tenant.tenantId, ids],
  );
  return new Map(rows.map(({ id, ...named }) => [id, named]));
}

const IS_OLD = 'written_until < least(clock_timestamp(), $1::timestamptz) - make_interval(days => $2)';

/**
 * Events that were written more than `EVENTS_KEPT_DAYS` ago, which are deleted in whole batches. For the worker. Events without
 * a number remain.
 *
 * `now` is the worker's clock; the earlier of it and the database's clock counts.
 */
export const OLD_EVENTS: OldRows = {
  forget: (storage, now, except = []) => forgetEvents(storage, now, 'tenant_id <> all($4::uuid[])', except),
  forgetOf: (storage, now, tenantId) => forgetEvents(storage, now, 'tenant_id = $4::uuid', tenantId),
  list: async (storage, now) =>
    (
      await storage.query<{ tenant_id: string }>(
        `select tenant_id from event_sequences as kept where exists (
           select from event_batches where tenant_id = kept.tenant_id and ${IS_OLD})`,
        [now, EVENTS_KEPT_DAYS],
      )
    ).map(({ tenant_id }) => tenant_id),
};

async function forgetEvents(storage: Storage, now: Date, which: string, tenants: unknown): Promise<number> {
  const [row] = await storage.query<{ count: number }>(
    `with old as materialized (
       select batches.* from (select tenant_id from event_sequences where ${which}) as kept cross join lateral (
         select tenant_id, last, ids from event_batches where tenant_id = kept.tenant_id and ${IS_OLD}
         order by written_until, last limit $3
       ) as batches limit $3
     ), forgotten as (
       delete from event_batches using old where event_batches.tenant_id = old.tenant_id and event_batches.last = old.last
     ), deleted as (
       delete from events using (select tenant_id, unnest(ids) as id from old) as gone
       where events.tenant_id = gone.tenant_id and events.id = gone.id
     )
     select coalesce(sum(cardinality(ids)), 0)::int as count from old`,
    [now, EVENTS_KEPT_DAYS, BATCHES_DELETED_AT_ONCE, tenants],
  );
  return row?.count ?? 0;
}
