import { setTimeout as sleep } from 'node:timers/promises';
import type { IMigrator } from '@mikro-orm/core';
import type { Client } from 'pg';
import type { Log } from '../../platform/log.ts';
import { withClient, withDirectClient } from '../../platform/postgres-client.ts';
import { type DatabaseUrl, rolePrefixOf } from '../../platform/store-urls.ts';
import { BASELINE_SCHEMA, NEEDED_SCHEMA, OLDEST_COMPATIBLE } from '../migrations/index.ts';
import { ensureRoles, isDenied, MissingRights, queryAs, roleName } from './database-roles.ts';
import { sqlState } from './errors.ts';
import { applyFunctions } from './functions.ts';
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

/** Runs work that rolls back if it fails on a lock, and is then repeated. */
async function retryLocks<T>(log: Log, work: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + LOCK_DEADLINE_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isLockFault(error) || Date.now() > deadline) throw error;
      log.warn({ reason: (error as Error).message }, 'migration could not get a lock; rolled back, will retry');
    }
    await sleep(LOCK_PAUSE_MS);
  }
}

/** Applies pending migrations one by one and returns their names. */
async function applyPending(migrator: IMigrator, log: Log): Promise<string[]> {
  const pending = await migrator.getPending();
  await retryLocks(log, () => migrator.up());
  return pending.map(({ name }) => name);
}

const IS_NEWER = 'select exists (select from schema_state where version > $1) as newer';
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
      const { newer } = (await lock.query<{ newer: boolean }>(IS_NEWER, [NEEDED_SCHEMA])).rows[0] ?? {};
      if (!newer) {
        const functions = await retryLocks(log, () => applyFunctions(orm, rolePrefixOf(database)));
        if (functions.length > 0) log.info({ functions }, 'functions of the database replaced');
      }
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

const OF_EARLIER_BUILD =
  'The database was made by a build from before the first release, which this build cannot upgrade: use an empty database.';

/** Returns why the database can never be migrated to this build; undefined if it can. */
export const findEarlierBuild = (state: SchemaState | undefined): string | undefined =>
  state && state.version < BASELINE_SCHEMA ? OF_EARLIER_BUILD : undefined;

const LACKS_PRIVILEGE = 'waiting for a privilege in the database: `parley doctor` names the missing GRANT';

/** Why this build cannot use the database, for the log. `lasting` if no migration changes that. */
interface Obstacle {
  details: object;
  message: string;
  lasting?: boolean;
}

async function findObstacle(database: DatabaseUrl): Promise<Obstacle | undefined> {
  try {
    const state = await readSchemaState(database);
    const details = { state, needed: NEEDED_SCHEMA };
    const refusal = findEarlierBuild(state);
    if (refusal) return { details, message: refusal, lasting: true };
    if (!isCompatible(state)) return { details, message: 'waiting for the migrations: run `parley migrate`' };
    const fault = await findPoolerFault(database);
    return fault && { details: {}, message: `waiting: ${fault.detail}: ${fault.remedy}` };
  } catch (error) {
    const reason = (error as Error).message;
    return { details: { reason }, message: isDenied(error) ? LACKS_PRIVILEGE : 'waiting for the database' };
  }
}

/**
 * Resolves when the schema is compatible and row-level security is effective. Waits for a running migration or an
 * unreachable database. `report` receives the reason for `/readyz` while the database is one that no migration makes usable.
 */
export async function awaitSchema(
  database: DatabaseUrl,
  log: Log,
  signal: AbortSignal,
  report: (reason: string | undefined) => void,
): Promise<void> {
  for (let loggedAt = 0; !signal.aborted; await sleep(500, undefined, { signal })) {
    const obstacle = await findObstacle(database);
    report(obstacle?.lasting ? `database: ${obstacle.message}` : undefined);
    if (!obstacle) return;
    if (Date.now() - loggedAt < 10_000) continue;
    loggedAt = Date.now();
    log.warn(obstacle.details, obstacle.message);
  }
}
