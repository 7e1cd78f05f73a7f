import { Migration } from '@mikro-orm/migrations';

/**
 * Tombstones of conversations: which were deleted, whose they were, and when, so that incremental readers can delete
 * their copies. Without any text.
 *
 * A trigger writes them, so that no way of deleting omits them.
 */
export class ConversationTombstones extends Migration {
  override up(): void {
    this.addSql(`
create table conversation_tombstones (
  tenant_id uuid not null,
  id uuid not null,
  identity text collate "C" not null,
  identity_verified boolean not null,
  deleted_at timestamptz(3) not null,
  primary key (tenant_id, id)
)`);
    this.addSql('create index conversation_tombstones_in_order on conversation_tombstones (tenant_id, deleted_at, id)');
    this.addSql('create index conversation_tombstones_oldest on conversation_tombstones (deleted_at)');
    this.addSql('alter table conversation_tombstones enable row level security');
    const tenant = `nullif(current_setting('parley.tenant', true), '')::uuid`;
    this.addSql(`create policy one_tenant on conversation_tombstones to parley_app using (tenant_id = ${tenant})`);
    this.addSql('grant select, insert, update, delete on conversation_tombstones to parley_app');
    this.addSql('create policy every_tenant on conversation_tombstones to parley_worker using (true)');
    this.addSql('grant select, insert, update, delete on conversation_tombstones to parley_worker');
    this.addSql(`
create function leave_conversation_tombstones() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into conversation_tombstones
  select tenant_id, id, identity, identity_verified, clock_timestamp() from gone
  where not exists (select from deleted_tenants where deleted_tenants.id = gone.tenant_id)
  on conflict do nothing;
  return null;
end $$`);
    this.addSql('revoke all on function leave_conversation_tombstones() from public');
    this.addSql(`
create trigger leave_tombstones after delete on conversations referencing old table as gone
for each statement execute function leave_conversation_tombstones()`);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
