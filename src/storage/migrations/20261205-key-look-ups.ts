import { Migration } from '@mikro-orm/migrations';

/**
 * Lookups of many keys and sessions at once.
 *
 * With `key_times`, the worker checks keys without the right to read them. The other two serve all waiting requests
 * with one statement, so that made-up credentials do not cost one each.
 */
export class KeyLookUps extends Migration {
  override up(): void {
    this.addSql(`
create function key_times(key_ids uuid[]) returns table (
  id uuid, revoked_at timestamptz, expires_at timestamptz, previous_valid_until timestamptz
)
language sql stable security definer set search_path = public, pg_temp
as 'select k.id, k.revoked_at, k.expires_at, k.previous_valid_until from api_keys k
    where k.id = any(key_ids)
      and (k.revoked_at is not null or k.expires_at is not null or k.previous_valid_until is not null)'`);
    this.addSql(`
create function find_api_keys(key_ids uuid[]) returns setof api_keys
language sql stable security definer set search_path = public, pg_temp
as 'select * from api_keys where id = any(key_ids)'`);
    this.addSql(`
create function find_sessions(hashes bytea[], of_tenants uuid[]) returns table (
  place int, id uuid, account_id uuid, email text, name text, created_at timestamptz, last_seen_at timestamptz,
  expires_at timestamptz, member_id uuid, role text
)
language sql stable security definer set search_path = public, pg_temp
as 'select asked.place::int, s.id, a.id, a.email, a.name, s.created_at, s.last_seen_at, s.expires_at, m.id, m.role
    from unnest(hashes, of_tenants) with ordinality as asked(hash, of_tenant, place)
    join sessions s on s.token_hash = asked.hash join accounts a on a.id = s.account_id
    left join members m on m.tenant_id = asked.of_tenant and m.account_id = a.id'`);
    for (const [name, role] of [
      ['key_times(uuid[])', 'parley_worker'],
      ['find_api_keys(uuid[])', 'parley_app'],
      ['find_sessions(bytea[], uuid[])', 'parley_app'],
    ]) {
      this.addSql(`revoke all on function ${name} from public`);
      this.addSql(`grant execute on function ${name} to ${role}`);
    }
    this.addSql('insert into schema_state values (14, 1)');
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
