import { Migration } from '@mikro-orm/migrations';

/** Lets a session have no address: the strictest `ip_mode` of its account's tenants may allow none. */
export class SessionAddresses extends Migration {
  override up(): void {
    this.addSql('alter table sessions alter column ip drop not null');
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
