import { defineEntity, p } from '@mikro-orm/postgresql';
import { moment, text, textArray, uuid } from './columns.ts';

export const ApiKeyEntity = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  properties: {
    tenant_id: uuid().primary(),
    id: uuid().primary(),
    name: text(),
    kind: text(),
    scopes: textArray(),
    allowed_origins: textArray(),
    secret_sealed: p.blob(),
    bearer_hash: p.blob().nullable(),
    hint: text(),
    previous_secret_sealed: p.blob().nullable(),
    previous_bearer_hash: p.blob().nullable(),
    previous_valid_until: moment().nullable(),
    created_at: moment(),
    expires_at: moment().nullable(),
    revoked_at: moment().nullable(),
    last_used_at: moment().nullable(),
  },
  uniques: [{ name: 'api_keys_id', properties: ['id'] }],
});
