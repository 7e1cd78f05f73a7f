import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import type { Client } from 'pg';
import { withClient } from '../platform/postgres-client.ts';
import { isDenied, MissingRights, quoted, roleName } from './database-roles.ts';
import { sqlState } from './errors.ts';

const ITERATIONS = 4096;

/**
 * Returns the SCRAM-SHA-256 verifier of a password, as PostgreSQL stores it. Sent instead of the password, it cannot be
 * used to log in if the server logs the statement.
 */
export function scramVerifier(password: string, salt: Buffer = randomBytes(16)): string {
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256');
  const hmac = (text: string) => createHmac('sha256', salted).update(text).digest();
  const stored = createHash('sha256').update(hmac('Client Key')).digest('base64');
  const server = hmac('Server Key').toString('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${stored}:${server}`;
}

/** Wrong password, or an unknown user. */
const isRefusedLogin = (error: unknown): boolean => ['28P01', '28000'].includes(sqlState(error) ?? '');

/** Whether the user can log in and act as a role of Parley. */
async function isReady(url: string, role: string): Promise<boolean> {
  try {
    await withClient(url, client => client.query("select set_config('role', $1, true)", [role]));
    return true;
  } catch (error) {
    if (isRefusedLogin(error) || isDenied(error)) return false;
    throw error;
  }
}

/**
 * Creates the user of a URL (`DATABASE_SERVICE_URL`) as a mere member of the two roles, or sets its password and adds
 * what is missing. Changes nothing if the user can already log in and act as both.
 *
 * The user inherits nothing: without a role of Parley, it can read no table. The owner becomes a member of it, to see
 * its open transactions (`oldest_open_write`).
 */
export async function ensureServiceUser(client: Client, url: string, prefix: string): Promise<void> {
  const { username, password } = new URL(url);
  const user = quoted(decodeURIComponent(username));
  const roles = ['parley_app', 'parley_worker'].map(role => roleName(role, prefix));
  const { rows } = await client.query<{ is_self: boolean; exists: boolean; is_seen: boolean }>(
    `select current_user = $1::text as is_self,
       coalesce(pg_has_role(current_user, (select oid from pg_roles where rolname = $1::text), 'usage'), false) as is_seen,
       exists(select from pg_roles where rolname = $1::text) as exists`,
    [decodeURIComponent(username)],
  );
  const [state] = rows;
  if (state?.is_self)
    throw new MissingRights('DATABASE_SERVICE_URL has the same user as DATABASE_URL, which owns the tables.');
  const grants = [`grant ${roles.join(', ')} to ${user}`];
  const login = `login noinherit password '${scramVerifier(decodeURIComponent(password))}'`;
  const isComplete = state?.exists && (await Promise.all(roles.map(role => isReady(url, role)))).every(Boolean);
  const statements = [
    ...(isComplete ? [] : [`${state?.exists ? 'alter' : 'create'} role ${user} ${login}`, ...grants]),
    ...(state?.is_seen ? [] : [`grant ${user} to current_user`]),
  ];
  try {
    for (const statement of statements) await client.query(statement);
  } catch (error) {
    if (!isDenied(error)) throw error;
    throw new MissingRights(
      `The database user may not create or change the user ${user} of DATABASE_SERVICE_URL. Have an administrator run: create role ${user} login noinherit password '…'; ${grants.join('; ')}; grant ${user} to the user of DATABASE_URL; and omit DATABASE_SERVICE_URL.`,
    );
  }
}
