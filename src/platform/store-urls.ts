/** How a process reaches PostgreSQL. */
export interface DatabaseAddress {
  /** Returns the URL for the next connection. Its credentials may have changed since the last one. */
  readUrl(): string;
  /**
   * Returns the URL past a pooler in transaction mode (`DATABASE_DIRECT_URL`), for everything that needs a session of
   * its own: migrations, LISTEN, and a queue in PostgreSQL. Without a pooler, the same as `readUrl`.
   */
  readDirectUrl(): string;
  /** Whether `readUrl` leads to a pooler in transaction mode, so that no setting may outlast a transaction. */
  isPooled: boolean;
  /** The prefix of the two roles (`DATABASE_ROLE_PREFIX`). */
  rolePrefix: string;
}

/** PostgreSQL as most code receives it: by its address, or by a URL that is fixed and direct. */
export type DatabaseUrl = string | DatabaseAddress;

/** The role prefix unless `DATABASE_ROLE_PREFIX` is set. */
export const DEFAULT_ROLE_PREFIX = 'parley';

/** Returns the URL for the next connection, which may lead to a pooler. */
export const urlOf = (database: DatabaseUrl): string => (typeof database === 'string' ? database : database.readUrl());

/** Returns the URL for a connection with a session of its own. */
export const directUrlOf = (database: DatabaseUrl): string =>
  typeof database === 'string' ? database : database.readDirectUrl();

/** Whether connections share their sessions with those of other clients. */
export const isPooled = (database: DatabaseUrl): boolean => typeof database !== 'string' && database.isPooled;

/** Returns the prefix of the two roles. */
export const rolePrefixOf = (database: DatabaseUrl): string =>
  typeof database === 'string' ? DEFAULT_ROLE_PREFIX : database.rolePrefix;

/** How a process reaches Valkey or Redis. */
export interface RedisAddress {
  /** Returns the URL for the next connection. Its credentials may have changed since the last one. */
  readUrl(): string;
  /** Returns the credentials of the Sentinels (`REDIS_SENTINEL_…`), which are other servers than the store. */
  readSentinelCredentials(): { username: string | undefined; password: string | undefined };
}

/** Valkey or Redis as most code receives it: by its address, or by a fixed URL. */
export type RedisUrl = string | RedisAddress;

/** Returns a store's URL with the separately configured password, unchanged without one. */
export function withPassword(url: string, password: string | undefined): string {
  if (password === undefined) return url;
  const changed = new URL(url);
  changed.password = encodeURIComponent(password);
  return changed.href;
}

/**
 * Returns a PostgreSQL URL with libpq's meaning of `sslmode`.
 *
 * node-postgres treats `require` as `verify-full`, and warns that this will change.
 */
export function withLibpqTls(url: string): string {
  const { searchParams } = new URL(url);
  return searchParams.has('sslmode') && !searchParams.has('uselibpqcompat') ? `${url}&uselibpqcompat=true` : url;
}
