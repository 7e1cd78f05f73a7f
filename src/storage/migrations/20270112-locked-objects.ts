import { Migration } from '@mikro-orm/migrations';

/**
 * `lock_objects` looks each object up by its key. Before, with a plan for an average tenant, it read all rows of a large
 * one from another index (see `wantedRows`).
 */
export class LockedObjects extends Migration {
  override up(): void {
    const lock = (table: string, strength: string, condition = '') => `
  return query with wanted as materialized (select tenant as tenant_id, unnest(ids) as id)
    select ${table}.id from wanted join ${table} using (tenant_id, id) ${condition} order by ${table}.id for ${strength} of ${table};`;
    this.addSql(`
create or replace function lock_objects(tenant uuid, ids uuid[]) returns setof uuid
language plpgsql security definer set search_path = public, pg_temp as $$
begin${lock('answers', 'key share')}${lock('conversations', 'key share')}${lock('messages', 'share', 'where not redacted')}${lock('identities', 'key share')}
end $$`);
  }

  override down(): void {
    throw new Error('Migrations only go forward: restore a backup instead (docs/backup.md).');
  }
}
