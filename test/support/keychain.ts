import { createSecretKey, randomBytes } from 'node:crypto';
import { createKeychain, createSeals, type Keychain } from '../../src/platform/secrets.ts';

/** A `SECRET_KEY` that was never used before. */
export const newSecretKey = (): string => randomBytes(32).toString('base64');

/** The keychain of an installation that has had one secret key only, without its database. */
export function makeKeychain(current = newSecretKey()): Keychain {
  const seals = createSeals({ current, others: [] });
  return createKeychain(seals, purpose => createSecretKey(seals.derive(purpose, 0)));
}
