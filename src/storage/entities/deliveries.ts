import { defineEntity, p } from '@mikro-orm/postgresql';
import { indexFromMigration, int, moment, text, uuid } from './columns.ts';

/** Attempts to send an event to a webhook, and those that are due later. */
export const DeliveryEntity = defineEntity({
  name: 'Delivery',
  tableName: 'deliveries',
  properties: {
    tenant_id: uuid().primary(),
    id: uuid().primary(),
    webhook_id: uuid(),
    event_id: uuid(),
    sequence: p.bigint().nullable(),
    type: text(),
    object_id: uuid(),
    event_at: moment(),
    attempt: int(),
    at: moment(),
    status: text(),
    response_status: int().nullable(),
    duration_ms: int().nullable(),
    error: text().nullable(),
    response: text().nullable(),
  },
  indexes: [
    { name: 'deliveries_of_webhook', properties: ['tenant_id', 'webhook_id', 'at', 'id'] },
    indexFromMigration('deliveries_due'),
    indexFromMigration('deliveries_in_turn'),
    indexFromMigration('deliveries_of_object'),
    { name: 'deliveries_by_age', properties: ['at'] },
  ],
});
