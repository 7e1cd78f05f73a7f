import { defineEntity, p } from '@mikro-orm/postgresql';
import { indexFromMigration, int, moment, text, textArray, uuid } from './columns.ts';

/** A webhook, and how far it has got in the feed. A worker that delivers holds its lease. */
export const WebhookEntity = defineEntity({
  name: 'Webhook',
  tableName: 'webhooks',
  properties: {
    tenant_id: uuid().primary(),
    id: uuid().primary(),
    url: text(),
    description: text(),
    event_types: textArray(),
    payload: text(),
    ordered: p.boolean(),
    status: text(),
    disabled_reason: text().nullable(),
    secret_sealed: p.blob(),
    previous_secret_sealed: p.blob().nullable(),
    previous_secret_until: moment().nullable(),
    feed_position: p.bigint(),
    failures: int().default(0),
    failing_since: moment().nullable(),
    due_at: moment().nullable(),
    lease: uuid().nullable(),
    lease_until: moment().nullable(),
    created_at: moment(),
    updated_at: moment(),
  },
  indexes: [indexFromMigration('webhooks_by_due_time')],
});
