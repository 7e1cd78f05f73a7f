import { defineEntity, p } from '@mikro-orm/postgresql';
import { identity, indexFromMigration, json, moment, text, uuid } from './columns.ts';

export const IdentityEntity = defineEntity({
  name: 'Identity',
  tableName: 'identities',
  properties: {
    tenant_id: uuid().primary(),
    identity: identity().primary(),
    identity_verified: p.boolean().primary(),
    attributes: json<object>(),
    locale: text().nullable(),
    platform: text().nullable(),
    app_version: text().nullable(),
    created_at: moment(),
    updated_at: moment(),
    id: uuid().nullable().defaultRaw('gen_random_uuid()'),
  },
  indexes: [
    indexFromMigration('identities_id'),
    { name: 'identities_changed', properties: ['tenant_id', 'updated_at'] },
  ],
});
