import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import type { Client } from 'pg';
import { withClient } from '../../platform/postgres-client.ts';
import { isDenied, MissingRights, quoted, roleName } from './database-roles.ts';
import { sqlState } from './errors.ts';
import type { StorageRole } from './settings.ts';

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
async function canActAs(url: string, role: string): Promise<boolean> {
  try {
    await withClient(url, client => client.query("select set_config('role', $1, true)", [role]));
    return true;
  } catch (error) {
    if (isRefusedLogin(error) || isDenied(error)) return false;
    throw error;
  }
}

/** The settings for `migrate` with the users of API and worker, and the roles of each. */
const USERS = {
  DATABASE_SERVICE_URL: ['parley_app', 'parley_worker'],
  DATABASE_API_URL: ['parley_app'],
} as const satisfies Record<string, readonly StorageRole[]>;

type UserSetting = keyof typeof USERS;
type UserUrls = Partial<Record<UserSetting, string | undefined>>;

const SETTINGS = Object.keys(USERS) as UserSetting[];
const ALL_ROLES = USERS.DATABASE_SERVICE_URL;

const userOf = (url: string): string => decodeURIComponent(new URL(url).username);

/** Returns the setting whose user another one has, which has more rights. */
function findSharedUser(urls: UserUrls, owner: string): string | undefined {
  const users = new Map([[owner, 'DATABASE_URL, which owns the tables']]);
  for (const setting of SETTINGS) {
    const url = urls[setting];
    if (!url) continue;
    const other = users.get(userOf(url));
    if (other) return `${setting} has the same user as ${other}.`;
    users.set(userOf(url), `${setting}, which may act as the worker`);
  }
  return undefined;
}

/**
 * Creates the users of `DATABASE_SERVICE_URL` and `DATABASE_API_URL`, as far as these are set, as mere members of their
 * roles, or sets their passwords and corrects their memberships. Changes nothing if a user is already as it should be.
 *
 * The users inherit nothing: without a role of Parley, they can read no table. The owner becomes a member of them, to
 * see their open transactions (`oldest_open_write`).
 */
export async function ensureServiceUsers(client: Client, urls: UserUrls, prefix: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>('select current_user::text as name');
  const shared = findSharedUser(urls, rows[0]?.name ?? '');
  if (shared) throw new MissingRights(shared);
  for (const setting of SETTINGS) {
    const url = urls[setting];
    if (url) await ensureUser(client, setting, url, prefix);
  }
}

interface UserState {
  exists: boolean;
  /** Whether the owner sees its transactions. */
  is_seen: boolean;
  /** Whether it may connect to the database. */
  may_connect: boolean;
  /** Roles of Parley of which it is a direct member. */
  member_of: string[];
}

async function readState(client: Client, user: string, prefix: string): Promise<UserState> {
  const { rows } = await client.query<UserState>(
    `select exists(select from pg_roles where rolname = $1::text) as exists,
       coalesce(pg_has_role(current_user, (select oid from pg_roles where rolname = $1::text), 'usage'), false) as is_seen,
       array(select granted.rolname::text from pg_auth_members join pg_roles as granted on granted.oid = roleid
         join pg_roles as member on member.oid = pg_auth_members.member
         where member.rolname = $1::text and granted.rolname = any($2)) as member_of,
       has_database_privilege(coalesce((select rolname from pg_roles where rolname = $1::text), 'public'), current_database(),
         'connect') as may_connect`,
    [user, ALL_ROLES.map(role => roleName(role, prefix))],
  );
  return rows[0] as UserState;
}

async function ensureUser(client: Client, setting: UserSetting, url: string, prefix: string): Promise<void> {
  const user = quoted(userOf(url));
  const roles = USERS[setting].map(role => roleName(role, prefix));
  const { exists, is_seen, may_connect, member_of } = await readState(client, userOf(url), prefix);
  const excess = member_of.filter(role => !roles.includes(role));
  const isComplete = exists && (await Promise.all(roles.map(role => canActAs(url, role)))).every(Boolean);
  const login = `login noinherit password '${scramVerifier(decodeURIComponent(new URL(url).password))}'`;
  const grant = `grant ${roles.join(', ')} to ${user}`;
  const connect = `grant connect on database ${quoted(client.database ?? '')} to ${user}`;
  const statements = [
    ...(isComplete ? [] : [`${exists ? 'alter' : 'create'} role ${user} ${login}`, grant]),
    ...(may_connect ? [] : [connect]),
    ...excess.map(role => `revoke ${role} from ${user}`),
    ...(is_seen ? [] : [`grant ${user} to current_user`]),
  ];
  try {
    for (const statement of statements) await client.query(statement);
  } catch (error) {
    if (!isDenied(error)) throw error;
    const wanted = [
      `create role ${user} login noinherit password '…'`,
      grant,
      ...(may_connect ? [] : [connect]),
      `grant ${user} to the user of DATABASE_URL`,
    ];
    throw new MissingRights(
      `The database user may not create or change the user ${user} of ${setting}. Have an administrator run: ${wanted.join('; ')}; and omit ${setting}.`,
    );
  }
}
