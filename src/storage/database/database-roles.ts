import type { Client } from 'pg';
import { withClient } from '../../platform/postgres-client.ts';
import { BEGIN } from '../../platform/postgres-session.ts';
import { type DatabaseUrl, rolePrefixOf } from '../../platform/store-urls.ts';
import { sqlState } from './errors.ts';
import type { StorageRole } from './settings.ts';

/** The roles used by processes, under the default prefix. */
const ROLES: readonly StorageRole[] = ['parley_app', 'parley_worker'];

/** Returns a role's name on the server, which begins with `DATABASE_ROLE_PREFIX`. */
export const roleName = (role: string, prefix: string): string => role.replace(/^parley/, prefix);

const namesOf = (prefix: string): string[] => ROLES.map(role => roleName(role, prefix));

/** Returns SQL with the role names of a prefix in place of the default ones. */
export const withRolePrefix = (sql: string, prefix: string): string =>
  sql.replaceAll(/\bparley_(app|worker)\b/g, `${prefix}_$1`);

/** Whether the server denied a statement because the user lacks a right. */
export const isDenied = (error: unknown): boolean => sqlState(error) === '42501';

/**
 * SQL for whether a user may assume a role. From PostgreSQL 16 on a membership can lack that right, as that of the
 * creator of a role without superuser does.
 */
const mayAssume = (user: string, role: string): string =>
  `case when current_setting('server_version_num')::int >= 160000
     then pg_has_role(${user}, ${role}, 'set') else pg_has_role(${user}, ${role}, 'member') end`;

/** Quotes a name for SQL. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const readUser = async (client: Client): Promise<string> =>
  (await client.query<{ name: string }>('select current_user::text as name')).rows[0]?.name ?? '';

/** Returns the roles that exist, and whether a user may assume each. */
const readRoles = async (client: Client, names: readonly string[], user = 'current_user') =>
  (
    await client.query<{ rolname: string; usable: boolean; sees_all: boolean }>(
      `select rolname, rolsuper or rolbypassrls as sees_all, ${mayAssume(user, 'oid')} as usable
       from pg_roles where rolname = any($1) order by rolname`,
      [names],
    )
  ).rows;

/** Runs a statement that another migrator on the server may have run a moment before. */
async function runOnce(client: Client, sql: string): Promise<void> {
  try {
    await client.query(sql);
  } catch (error) {
    if (!['42710', '23505'].includes(sqlState(error) ?? '')) throw error;
  }
}

/** A right that `migrate` needs and the user lacks. The message names the statements that grant it. */
export class MissingRights extends Error {}

/**
 * Returns the statements with which a database administrator prepares an installation: the two roles, and `user` as a
 * member of them.
 */
export const statementsForAdministrator = (prefix: string, user: string): string[] => [
  ...namesOf(prefix).map(name => `create role ${name} nologin`),
  `grant ${namesOf(prefix).join(', ')} to ${quoted(user)}`,
];

/**
 * Creates the missing roles and makes the connection's user a member of them, as far as that is missing.
 *
 * Throws `MissingRights` if a role is missing and the user may not create it. Returns the roles that the user cannot
 * assume and may not grant to itself: a user that only runs migrations does not need them.
 */
export async function ensureRoles(client: Client, prefix: string): Promise<string[]> {
  const names = namesOf(prefix);
  const existing = new Set((await readRoles(client, names)).map(({ rolname }) => rolname));
  try {
    for (const name of names) if (!existing.has(name)) await runOnce(client, `create role ${name} nologin`);
  } catch (error) {
    if (!isDenied(error)) throw error;
    throw new MissingRights(
      `The database user may not create the roles ${names.join(' and ')}. Have an administrator run: ${statementsForAdministrator(prefix, await readUser(client)).join('; ')};`,
    );
  }
  const unusable: string[] = [];
  for (const { rolname, usable } of await readRoles(client, names)) {
    if (usable) continue;
    try {
      await client.query(`grant ${rolname} to current_user`);
    } catch (error) {
      if (!isDenied(error)) throw error;
      unusable.push(rolname);
    }
  }
  return unusable;
}

/**
 * Runs a statement with the rights of a role of Parley, in a transaction: the connection's user may itself have none,
 * and behind a pooler no setting may outlast a transaction.
 */
