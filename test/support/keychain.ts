import { createSecretKey, randomBytes } from 'node:crypto';
import { createKeychain, createSeals, type Keychain } from '../../src/platform/secrets.ts';

/** A new random `SECRET_KEY`. */
export const newSecretKey = (): string => randomBytes(32).toString('base64');

/** The keychain of an installation with a single secret key, without its database. */
export function makeKeychain(current = newSecretKey()): Keychain {
  const seals = createSeals({ current, others: [] });
  return createKeychain(seals, purpose => createSecretKey(seals.derive(purpose, 0)));
}
