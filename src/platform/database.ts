import type { Config } from './config.ts';
import { loadOrCreateSecretKey, openEmbeddedPostgres } from './embedded-postgres.ts';
import type { Log } from './log.ts';

/** A database to connect to, and the key that decrypts its secrets. */
export interface Database {
  url: string;
  secretKey: string;
  /** Whether it is Parley's own, under `DATA_DIR`. */
  embedded: boolean;
  /** Ends it, where it is Parley's own and this process started it. */
  stop(): Promise<void>;
}

/** The database of `DATABASE_URL`, or the embedded one. With `share` one that another process runs is used as it is. */
export async function openDatabase(config: Config, share: boolean, log: Log): Promise<Database> {
  if (config.DATABASE_URL && config.SECRET_KEY)
    return { url: config.DATABASE_URL, secretKey: config.SECRET_KEY, embedded: false, stop: async () => undefined };
  const { url, stop } = await openEmbeddedPostgres(config.DATA_DIR, share, log);
  return { url, secretKey: config.SECRET_KEY ?? loadOrCreateSecretKey(config.DATA_DIR), embedded: true, stop };
}