export async function queryAs<Row extends object>(
  client: Client,
  role: string,
  sql: string,
  params: unknown[] = [],
): Promise<Row[]> {
  await client.query(BEGIN);
  try {
    await client.query("select set_config('role', $1, true)", [role]);
    const { rows } = await client.query<Row>(sql, params);
    await client.query('commit');
    return rows;
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

/** Whether the connection's user has all rights of the owner of the tables. */
export const isOwner = async (client: Client): Promise<boolean> => {
  const { rows } = await client.query<{ owns: boolean }>(
    `select pg_has_role(current_user, relowner, 'usage') as owns from pg_class
     where relname = 'api_keys' and relnamespace = to_regnamespace('public')`, // to_regclass would need USAGE of the schema
  );
  return rows[0]?.owns ?? false;
};

/** Whether the connection's user may act as the API and not as the worker, like that of `DATABASE_API_URL`. */
export const actsAsApiOnly = (database: DatabaseUrl): Promise<boolean> =>
  withClient(database, async client => {
    const [app, worker] = await readRoles(client, namesOf(rolePrefixOf(database)));
    return app?.usable === true && worker?.usable === false;
  });

/** Whether `migrate` has created both roles. */
export const haveRoles = (database: DatabaseUrl): Promise<boolean> =>
  withClient(database, async client => {
    const names = namesOf(rolePrefixOf(database));
    return (await readRoles(client, names)).length === names.length;
  });

/** A missing or excessive right of the connection's user. */
export interface RoleFault {
  detail: string;
  remedy: string;
}

/** Returns the faults of the connection user's rights; empty when row-level security applies. */
export const checkRoles = (database: DatabaseUrl, names = namesOf(rolePrefixOf(database))): Promise<RoleFault[]> =>
  withClient(database, async client => {
    const roles = await readRoles(client, names);
    if (roles.length < names.length)
      return [{ detail: `the roles ${names.join(' and ')} are missing`, remedy: 'Run `parley migrate`.' }];
    const user = await readUser(client);
    return [...roles.flatMap(role => describeRole(role, user)), ...(await describeBlindness(client))];
  });

const describeRole = (role: { rolname: string; sees_all: boolean; usable: boolean }, user: string): RoleFault[] => [
  ...(role.sees_all
    ? [
        {
          detail: `the role ${role.rolname} bypasses row-level security`,
          remedy: `ALTER ROLE ${role.rolname} NOSUPERUSER NOBYPASSRLS.`,
        },
      ]
    : []),
  ...(role.usable
    ? []
    : [
        {
          detail: `the database user is not a member of ${role.rolname}`,
          remedy: `GRANT ${role.rolname} TO ${quoted(user)}.`,
        },
      ]),
];

/**
 * `oldest_open_write` runs as its owner, who must see the transactions of all processes. Otherwise `updated_since`
 * skips changes, and events that are committed late get no number (`number_events`).
 */
async function describeBlindness(client: Client): Promise<RoleFault[]> {
  const { rows } = await client.query<{ owner: string; login: string }>(
    `select pg_get_userbyid(proowner) as owner, session_user::text as login from pg_proc
     where proname = 'oldest_open_write' and pronamespace = to_regnamespace('public')
       and not pg_has_role(proowner, 'pg_read_all_stats', 'usage') and not pg_has_role(proowner, session_user, 'usage')`,
  );
  return rows.map(({ owner, login }) => ({
    detail: `the owner of the tables (${owner}) cannot read open transactions`,
    remedy: `GRANT ${quoted(login)} TO ${quoted(owner)}.`,
  }));
}

/**
 * Returns why the connection's user could read the rows of every tenant without a role of Parley; undefined if it
 * could not.
 */
export const findExcessRights = (database: DatabaseUrl): Promise<string | undefined> =>
  withClient(database, async client => {
    const { rows } = await client.query<{ rolsuper: boolean; rolbypassrls: boolean }>(
      'select rolsuper, rolbypassrls from pg_roles where rolname = current_user',
    );
    const [user] = rows;
    if (user?.rolsuper) return 'is a superuser';
    if (user?.rolbypassrls) return 'bypasses row-level security';
    return (await isOwner(client)) ? 'owns the tables' : undefined;
  });
