import { readFileSync } from 'node:fs';
import { type DatabaseAddress, type RedisAddress, withLibpqTls, withPassword } from './store-urls.ts';

/** The settings with the addresses and credentials of the stores. */
export interface StoreSettings {
  DATABASE_URL?: string | undefined;
  DATABASE_PASSWORD?: string | undefined;
  DATABASE_DIRECT_URL?: string | undefined;
  DATABASE_SERVICE_URL?: string | undefined;
  DATABASE_API_URL?: string | undefined;
  REDIS_URL?: string | undefined;
  REDIS_PASSWORD?: string | undefined;
  REDIS_SENTINEL_USERNAME?: string | undefined;
  REDIS_SENTINEL_PASSWORD?: string | undefined;
}

/** The settings among them that can be read from files. */
export const STORE_SECRETS = [
  'DATABASE_URL',
  'DATABASE_PASSWORD',
  'DATABASE_DIRECT_URL',
  'DATABASE_SERVICE_URL',
  'DATABASE_API_URL',
  'REDIS_URL',
  'REDIS_PASSWORD',
  'REDIS_SENTINEL_PASSWORD',
] as const;

/** Returns the content of a secret's file. Throws if it cannot be read. */
export const readSecretFile = (file: string): string => readFileSync(file, 'utf8').trim();

/** Returns a changed secret, or the former one while its file is being replaced, or contains no URL. */
function reread(name: (typeof STORE_SECRETS)[number], file: string, former: string | undefined): string | undefined {
  try {
    const value = readSecretFile(file);
    return value !== '' && (!name.endsWith('_URL') || URL.canParse(value)) ? value : former;
  } catch {
    return former;
  }
}

/** Returns the connection URLs of the stores, with passwords. */
export const storeUrls = (settings: StoreSettings) => {
  const { DATABASE_URL, DATABASE_PASSWORD, DATABASE_DIRECT_URL, DATABASE_SERVICE_URL, DATABASE_API_URL } = settings;
  return {
    DATABASE_URL: DATABASE_URL && withLibpqTls(withPassword(DATABASE_URL, DATABASE_PASSWORD)),
    DATABASE_DIRECT_URL: DATABASE_DIRECT_URL && withLibpqTls(withPassword(DATABASE_DIRECT_URL, DATABASE_PASSWORD)),
    DATABASE_SERVICE_URL: DATABASE_SERVICE_URL && withLibpqTls(DATABASE_SERVICE_URL),
    DATABASE_API_URL: DATABASE_API_URL && withLibpqTls(DATABASE_API_URL),
    REDIS_URL: settings.REDIS_URL && withPassword(settings.REDIS_URL, settings.REDIS_PASSWORD),
  };
};

/**
 * Returns the addresses of the configured stores.
 *
 * Secrets that come from files (`environment` has their `NAME_FILE`) are read again for each connection, so that
 * changed credentials are used without a restart.
 */
export function storeAddresses(
  settings: StoreSettings & { DATABASE_ROLE_PREFIX: string },
  environment: NodeJS.ProcessEnv,
): { database: DatabaseAddress | undefined; redis: RedisAddress | undefined } {
  const current: StoreSettings = { ...settings };
  const files = STORE_SECRETS.flatMap(name => {
    const file = environment[`${name}_FILE`];
    return file ? [{ name, file }] : [];
  });
  const read = () => {
    for (const { name, file } of files) current[name] = reread(name, file, current[name]);
    return storeUrls(current);
  };
  const database: DatabaseAddress = {
    readUrl: () => read().DATABASE_URL as string,
    readDirectUrl() {
      const urls = read();
      return urls.DATABASE_DIRECT_URL ?? (urls.DATABASE_URL as string);
    },
    isPooled: settings.DATABASE_DIRECT_URL !== undefined,
    rolePrefix: settings.DATABASE_ROLE_PREFIX,
  };
  const redis: RedisAddress = {
    readUrl: () => read().REDIS_URL as string,
    readSentinelCredentials() {
      read();
      return { username: current.REDIS_SENTINEL_USERNAME, password: current.REDIS_SENTINEL_PASSWORD };
    },
  };
  return {
    database: settings.DATABASE_URL ? database : undefined,
    redis: settings.REDIS_URL ? redis : undefined,
  };
}
