import { defineEntity, p } from '@mikro-orm/postgresql';
import { moment, text, uuid } from './columns.ts';

/** A mark that a loop of the worker has to look at a tenant. Once a loop has taken it, writes set another one. */
export const MarkedTenantEntity = defineEntity({
  name: 'MarkedTenant',
  tableName: 'marked_tenants',
  properties: {
    tenant_id: uuid().primary(),
    kind: text().primary(),
    id: uuid().primary().defaultRaw('gen_random_uuid()'),
    marked_at: moment().defaultRaw('clock_timestamp()'),
    taken: p.boolean().default(false),
    /** The id of a transaction that began after the mark was taken. */
    taken_before: p.bigint().nullable(),
  },
});
