import type { Config } from '../platform/config.ts';
import { openDatabase } from '../platform/database.ts';
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
