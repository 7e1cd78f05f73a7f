import { type Config, ConfigError, loadConfig } from '../platform/config.ts';
import { type Database, openDatabase } from '../platform/database.ts';
import type { Log } from '../platform/log.ts';
import { isDenied } from '../storage/database/database-roles.ts';
import { type Check, ill, reasonOf, well } from './doctor-check.ts';
import { examineDatabase } from './doctor-database.ts';
import { examineIdentityProvider } from './doctor-identity-provider.ts';
import { examineQueue } from './doctor-queue.ts';
import { examineSurroundings } from './doctor-surroundings.ts';

export interface Diagnosis {
  ok: boolean;
  checks: Check[];
}

/** An additional check, run while an embedded database is available. */
export type Look = (config: Config, database: Database) => Promise<void>;

/**
 * Checks the configuration, the database, the queue, the mail server, the address and the identity provider. Returns each fault with its
 * remedy.
 */
export async function diagnose(
  environment: NodeJS.ProcessEnv,
  log: Log,
  look: Look = async () => undefined,
): Promise<Diagnosis> {
  let config: Config;
  try {
    config = loadConfig(environment);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const checks = error.faults.map(fault => ill('configuration', fault, 'config/env.example lists all settings.'));
    return { ok: false, checks };
  }
  const settings = well('configuration', 'all settings are valid');
  if (config.misspelt.length > 0) settings.hint = config.misspelt.join('\n');
  const checks = [
    settings,
    ...(await examine(config, log, look)),
    ...(await examineSurroundings(config)),
    ...(await examineIdentityProvider(config)),
  ];
  return { ok: checks.every(check => check.ok), checks };
}

async function examine(config: Config, log: Log, look: Look): Promise<Check[]> {
  try {
    const database = await openDatabase(config, true, log);
    try {
      await look(config, database);
      const onDatabase = await examineDatabase(database, config, log);
      const reached = onDatabase[0]?.ok;
      return [...onDatabase, ...(reached || config.REDIS_URL ? await examineQueue(config, database.url) : [])];
    } finally {
      await database.stop();
    }
  } catch (error) {
    return [ill('database', reasonOf(error), mendDatabase(config, error))];
  }
}

const mendDatabase = ({ database }: Config, error: unknown): string => {
  if (!database) return 'Set DATABASE_URL, or repair the embedded PostgreSQL under DATA_DIR.';
  return isDenied(error)
    ? 'Grant the privilege to the user of DATABASE_URL, or use the user of `parley migrate`.'
    : 'Check DATABASE_URL and the log of PostgreSQL.';
};
