import { Migration } from '@mikro-orm/migrations';

/**
 * The time from which a producer's unsettled flushes may have been recorded. An audit after their marks were removed
 * can no longer examine them. The default is for rows inserted by processes of the previous version.
 */
export class OpenClaims extends Migration {
  override up(): void {
    this.addSql('alter table flush_producers add column open_since timestamptz(3) not null default now()');
    this.addSql('insert into schema_state values (13, 1)');
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
