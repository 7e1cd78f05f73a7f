import { defineEntity, p } from '@mikro-orm/postgresql';
import { identity, json, moment, text, uuid } from './columns.ts';

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
  },
  indexes: [{ name: 'identities_changed', properties: ['tenant_id', 'updated_at'] }],
});
