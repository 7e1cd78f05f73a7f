import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeSecretFile } from '../platform/embedded-postgres.ts';
import { MissingRights } from '../storage/database/database-roles.ts';
import { renewSealed } from '../storage/database/sealed.ts';
import type { CommandContext } from './command.ts';
import { UsageError } from './usage-error.ts';

const random = (encoding: 'base64' | 'hex'): string => randomBytes(32).toString(encoding);

/** Whether a folder exists and has any entry. */
const hasEntries = (folder: string): boolean => existsSync(folder) && readdirSync(folder).length > 0;

/**
 * `secrets create --dir D`: creates the missing secrets of a Compose installation, one file each. Existing ones are
 * kept, so a second run changes no file.
 *
 * Throws `UsageError` if the secret key is missing although `databaseFolder` contains a database, which only the lost
 * key decrypts.
 */
export function createSecrets(folder: string, databaseFolder?: string) {
  mkdirSync(folder, { recursive: true });
  if (databaseFolder && !existsSync(join(folder, 'secret_key')) && hasEntries(databaseFolder))
    throw new UsageError(
      `${folder} contains no secret key, but there is a database that was set up with one: a new key cannot decrypt it. Restore the volume "secrets" from a backup (docs/backup.md), or delete the volumes of the database and the queue too.`,
    );
  const created: string[] = [];
  const ensure = (name: string, make: () => string): string => {
    const file = join(folder, name);
    if (!existsSync(file)) {
      writeSecretFile(file, make(), 0o444); // the volume limits access: each service runs as a different user
      created.push(name);
    }
    return readFileSync(file, 'utf8');
  };
  ensure('secret_key', () => random('base64'));
  ensure('secret_key_others', () => ''); // for key rotation
  const postgres = ensure('postgres_password', () => random('hex'));
  const valkey = ensure('valkey_password', () => random('hex'));
  ensure('database_url', () => `postgresql://parley:${postgres}@postgres:5432/parley`);
  // API and worker do not log in as the owner of the tables. `migrate` creates their user.
  ensure('service_url', () => `postgresql://parley_service:${random('hex')}@postgres:5432/parley`);
  // Used where the API has a user of its own, without the rights of the worker.
  ensure('api_url', () => `postgresql://parley_api:${random('hex')}@postgres:5432/parley`);
  ensure('valkey.conf', () => `requirepass ${valkey}\n`); // a file, because arguments show in the process list
  ensure('redis_url', () => `redis://:${valkey}@valkey:6379`);
  return { dir: folder, created };
}

/**
 * `secrets rotate`: re-encrypts all secrets stored under a key of `SECRET_KEY_OTHERS`, while everything else runs.
 *
 * It can be killed and repeated at any time: each secret is updated separately.
 */
export const rotateSecrets = ({ databaseUrl, seals }: CommandContext) =>
  renewSealed(databaseUrl, seals).catch((error: unknown) => {
    throw error instanceof MissingRights ? new UsageError(error.message) : error;
  });
