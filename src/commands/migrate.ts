import type { Config } from '../platform/config.ts';
import type { Log } from '../platform/log.ts';
import { migrateQueue } from '../queue/connection.ts';
import { awaitDatabase, migrate } from '../storage/migrate.ts';

/** How long to wait for a database that does not respond yet. */
const DATABASE_TIMEOUT_MS = 60_000;

/** Migrates the schema and, where PostgreSQL stores the queue, the queue's tables. */
export async function migrateAll(databaseUrl: string, config: Config, log: Log): Promise<{ applied: string[] }> {
  await migrateQueue({ databaseUrl, redisUrl: config.REDIS_URL }); // first: processes that wait for the schema need the queue too
  const applied = await migrate(databaseUrl, log);
  if (applied.length > 0) log.info({ applied }, 'schema migrated');
  return { applied };
}

/** Like `migrateAll`, but waits for a database that is started at the same time. */
export async function migrateWhenReached(
  databaseUrl: string,
  config: Config,
  log: Log,
): Promise<{ applied: string[] }> {
  await awaitDatabase(databaseUrl, log, DATABASE_TIMEOUT_MS);
  return migrateAll(databaseUrl, config, log);
}
