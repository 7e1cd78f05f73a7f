import { withDirectClient } from '../platform/postgres-client.ts';
import { type DatabaseUrl, rolePrefixOf } from '../platform/store-urls.ts';

/** BullMQ's schema in PostgreSQL, which also has the registry of pending answers. */
export const SCHEMA = 'bullmq';

/** The role that may use BullMQ's tables. They hold answers of all tenants, so the API's own role may not. */
export const workerRole = (database: DatabaseUrl): string => `${rolePrefixOf(database)}_worker`;

/** Grants the queue to a role, if it exists: `migrate` creates the roles first. */
export const grantsTo = (role: string): string => `
do $$ begin
  if exists (select from pg_roles where rolname = '${role}') then
    grant usage on schema ${SCHEMA} to ${role};
    grant select, insert, update, delete on all tables in schema ${SCHEMA} to ${role};
    grant usage on all sequences in schema ${SCHEMA} to ${role};
    grant execute on all functions in schema ${SCHEMA} to ${role};
  end if;
end $$`;

/** Each kind of object with a condition for those on which the role `$1` lacks a privilege of `grantsTo`. */
const FIND_MISSING = `
select 'USAGE ON SCHEMA' as missing from pg_namespace where nspname = $2 and not has_schema_privilege($1, oid, 'usage')
union all
select privilege || ' ON ALL TABLES IN SCHEMA' from unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE']) as privilege
where exists (select from pg_class where relnamespace = to_regnamespace($2) and relkind in ('r', 'p')
  and not has_table_privilege($1, oid, privilege))
union all
select 'USAGE ON ALL SEQUENCES IN SCHEMA' where exists (select from pg_class where relnamespace = to_regnamespace($2)
  and case when relkind = 'S' then not has_sequence_privilege($1, oid, 'usage') end)
union all
select 'EXECUTE ON ALL FUNCTIONS IN SCHEMA' where exists (select from pg_proc where pronamespace = to_regnamespace($2)
  and not has_function_privilege($1, oid, 'execute'))`;

/** Returns the `GRANT` statements for what the worker's role lacks of a queue in PostgreSQL; empty if it lacks nothing. */
export const findMissingQueuePrivileges = (database: DatabaseUrl): Promise<string[]> =>
  withDirectClient(database, async client => {
    const role = workerRole(database);
    const { rows } = await client.query<{ missing: string }>(FIND_MISSING, [role, SCHEMA]);
    return rows.map(({ missing }) => `GRANT ${missing} ${SCHEMA} TO ${role}`);
  });
