import { defineEntity, p } from '@mikro-orm/postgresql';
import { moment } from './columns.ts';

/** The newest complete backup by `parley backup`; at most one row. */
export const LastBackupEntity = defineEntity({
  name: 'LastBackup',
  tableName: 'last_backup',
  properties: {
    is_only: p.boolean().primary().default(true),
    complete_until: moment(),
    finished_at: moment(),
  },
  checks: [{ name: 'last_backup_is_only_check', expression: 'is_only' }],
});
