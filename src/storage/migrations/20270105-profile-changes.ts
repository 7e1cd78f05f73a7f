import { Migration } from '@mikro-orm/migrations';

/**
 * The last changes of each profile, with values before and after.
 *
 * They belong to the profile's id, so a profile that is created again has none of them. They are deleted in the
 * transaction that deletes the profile.
 */
export class ProfileChanges extends Migration {
  override up(): void {
    this.addSql(`
create table profile_changes (
  tenant_id uuid not null,
  identity_id uuid not null,
  number int not null,
  at timestamptz(3) not null,
  by jsonb not null,
  changes jsonb not null,
  primary key (tenant_id, identity_id, number)
)`);
    this.addSql('create index profile_changes_by_age on profile_changes (at)');
    const tenant = `nullif(current_setting('parley.tenant', true), '')::uuid`;
    this.addSql('alter table profile_changes enable row level security');
    this.addSql(`create policy one_tenant on profile_changes to parley_app using (tenant_id = ${tenant})`);
    this.addSql('create policy every_tenant on profile_changes to parley_worker using (true)');
    this.addSql('grant select, insert, update, delete on profile_changes to parley_app, parley_worker');
    this.addSql(`
create function forget_profile_changes() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  delete from profile_changes using gone
  where profile_changes.tenant_id = gone.tenant_id and profile_changes.identity_id = gone.id;
  return null;
end $$`);
    this.addSql('revoke all on function forget_profile_changes() from public'); // triggers run all the same
    this.addSql(`
create trigger forget_profile_changes after delete on identities referencing old table as gone
for each statement execute function forget_profile_changes()`);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
