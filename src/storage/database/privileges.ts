import type { Client } from 'pg';
import { MIGRATIONS } from '../migrations/index.ts';
import { functionNames, readFunction } from '../schema/sql-files.ts';
import { withRolePrefix } from './database-roles.ts';

/** A privilege that a migration has granted to a role. */
export interface Privilege {
  role: string;
  privilege: string;
  kind: 'table' | 'sequence' | 'function' | 'schema';
  /** The name of the object, without the arguments of a function. */
  name: string;
  /** Absent if the privilege is for all columns. */
  field?: string;
}

const GRANT =
  /^\s*grant (?<list>[^;]+?)\s+on (?:(?<kind>function|sequence|schema) )?(?<name>\w+)(?:\([^)]*\))? to (?<roles>\w+(?:, \w+)*)\s*$/;

/** Returns the privileges of a `grant` statement; empty for other statements. */
function readGrant(sql: string): Privilege[] {
  const { list, kind, name, roles } = GRANT.exec(sql)?.groups ?? {};
  if (!list || !name || !roles) return [];
  const granted = [...list.matchAll(/(\w+)(?: \(([^)]+)\))?/g)].flatMap(([, privilege = '', fields]) =>
    fields ? fields.split(/,\s*/).map(field => ({ privilege, field })) : [{ privilege }],
  );
  return roles
    .split(', ')
    .flatMap(role => granted.map(each => ({ role, kind: (kind ?? 'table') as Privilege['kind'], name, ...each })));
}

/** The texts of all migrations, which need no connection to list them, and of all functions. */
const texts = (): string[] => [
  ...MIGRATIONS.flatMap(({ class: Listed }) => {
    const migration = Reflect.construct(Listed, []) as InstanceType<typeof Listed>;
    migration.up();
    return migration.getQueries().filter(sql => typeof sql === 'string');
  }),
  ...functionNames().map(readFunction),
];

/** The statements of a text, without comments. A function's body is taken apart too, and contains no `grant`. */
const statementsOf = (text: string): string[] => text.replaceAll(/^--.*$/gm, '').split(/;$/m);

/** Returns the privileges that the roles need: those that migrations and functions grant. */
export const neededPrivileges = (prefix: string): Privilege[] =>
  texts()
    .flatMap(statementsOf)
    .flatMap(sql => readGrant(withRolePrefix(sql, prefix)));

/**
 * Returns the missing ones of the privileges `$1`, as `GRANT` statements. Objects that a later migration has dropped are
 * skipped, and so is everything before the first migration.
 *
 * Reads the catalogue by oid: the functions that look a name up, such as `to_regclass`, need USAGE of the schema themselves.
 */
const FIND_MISSING = `
with wanted as (
  select distinct * from jsonb_to_recordset($1) as wanted (role text, privilege text, kind text, name text, field text)
), home as (
  select pg_namespace.oid, nspname from pg_namespace join pg_class on relnamespace = pg_namespace.oid
  where nspname = 'public' and relname = 'schema_state'
), missing as (
  select role, upper(privilege) as privilege, 'SCHEMA' as kind, 'public' as object
  from wanted, home where kind = 'schema' and nspname = name
    and not case when kind = 'schema' then has_schema_privilege(role, home.oid, privilege) end
  union all
  select role, upper(privilege) || coalesce(' (' || quote_ident(attname) || ')', ''), upper(kind), format('%I.%I', nspname, relname)
  from wanted join pg_class on relname = name join home on relnamespace = home.oid
    left join pg_attribute on attrelid = pg_class.oid and attname = field
  where kind in ('table', 'sequence') and (field is null or attname is not null)
    and not case when kind = 'sequence' then has_sequence_privilege(role, pg_class.oid, privilege)
      when field is not null then has_column_privilege(role, pg_class.oid, attnum, privilege)
      when kind = 'table' then has_table_privilege(role, pg_class.oid, privilege) end
  union all
  select role, upper(privilege), 'FUNCTION', format('%I.%I(%s)', nspname, proname, oidvectortypes(proargtypes))
  from wanted join pg_proc on proname = name join home on pronamespace = home.oid
  where kind = 'function' and not case when kind = 'function' then has_function_privilege(role, pg_proc.oid, privilege) end
), of_object as (
  select role, kind, object, string_agg(privilege, ', ' order by privilege) as privileges
  from missing group by role, kind, object
)
select format('GRANT %s ON %s %s TO %I', privileges, kind, string_agg(object, ', ' order by object), role) as statement
from of_object group by role, kind, privileges order by kind = 'SCHEMA' desc, 1`;

/** Returns the `GRANT` statements for the privileges that the roles lack in the schema `public`. */
export const findMissingPrivileges = async (client: Client, needed: readonly Privilege[]): Promise<string[]> =>
  (await client.query<{ statement: string }>(FIND_MISSING, [JSON.stringify(needed)])).rows.map(
    ({ statement }) => statement,
  );
