import { setTimeout as sleep } from 'node:timers/promises';
import type { IMigrator } from '@mikro-orm/core';
import type { Client } from 'pg';
import type { Log } from '../platform/log.ts';
import { withClient } from '../platform/postgres-client.ts';
import { sqlState } from './errors.ts';
import { NEEDED_SCHEMA } from './migrations/index.ts';
import { openOrm } from './orm.ts';
import { isPooledByTransaction, POOLED_BY_TRANSACTION } from './pooling.ts';

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
export async function awaitDatabase(url: string, log: Log, limitMs: number): Promise<void> {
  const deadline = Date.now() + limitMs;
  for (let logged = false; ; logged = true) {
    try {
      return await withClient(url, async () => undefined);
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

/**
 * Migrates the schema to this build's version. A second migrator waits for the first and then has no work left.
 *
 * Rejects behind a pooler in transaction mode, which would make the lock ineffective.
 */
export async function migrate(url: string, log: Log): Promise<string[]> {
  if (await isPooledByTransaction(url)) throw new Error(`The database cannot be migrated: ${POOLED_BY_TRANSACTION}`);
  return withClient(url, async lock => {
    lock.on('error', error => log.error({ err: error }, 'the connection with the migration lock failed'));
    const orm = await openOrm(url, log);
    try {
      await awaitMigrationLock(lock);
      return await applyPending(orm.migrator, log);
    } finally {
      await orm.close(true);
    }
  });
}

export interface SchemaState {
  version: number;
  oldest_compatible: number;
}

/** Returns the state of the schema; `undefined` before the first migration. */
export const readSchemaState = (url: string): Promise<SchemaState | undefined> =>
  withClient(url, async client => {
    const { rows } = await client.query("select to_regclass('public.schema_state') is not null as exists");
    if (!rows[0].exists) return undefined;
    return (await client.query('select version, oldest_compatible from schema_state order by version desc limit 1'))
      .rows[0];
  });

/** Whether this build is compatible with the schema: neither too old nor too new. */
export const isCompatible = (state: SchemaState | undefined): boolean =>
  state !== undefined && state.version >= NEEDED_SCHEMA && state.oldest_compatible <= NEEDED_SCHEMA;

/** Returns why this build cannot use the database, for the log; `undefined` when it can. */
async function findObstacle(url: string): Promise<[object, string] | undefined> {
  try {
    const state = await readSchemaState(url);
    if (!isCompatible(state))
      return [{ state, needed: NEEDED_SCHEMA }, 'waiting for the migrations: run `parley migrate`'];
    return (await isPooledByTransaction(url)) ? [{}, `waiting: ${POOLED_BY_TRANSACTION}`] : undefined;
  } catch (error) {
    return [{ reason: (error as Error).message }, 'waiting for the database'];
  }
}

/**
 * Resolves when the schema is compatible and row-level security is effective. Waits for a running migration or an
 * unreachable database.
 */
export async function awaitSchema(url: string, log: Log, signal: AbortSignal): Promise<void> {
  for (let loggedAt = 0; !signal.aborted; await sleep(500, undefined, { signal })) {
    const obstacle = await findObstacle(url);
    if (!obstacle) return;
    if (Date.now() - loggedAt < 10_000) continue;
    loggedAt = Date.now();
    log.warn(...obstacle);
  }
}

/** The roles used by processes (`StorageRole`). */
const ROLES = ['parley_app', 'parley_worker'];

/** Returns faults of the connection user's rights, one sentence each. */
export const checkRoles = (url: string, roles: readonly string[] = ROLES): Promise<string[]> =>
  withClient(url, async client => {
    const { rows } = await client.query<{ rolname: string; sees_all: boolean; usable: boolean }>(
      `select rolname, rolsuper or rolbypassrls as sees_all, pg_has_role(current_user, oid, 'member') as usable
       from pg_roles where rolname = any($1) order by rolname`,
      [roles],
    );
    if (rows.length < roles.length) return [`the roles ${roles.join(' and ')} are missing: run \`parley migrate\``];
    return [...rows.flatMap(describeRole), ...(await describeBlindness(client))];
  });

const describeRole = (role: { rolname: string; sees_all: boolean; usable: boolean }): string[] => [
  ...(role.sees_all
    ? [`the role ${role.rolname} bypasses row-level security: alter role ${role.rolname} nosuperuser nobypassrls`]
    : []),
  ...(role.usable
    ? []
    : [`the database user is not a member of ${role.rolname}: grant ${role.rolname} to the user of DATABASE_URL`]),
];

/**
 * `oldest_open_write` runs as its owner, who must see the transactions of all processes. Otherwise `updated_since`
 * skips changes.
 */
async function describeBlindness(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ owner: string }>(
    `select pg_get_userbyid(proowner) as owner from pg_proc where oid = to_regprocedure('oldest_open_write()')
     and not pg_has_role(proowner, 'pg_read_all_stats', 'usage') and not pg_has_role(proowner, session_user, 'usage')`,
  );
  return rows.map(
    ({ owner }) => `the owner of the tables cannot read open transactions: grant pg_read_all_stats to ${owner}`,
  );
}
