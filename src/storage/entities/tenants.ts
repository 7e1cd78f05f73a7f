import { defineEntity, p } from '@mikro-orm/postgresql';
import { int, json, moment, text, textArray, uuid } from './columns.ts';

export const TenantEntity = defineEntity({
  name: 'Tenant',
  tableName: 'tenants',
  properties: {
    id: uuid().primary(),
    name: text(),
    cooldown_days: int().default(7),
    created_at: moment(),
    default_locale: text().default('en'),
    locales: textArray().defaultRaw(`'{en}'`),
    timezone: text().default('UTC'),
    ip_mode: text().default('none'),
    retention_answers_days: int().nullable(),
    retention_conversations_days: int().nullable(),
    identity_attributes_allowed: textArray().defaultRaw(`'{}'`),
    appearance: json<object>().defaultRaw("'{}'"),
    results_fixed_before: p.date().nullable(),
    first_card_at: moment().nullable(),
    auto_resolve_days: int().nullable(),
    is_demo: p.boolean().default(false),
    office_hours: json<object[]>().defaultRaw("'[]'"),
    reply_targets: json<object>().defaultRaw("'{}'"),
    custom_fields: json<object[]>().defaultRaw("'[]'"),
  },
});

/** Permanently deleted tenants: data that still arrives for them is dropped. */
export const DeletedTenantEntity = defineEntity({
  name: 'DeletedTenant',
  tableName: 'deleted_tenants',
  properties: { id: uuid().primary(), deleted_at: moment() },
});
