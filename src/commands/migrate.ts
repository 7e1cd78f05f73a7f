import type { Config } from '../platform/config.ts';
import type { Log } from '../platform/log.ts';
import { migrateQueue } from '../queue/connection.ts';
import { migrate } from '../storage/migrate.ts';

/** Brings the schema and, where PostgreSQL carries the queue, the queue's tables up to this build. */
export async function migrateAll(databaseUrl: string, config: Config, log: Log): Promise<{ applied: string[] }> {
  await migrateQueue({ databaseUrl, redisUrl: config.REDIS_URL }); // first: who waits for the schema needs the queue too
  const applied = await migrate(databaseUrl, log);
  if (applied.length > 0) log.info({ applied }, 'the schema was brought up to date');
  return { applied };
}
