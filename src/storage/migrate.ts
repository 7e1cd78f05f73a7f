import { setTimeout as sleep } from 'node:timers/promises';
import type { IMigrator } from '@mikro-orm/core';
import type { Client } from 'pg';
import type { Log } from '../platform/log.ts';
import { withClient, withDirectClient } from '../platform/postgres-client.ts';
import { type DatabaseUrl, rolePrefixOf } from '../platform/store-urls.ts';
import { ensureRoles, isDenied, MissingRights, queryAs, roleName } from './database-roles.ts';
import { sqlState } from './errors.ts';
import { NEEDED_SCHEMA, OLDEST_COMPATIBLE } from './migrations/index.ts';
import { openOrm } from './orm.ts';
import { findPoolerFault } from './pooling.ts';
import { findMissingPrivileges, neededPrivileges } from './privileges.ts';

/** One migrator at a time, on any machine: a PostgreSQL advisory lock that ends with its session. */
const MIGRATION_LOCK = 7_310_274_001;

const LOCK_POLL_MS = 250;
/**
 * Pause between attempts, for other users of the table. After the deadline the migration fails and reports the lock.
 */
const LOCK_PAUSE_MS = 1000;
const LOCK_DEADLINE_MS = 15 * 60_000;

/** A lock time-out (`LOCK_TIMEOUT`), or a deadlock. */
const isLockFault = (error: unknown): boolean => ['55P03', '40P01'].includes(sqlState(error) ?? '');

/** A permanent refusal: wrong password, unknown user or database. */
const isRefusal = (error: unknown): boolean => /^(28|3D)/.test(sqlState(error) ?? '');

/** Resolves when the database accepts connections. Rejects when it refuses them, or is unreachable for `limitMs`. */
export async function awaitDatabase(database: DatabaseUrl, log: Log, limitMs: number): Promise<void> {
  const deadline = Date.now() + limitMs;
  for (let logged = false; ; logged = true) {
    try {
      return await withDirectClient(database, async () => undefined);
    } catch (error) {
      if (Date.now() > deadline || isRefusal(error)) throw error;
      if (!logged) log.warn({ reason: (error as Error).message }, 'waiting for the database');
    }
    await sleep(500);
  }
}

/** Polls, because a session waiting inside PostgreSQL would block `create index concurrently` indefinitely. */
async function awaitMigrationLock(lock: Client): Promise<void> {
  const take = async () =>
    (await lock.query('select pg_try_advisory_lock($1) as taken', [MIGRATION_LOCK])).rows[0].taken;
  while (!(await take())) await sleep(LOCK_POLL_MS);
}

/** Applies pending migrations one by one and returns their names. A migration that fails on a lock is repeated. */
async function applyPending(migrator: IMigrator, log: Log): Promise<string[]> {
  const pending = await migrator.getPending();
  const deadline = Date.now() + LOCK_DEADLINE_MS;
  for (;;) {
    try {
      await migrator.up();
      return pending.map(({ name }) => name);
    } catch (error) {
      if (!isLockFault(error) || Date.now() > deadline) throw error;
      log.warn({ reason: (error as Error).message }, 'migration could not get a lock; rolled back, will retry');
    }
    await sleep(LOCK_PAUSE_MS);
  }
}

const RECORD_VERSION = 'insert into schema_state (version, oldest_compatible) values ($1, $2) on conflict do nothing';

/**
 * Migrates the schema to this build's version. A second migrator waits for the first and then has no work left.
 *
 * Rejects behind a pooler in transaction mode, which would make the lock ineffective. Throws `MissingRights` if the roles
 * lack a privilege afterwards, such as one that an administrator has revoked.
 */
export async function migrate(database: DatabaseUrl, log: Log): Promise<string[]> {
  const fault = await findPoolerFault(database);
  if (fault) throw new Error(`The database cannot be migrated: ${fault.detail}: ${fault.remedy}`);
  return withDirectClient(database, async lock => {
    lock.on('error', error => log.error({ err: error }, 'the connection with the migration lock failed'));
    await ensureRoles(lock, rolePrefixOf(database));
    const orm = await openOrm(database, log);
    try {
      await awaitMigrationLock(lock);
      const applied = await applyPending(orm.migrator, log);
      await lock.query(RECORD_VERSION, [NEEDED_SCHEMA, OLDEST_COMPATIBLE]);
      await refuseMissingPrivileges(lock, rolePrefixOf(database));
      return applied;
    } finally {
      await orm.close(true);
    }
  });
}

async function refuseMissingPrivileges(client: Client, prefix: string): Promise<void> {
  const missing = await findMissingPrivileges(client, neededPrivileges(prefix));
  if (missing.length > 0)
    throw new MissingRights(
      `The schema is migrated, but the roles of Parley lack privileges. Run as the owner of the tables: ${missing.join('; ')};`,
    );
}

export interface SchemaState {
  version: number;
  oldest_compatible: number;
}

/** Looks up the table's oid in the catalogue: `to_regclass` fails for a user without USAGE of the schema. */
const IS_READABLE = `
select has_schema_privilege(relnamespace, 'usage') and has_table_privilege(oid, 'select') as readable from pg_class
where relname = 'schema_state' and relnamespace = to_regnamespace('public')`;
const READ_STATE = 'select version, oldest_compatible from public.schema_state order by version desc limit 1';

/** Returns the state of the schema; `undefined` before the first migration. */
export const readSchemaState = (database: DatabaseUrl): Promise<SchemaState | undefined> =>
  withClient(database, async client => {
    const { rows } = await client.query<{ readable: boolean }>(IS_READABLE);
    if (!rows[0]) return undefined;
    if (rows[0].readable) return (await client.query<SchemaState>(READ_STATE)).rows[0];
    return (await queryAs<SchemaState>(client, roleName('parley_app', rolePrefixOf(database)), READ_STATE))[0];
  });

/** Whether this build is compatible with the schema: neither too old nor too new. */
export const isCompatible = (state: SchemaState | undefined): boolean =>
  state !== undefined && state.version >= NEEDED_SCHEMA && state.oldest_compatible <= NEEDED_SCHEMA;

const LACKS_PRIVILEGE = 'waiting for a privilege in the database: `parley doctor` names the missing GRANT';

/** Returns why this build cannot use the database, for the log; `undefined` when it can. */
async function findObstacle(database: DatabaseUrl): Promise<[object, string] | undefined> {
  try {
    const state = await readSchemaState(database);
    if (!isCompatible(state))
      return [{ state, needed: NEEDED_SCHEMA }, 'waiting for the migrations: run `parley migrate`'];
    const fault = await findPoolerFault(database);
    return fault && [{}, `waiting: ${fault.detail}: ${fault.remedy}`];
  } catch (error) {
    const reason = (error as Error).message;
    return [{ reason }, isDenied(error) ? LACKS_PRIVILEGE : 'waiting for the database'];
  }
}

/**
 * Resolves when the schema is compatible and row-level security is effective. Waits for a running migration or an
 * unreachable database.
 */
export async function awaitSchema(database: DatabaseUrl, log: Log, signal: AbortSignal): Promise<void> {
  for (let loggedAt = 0; !signal.aborted; await sleep(500, undefined, { signal })) {
    const obstacle = await findObstacle(database);
    if (!obstacle) return;
    if (Date.now() - loggedAt < 10_000) continue;
    loggedAt = Date.now();
    log.warn(...obstacle);
  }
}
