import { Migration } from '@mikro-orm/migrations';

/** Custom fields of conversations: their definitions, and the values. */
export class CustomFields extends Migration {
  override up(): void {
    this.addSql(`alter table tenants add column custom_fields jsonb not null default '[]'`);
    this.addSql(`alter table conversations add column custom jsonb not null default '{}'`);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
