import { defineEntity, p } from '@mikro-orm/postgresql';
import type { EventData } from '../../domain/events.ts';
import { indexFromMigration, int, json, text, uuid } from './columns.ts';

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
    ordinal: int().default(0),
    sequence: p.bigint().nullable(),
  },
  indexes: [indexFromMigration('events_unnumbered'), indexFromMigration('events_in_order')],
});

/** The number of each tenant's last numbered event, which remains when its events are deleted. */
export const EventSequenceEntity = defineEntity({
  name: 'EventSequence',
  tableName: 'event_sequences',
  properties: { tenant_id: uuid().primary(), last: p.bigint() },
});
