import { Migration } from '@mikro-orm/migrations';

/**
 * The rules by which conversations are assigned, and the availability and capacity of members.
 *
 * `rules_checked` is the version of the tenant's rules with which a conversation was last looked at, at first 0. The
 * trigger resets it for every writer, including the previous version.
 */
export class Assignment extends Migration {
  override up(): void {
    this.addSql("alter table members add column availability text not null default 'active'");
    this.addSql('alter table members add column capacity int not null default 20');
    this.addSql('alter table conversations add column rules_checked int not null default 0');
    this.addSql('alter table conversations add column assignment_rule uuid');
    this.addSql('alter table conversations add column assignment_waits boolean not null default false');
    this.addSql(`
create table assignment_rules (
  tenant_id uuid primary key,
  version int not null,
  rules jsonb not null,
  turns jsonb not null
)`);
    this.addSql('alter table assignment_rules enable row level security');
    const tenant = `nullif(current_setting('parley.tenant', true), '')::uuid`;
    this.addSql(`create policy one_tenant on assignment_rules to parley_app using (tenant_id = ${tenant})`);
    this.addSql('grant select, insert, update, delete on assignment_rules to parley_app');
    this.lookAgain();
    this.findTenants();
    this.addSql('insert into schema_state values (37, 11) on conflict do nothing');
  }

  /** The rules look again at a conversation that returned to no assignee, or whose tags or priority have changed. */
  private lookAgain(): void {
    this.addSql(`
create function look_again_for_assignment() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  new.rules_checked := 0;
  new.assignment_waits := false;
  return new;
end $$`);
    this.addSql(`
create trigger look_again before update of tags, priority, assignee_id on conversations for each row
when (old.rules_checked <> 0 and (old.tags <> new.tags or old.priority <> new.priority
  or old.assignee_id is not null and new.assignee_id is null))
execute function look_again_for_assignment()`);
  }

  /**
   * The tenants with a conversation to look at, or one that waits for a rule with a member who has a place.
   *
   * Its cost depends on the numbers of rules and members, not of conversations: each part reads one entry of an index, and
   * counts no further than a member's capacity. `order by` makes the planner use the index, because it estimates that a
   * sequential scan would soon find a row.
   */
  private findTenants(): void {
    this.addSql(`
create function tenants_to_assign() returns setof uuid
language sql stable security definer set search_path = public, pg_temp
as $$
  select rules_of.tenant_id from assignment_rules as rules_of
  where jsonb_array_length(rules_of.rules) > 0 and (
    (
      select rules_checked from conversations as found
      where found.tenant_id = rules_of.tenant_id and found.status = 'open' and found.assignee_id is null
      order by rules_checked, created_at, id limit 1
    ) < rules_of.version or exists (
      select from jsonb_array_elements(rules_of.rules) as rule(value)
      cross join lateral (select value #> '{then,assign}' as assign) as target
      where (
        select true from conversations as waiting
        where waiting.tenant_id = rules_of.tenant_id and waiting.status = 'open' and waiting.assignee_id is null
          and waiting.assignment_waits and waiting.assignment_rule = (rule.value ->> 'id')::uuid
        order by created_at, id limit 1
      ) and exists (
        select from members
        where members.tenant_id = rules_of.tenant_id and members.availability = 'active'
          and members.id in (select jsonb_array_elements_text(
            coalesce(assign -> 'round_robin', assign -> 'least_busy', jsonb_build_array(assign -> 'member_id')))::uuid)
          and (select count(*) from (
            select from conversations as held where held.tenant_id = members.tenant_id and held.assignee_id = members.id
              and held.status in ('open', 'pending') order by id limit members.capacity) as counted) < members.capacity
      )
    )
  )
$$`);
    this.addSql('revoke all on function tenants_to_assign() from public');
    this.addSql('grant execute on function tenants_to_assign() to parley_worker');
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
