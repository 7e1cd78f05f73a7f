import { Migration } from '@mikro-orm/migrations';

/** A flag of tenants that contain demo data only, and can be deleted without their name. */
export class DemoTenants extends Migration {
  override up(): void {
    this.addSql('alter table tenants add column is_demo boolean not null default false');
    this.addSql('insert into schema_state values (33, 11) on conflict do nothing');
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
