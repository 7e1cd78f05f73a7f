import { HOUR_MS } from '../domain/durations.ts';
import { linkTo } from '../domain/links.ts';
import { SETUP_LINK_HOURS } from '../domain/team/accounts.ts';
import type { Config } from '../platform/config.ts';
import { randomSecret, sha256 } from '../platform/secrets.ts';
import type { Storage } from '../storage/database/orm.ts';
import { hasOwner, insertLink } from '../storage/team/accounts.ts';
import type { CommandContext } from './command.ts';
import { UsageError } from './usage-error.ts';

/** Creates the setup link, valid for a day, and invalidates earlier ones. `undefined` once a tenant has an owner. */
export async function makeSetupLink(storage: Storage, { BASE_URL }: Config, now: Date): Promise<string | undefined> {
  if (await hasOwner(storage)) return undefined;
  const token = randomSecret();
  const expires_at = new Date(now.getTime() + SETUP_LINK_HOURS * HOUR_MS);
  await insertLink(storage, { purpose: 'setup', token_hash: sha256(token), email: null, expires_at });
  return linkTo(BASE_URL, 'setup', token);
}

/** `setup create`: prints the setup link, for installations without the welcome message of `start`. */
export async function createSetup({ storage, config, now }: CommandContext) {
  const link = await makeSetupLink(storage, config, now);
  if (link === undefined) throw new UsageError('an owner already exists: log in, or use `password-reset create`');
  return { link };
}
