import type { Config } from './config.ts';
import { loadOrCreateSecretKey, openEmbeddedPostgres } from './embedded-postgres.ts';
import type { Log } from './log.ts';
import type { SecretKeys } from './secrets.ts';
import type { DatabaseUrl } from './store-urls.ts';

/** A database, with the keys that decrypt its secrets. */
export interface Database {
  url: DatabaseUrl;
  secretKeys: SecretKeys;
  /** Whether it is the embedded one, under `DATA_DIR`. */
  embedded: boolean;
  /** Stops the embedded database if this process has started it. */
  stop(): Promise<void>;
}

/**
 * Returns the database of `DATABASE_URL`, or the embedded one. With `share`, uses an embedded one run by another
 * process.
 */
export async function openDatabase(config: Config, share: boolean, log: Log): Promise<Database> {
  const others = config.SECRET_KEY_OTHERS ?? [];
  if (config.database && config.SECRET_KEY) {
    const secretKeys = { current: config.SECRET_KEY, others };
    return { url: config.database, secretKeys, embedded: false, stop: async () => undefined };
  }
  const { url, stop } = await openEmbeddedPostgres(config.DATA_DIR, share, log);
  const current = config.SECRET_KEY ?? loadOrCreateSecretKey(config.DATA_DIR);
  return { url, secretKeys: { current, others }, embedded: true, stop };
}
