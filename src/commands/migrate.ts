import type { Config } from '../platform/config.ts';
import type { Log } from '../platform/log.ts';
import { migrateQueue } from '../queue/connection.ts';
import { awaitDatabase, migrate } from '../storage/migrate.ts';

/** For how long a database that does not answer yet is waited for. */
const DATABASE_WITHIN_MS = 60_000;

/** Brings the schema and, where PostgreSQL carries the queue, the queue's tables up to this build. */
export async function migrateAll(databaseUrl: string, config: Config, log: Log): Promise<{ applied: string[] }> {
  await migrateQueue({ databaseUrl, redisUrl: config.REDIS_URL }); // first: who waits for the schema needs the queue too
  const applied = await migrate(databaseUrl, log);
  if (applied.length > 0) log.info({ applied }, 'schema migrated');
  return { applied };
}

/** The same, for a migration that is started beside its database: one that does not answer yet is waited for. */
export async function migrateWhenReached(
  databaseUrl: string,
  config: Config,
  log: Log,
): Promise<{ applied: string[] }> {
  await awaitDatabase(databaseUrl, log, DATABASE_WITHIN_MS);
  return migrateAll(databaseUrl, config, log);
}
