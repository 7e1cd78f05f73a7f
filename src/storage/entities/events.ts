import { defineEntity, p } from '@mikro-orm/postgresql';
import type { EventData } from '../../domain/events/events.ts';
import { indexFromMigration, int, json, moment, text, textArray, uuid, uuidArray } from './columns.ts';

export const EventEntity = defineEntity({
  name: 'Event',
  tableName: 'events',
  properties: {
    tenant_id: uuid().primary(),
    id: uuid().primary().defaultRaw('event_id_at(clock_timestamp(), gen_random_uuid())'),
    type: text(),
    object_type: text(),
    object_id: uuid(),
    conversation_id: uuid().nullable(),
    data: json<EventData>().defaultRaw("'{}'"),
    written_at: p.datetime(6).defaultRaw('time_of_write()'),
    /** Not used any more. */
    ordinal: int().default(0),
    place: p.bigint().defaultRaw('place_of_write()'),
  },
  indexes: [indexFromMigration('events_in_place')],
});

/**
 * Up to 50 events of a tenant with consecutive numbers: `ids` and `types` in their order, `last` the number of the last one,
 * and the time until which they were written.
 */
export const EventBatchEntity = defineEntity({
  name: 'EventBatch',
  tableName: 'event_batches',
  properties: {
    tenant_id: uuid().primary(),
    last: p.bigint().primary(),
    ids: uuidArray(),
    types: textArray(),
    written_until: p.datetime(6),
  },
  indexes: [indexFromMigration('event_batches_by_time')],
});

/** The number of each tenant's last numbered event, which remains when its events are deleted. */
export const EventSequenceEntity = defineEntity({
  name: 'EventSequence',
  tableName: 'event_sequences',
  properties: { tenant_id: uuid().primary(), last: p.bigint() },
});

/**
 * The single row of `number_events`: the place before which all events have numbers, the one before which no open write can
 * add any, and the last floor with the id of the transaction that raised it.
 */
export const EventNumberingEntity = defineEntity({
  name: 'EventNumbering',
  tableName: 'event_numbering',
  properties: {
    is_only: p.boolean().primary().defaultRaw('true'),
    numbered_until: p.bigint(),
    settled_until: p.bigint(),
    floor: p.bigint(),
    floor_set_by: p.bigint(),
  },
  checks: [{ name: 'event_numbering_is_only_check', expression: 'is_only' }],
});

/** A tenant whose events are numbered separately, from this place on (`number_held_events`). */
export const HeldEventsEntity = defineEntity({
  name: 'HeldEvents',
  tableName: 'held_events',
  properties: {
    tenant_id: uuid().primary(),
    numbered_until: p.bigint(),
    last_place: p.bigint(),
    held_at: moment().defaultRaw('clock_timestamp()'),
  },
});
