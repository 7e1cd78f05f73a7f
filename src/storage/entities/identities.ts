import { defineEntity, p } from '@mikro-orm/postgresql';
import type { EventActor } from '../../domain/events/events.ts';
import type { ChangedFields } from '../../domain/people/profile-changes.ts';
import { identity, indexFromMigration, int, json, moment, text, uuid } from './columns.ts';

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

/** The last changes of profiles. */
export const ProfileChangeEntity = defineEntity({
  name: 'ProfileChange',
  tableName: 'profile_changes',
  properties: {
    tenant_id: uuid().primary(),
    identity_id: uuid().primary(),
    number: int().primary(),
    at: moment(),
    by: json<EventActor>(),
    changes: json<ChangedFields>(),
  },
  indexes: [{ name: 'profile_changes_by_age', properties: ['at'] }],
});
