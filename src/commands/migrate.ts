import type { Config } from '../platform/config.ts';
import { openDatabase } from '../platform/database.ts';
import type { Log } from '../platform/log.ts';
import { withDirectClient } from '../platform/postgres-client.ts';
import { type DatabaseUrl, rolePrefixOf } from '../platform/store-urls.ts';
import { migrateQueue } from '../queue/connection.ts';
import { ensureRoles, isDenied, MissingRights } from '../storage/database/database-roles.ts';
import { awaitDatabase, findEarlierBuild, migrate, readSchemaState } from '../storage/database/migrate.ts';
import { ensureServiceUsers } from '../storage/database/service-user.ts';
import { UsageError } from './usage-error.ts';

/** How long to wait for a database that does not respond yet. */
const DATABASE_TIMEOUT_MS = 60_000;

/**
 * Migrates the schema and, where PostgreSQL stores the queue, the queue's tables. Creates the roles, and the users of
 * `DATABASE_SERVICE_URL` and `DATABASE_API_URL`, as far as they are missing.
 *
 * Throws `UsageError` where the database user lacks a right.
 */
export async function migrateAll(databaseUrl: DatabaseUrl, config: Config, log: Log): Promise<{ applied: string[] }> {
  if (config.DATABASE_API_URL && !config.REDIS_URL)
    throw new UsageError(
      'DATABASE_API_URL requires REDIS_URL: with the queue in PostgreSQL, the API needs the rights of the worker to add answers.',
    );
  try {
    return await migrateWithRoles(databaseUrl, config, log);
  } catch (error) {
    if (error instanceof MissingRights) throw new UsageError(error.message);
    if (!isDenied(error)) throw error;
    throw new UsageError(
      `The database user may not migrate the database: ${(error as Error).message}. It must own the database, or have CREATE on it and on its schema public.`,
    );
  }
}

async function migrateWithRoles(databaseUrl: DatabaseUrl, config: Config, log: Log): Promise<{ applied: string[] }> {
  const refusal = findEarlierBuild(await readSchemaState(databaseUrl)); // first: nothing is changed then
  if (refusal) throw new UsageError(refusal);
  const prefix = rolePrefixOf(databaseUrl);
  const unusable = await withDirectClient(databaseUrl, client => ensureRoles(client, prefix));
  if (unusable.length > 0)
    log.warn({ roles: unusable }, 'the database user cannot assume these roles: use another user for API and worker');
  await migrateQueue({ databaseUrl, redisUrl: config.redis }); // first: processes that wait for the schema need the queue too
  const applied = await migrate(databaseUrl, log);
  if (applied.length > 0) log.info({ applied }, 'schema migrated');
  await withDirectClient(databaseUrl, client => ensureServiceUsers(client, config, prefix));
  return { applied };
}

/** `migrate`: migrates the configured database. Waits for one that is started at the same time. */
export async function migrateDatabase(config: Config, log: Log): Promise<{ applied: string[] }> {
  const database = await openDatabase(config, true, log);
  try {
    await awaitDatabase(database.url, log, DATABASE_TIMEOUT_MS);
    return await migrateAll(database.url, config, log);
  } finally {
    await database.stop();
  }
}
