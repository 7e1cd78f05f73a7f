import type { Config } from '../platform/config.ts';
import { withClient } from '../platform/postgres-client.ts';
import { type DatabaseUrl, rolePrefixOf, urlOf } from '../platform/store-urls.ts';
import { findMissingQueuePrivileges } from '../queue/privileges.ts';
import { haveRoles, isDenied, quoted } from '../storage/database/database-roles.ts';
import { findMissingPrivileges, neededPrivileges } from '../storage/database/privileges.ts';
import { type Check, ill, well } from './doctor-check.ts';

/** Checks that the roles have every privilege that `migrate` grants, also on a queue in PostgreSQL. */
export async function examinePrivileges(url: DatabaseUrl, { REDIS_URL }: Config): Promise<Check[]> {
  if (!(await haveRoles(url))) return [];
  const missing = [
    ...(await withClient(url, client => findMissingPrivileges(client, neededPrivileges(rolePrefixOf(url))))),
    ...(REDIS_URL ? [] : await findMissingQueuePrivileges(url)),
  ];
  if (missing.length === 0) return [well('privileges', 'the roles have all that they need')];
  return [
    ill('privileges', 'the roles of Parley lack privileges', `Run as the owner of the tables: ${missing.join('; ')};`),
  ];
}

/** Returns the remedy for a database that refuses its user; undefined for another error. */
export function mendDenied(url: DatabaseUrl, error: unknown): string | undefined {
  if (!isDenied(error)) return undefined;
  const { pathname, username } = new URL(urlOf(url));
  const [database, user] = [pathname.slice(1), username].map(decodeURIComponent).map(quoted);
  return `Run as the owner of the database: GRANT CONNECT ON DATABASE ${database} TO ${user};`;
}
