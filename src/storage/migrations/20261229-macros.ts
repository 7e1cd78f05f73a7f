import { Migration } from '@mikro-orm/migrations';

/** Macros of the team, and conversations that were merged into others. */
export class Macros extends Migration {
  override up(): void {
    this.addSql('alter table conversations add column merged_into_id uuid');
    this.addSql(`
create table macros (
  tenant_id uuid not null,
  id uuid not null,
  name text not null,
  shortcut text,
  body text,
  kind text not null,
  changes jsonb not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (tenant_id, id)
)`);
    this.addSql('alter table macros enable row level security');
    const tenant = `nullif(current_setting('parley.tenant', true), '')::uuid`;
    this.addSql(`create policy one_tenant on macros to parley_app using (tenant_id = ${tenant})`);
    this.addSql('grant select, insert, update, delete on macros to parley_app');
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
