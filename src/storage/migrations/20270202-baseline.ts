import { Migration } from '@mikro-orm/migrations';
import { readFunction, readSchema } from '../schema/sql-files.ts';

/** Functions that defaults of columns call. The others are applied after all migrations. */
const NEEDED_BY_TABLES = ['event_id_at', 'time_of_write', 'place_of_write'];

/** The files of the schema. Those of `accounts` and `tenants` have policies that read `members`. */
const FILES = [
  'schema-state',
  'processes',
  'backups',
  'keys',
  'rate-counters',
  'idempotency-keys',
  'members',
  'accounts',
  'tenants',
  'audit-log',
  'api-keys',
  'questions',
  'results',
  'answers',
  'ingestion',
  'identities',
  'cards',
  'conversations',
  'messages',
  'assignment-rules',
  'macros',
  'views',
  'events',
  'webhooks',
  'mails',
];

/** The schema of the first release. `ensureRoles` has created the roles. */
export class Baseline extends Migration {
  override up(): void {
    for (const name of NEEDED_BY_TABLES) this.addSql(readFunction(name));
    for (const name of FILES) this.addSql(readSchema(name));
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
