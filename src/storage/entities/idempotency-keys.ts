import { defineEntity } from '@mikro-orm/postgresql';
import { int, json, moment, text, uuid } from './columns.ts';

export const IdempotencyKeyEntity = defineEntity({
  name: 'IdempotencyKey',
  tableName: 'idempotency_keys',
  properties: {
    tenant_id: uuid().primary(),
    credential_id: uuid().primary(),
    key: text().primary(),
    request_hash: text(),
    value_hash: text().nullable(),
    status: int().nullable(),
    headers: json<object>().nullable(),
    body: text().nullable(),
    created_at: moment(),
  },
  indexes: [{ name: 'idempotency_keys_oldest', properties: ['created_at'] }],
});
