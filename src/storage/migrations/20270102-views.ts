import { Migration } from '@mikro-orm/migrations';

/** Saved views of the inbox: a name, a filter and an order, of one member or shared with the team. */
export class Views extends Migration {
  override up(): void {
    this.addSql(`
create table views (
  tenant_id uuid not null,
  id uuid not null,
  member_id uuid not null,
  name text not null,
  filter jsonb not null,
  sort text not null,
  shared boolean not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (tenant_id, id)
)`);
    this.addSql('alter table views enable row level security');
    const tenant = `nullif(current_setting('parley.tenant', true), '')::uuid`;
    this.addSql(`create policy one_tenant on views to parley_app using (tenant_id = ${tenant})`);
    this.addSql('grant select, insert, update, delete on views to parley_app');
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
