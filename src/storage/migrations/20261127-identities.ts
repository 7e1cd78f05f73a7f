import { Migration } from '@mikro-orm/migrations';

/** A tenant's data about its users. Existence and activity of a user are derived from the user's other rows. */
export class Identities extends Migration {
  override up(): void {
    const tenant = `nullif(current_setting('parley.tenant', true), '')::uuid`;
    this.addSql(`
create table identities (
  tenant_id uuid not null,
  identity text collate "C" not null,
  identity_verified boolean not null,
  attributes jsonb not null,
  locale text,
  platform text,
  app_version text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (tenant_id, identity, identity_verified)
)`);
    this.addSql('alter table identities enable row level security');
    this.addSql(`create policy one_tenant on identities to parley_app using (tenant_id = ${tenant})`);
    this.addSql('grant select, insert, update, delete on identities to parley_app');
    this.addSql('insert into schema_state values (7, 1)');
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
