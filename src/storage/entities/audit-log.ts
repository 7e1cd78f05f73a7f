import { defineEntity } from '@mikro-orm/postgresql';
import { moment, text, textArray, uuid } from './columns.ts';

/** Every management act. `parley_app` may add lines and read them; nobody changes one. */
export const AuditEntryEntity = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit_log',
  properties: {
    tenant_id: uuid().primary(),
    id: uuid().primary(),
    at: moment(),
    actor_type: text(),
    actor_id: text().nullable(),
    actor_name: text(),
    action: text(),
    target_id: text().nullable(),
    target_name: text().nullable(),
    fields: textArray(),
    ip: text().nullable(),
    request_id: text().nullable(),
  },
  indexes: [{ name: 'audit_log_newest', properties: ['tenant_id', 'at', 'id'] }],
});
