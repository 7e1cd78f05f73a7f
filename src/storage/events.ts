import type { EventType, NamedIdentity, NewEvent, StoredEvent } from '../domain/events.ts';
import { EVENTS_KEPT_DAYS } from '../domain/events.ts';
import type { Page } from '../domain/pages.ts';
import { createList, type Order, readPage } from './lists.ts';
import type { Storage, TenantStorage } from './orm.ts';
import { unnest, WANTED_IDS } from './sql.ts';
import type { Transaction } from './transaction.ts';

/** Maximum number of events that are numbered in one transaction, and that are deleted in one. */
export const NUMBERED_AT_ONCE = 5000;
const DELETED_AT_ONCE = 1000;

const WRITTEN = {
  tenant_id: 'uuid',
  type: 'text',
  object_type: 'text',
  object_id: 'uuid',
  conversation_id: 'uuid',
  data: 'jsonb',
  ordinal: 'int',
} as const;
const NAMES = Object.keys(WRITTEN).join(', ');
/**
 * The time of writing, and ids of that time: the columns' defaults, but with one time for all rows of a statement, which
 * is a quarter of the cost. The first 15 characters of a UUIDv7 are its time and version.
 */
const TIME = '(select time_of_write())';
const IDS = `((select left(event_id_at(clock_timestamp(), gen_random_uuid())::text, 15))
  || substr(gen_random_uuid()::text, 16))::uuid`;

/** An event and its tenant. */
export type TenantEvent = NewEvent & { tenantId: string };

/**
 * Writes events in the transaction that caused them. Those of one call keep their order. Writers never wait for each
 * other: events are numbered after the commit (`numberEvents`).
 */
export async function writeEvents(tx: Transaction, events: readonly TenantEvent[]): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map(({ tenantId, type, object, data = {} }, ordinal) => ({
    tenant_id: tenantId,
    type,
    object_type: object.type,
    object_id: object.id,
    conversation_id: object.conversationId,
    data,
    ordinal,
  }));
  const { sql, params } = unnest<(typeof rows)[number]>(rows, WRITTEN);
  await tx.query(`insert into events (id, written_at, ${NAMES}) select ${IDS}, ${TIME}, ${NAMES} from ${sql}`, params);
}

/** The outcome of numbering. */
export interface Numbered {
  count: number;
  /** The time before which all events are numbered; null if this run did not get that far. */
  completeUntil: Date | null;
}

/**
 * Numbers the events of all tenants that were written before the oldest open write, in their order, and returns their
 * count. For the worker. Only one process at a time numbers events; in others the count is 0.
 *
 * `since` is the end of an earlier, complete run, so that older rows are not read again; null reads all.
 */
export async function numberEvents(storage: Storage, since: Date | null): Promise<Numbered> {
  const [row] = await storage.query<{ numbered: number; complete_until: Date | null }>(
    "select numbered, complete_until from number_events(coalesce($1::timestamptz, '-infinity'), $2)",
    [since, NUMBERED_AT_ONCE],
  );
  return { count: row?.numbered ?? 0, completeUntil: row?.complete_until ?? null };
}

/** Returns the age in seconds of the oldest event without a number; 0 without one. */
export const readNumberingDelay = async (storage: Storage): Promise<number> =>
  (await storage.query<{ delay: number | null }>('select oldest_unnumbered_event() as delay'))[0]?.delay ?? 0;

const COLUMNS =
  'id, type, object_type, object_id, conversation_id, data, written_at, events.sequence::float8 as sequence';

const IN_SEQUENCE: Order<StoredEvent> = { keys: [['sequence', 'bigint']], descending: false };

/** Which events of the feed a page has. */
export interface EventFilter {
  /** Only events after this number. */
  after: number;
  /** Only events up to this number. */
  until: number;
  /** All types if it is absent. */
  types?: readonly EventType[] | undefined;
}

/** Returns a page of a tenant's events in the order of their numbers. */
export function listEvents(
  tenant: TenantStorage,
  { after, until, types }: EventFilter,
  limit: number,
): Promise<Page<StoredEvent>> {
  const list = createList<StoredEvent>(tenant, 'events', COLUMNS, IN_SEQUENCE);
  list.access.and('sequence <= $', until);
  if (types) list.filters.and('type = any($)', types);
  return readPage(tenant, list, limit, [String(after)]);
}

/** The numbers of the first event that is kept, and of the last one. Without kept events, the first is yet to come. */
export interface FeedBounds {
  oldest: number;
  last: number;
}

/** Returns the bounds of a tenant's feed. */
export async function readFeedBounds(tenant: TenantStorage): Promise<FeedBounds> {
  const [row] = await tenant.query<{ oldest: number | null; last: number | null }>(
    `select (select sequence from events where tenant_id = $1 and sequence is not null order by sequence limit 1)::float8 as oldest,
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

/** The first id of a time, for `event_id_at`. */
export const EARLIEST = '00000000-0000-4000-8000-000000000000';

/**
 * Deletes a batch of events older than `EVENTS_KEPT_DAYS`, and returns their number. For the worker.
 *
 * `now` is the worker's clock; the earlier of it and the database's clock counts. Events without a number remain.
 */
export async function deleteOldEvents(storage: Storage, now: Date): Promise<number> {
  const [row] = await storage.query<{ count: number }>(
    `with old as materialized (
       select kept.tenant_id, oldest.id from event_sequences as kept cross join lateral (
         select id from events where tenant_id = kept.tenant_id and sequence is not null
           and id < event_id_at(least(clock_timestamp(), $1::timestamptz) - make_interval(days => $2), '${EARLIEST}')
         order by id limit $3
       ) as oldest limit $3
     ), deleted as (
       delete from events using old where events.tenant_id = old.tenant_id and events.id = old.id returning 1
     )
     select count(*)::int as count from deleted`,
    [now, EVENTS_KEPT_DAYS, DELETED_AT_ONCE],
  );
  return row?.count ?? 0;
}
