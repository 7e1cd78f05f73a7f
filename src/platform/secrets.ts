import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

/** The purposes of message authentication codes. Each has a separate key, which outlives `SECRET_KEY`. */
export const MAC_PURPOSES = ['cards', 'cursors', 'csrf', 'recovery-codes', 'test-tokens'] as const;
export type MacPurpose = (typeof MAC_PURPOSES)[number];

const VERSION = 1;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** `SECRET_KEY`, and the decrypt-only keys of `SECRET_KEY_OTHERS`; each 32 bytes in base64. */
export interface SecretKeys {
  current: string;
  others: readonly string[];
}

/** Encryption with the secret keys, which never leave this object. */
export interface Seals {
  /**
   * Encrypts text with AES-256-GCM under `SECRET_KEY`. The ciphertext is bound to `context`, so that it cannot be moved
   * to another row.
   */
  seal(text: string, context: string): Buffer;
  /** Decrypts a sealed text. Throws when no key matches, or the context differs. */
  unseal(sealed: Buffer, context: string): string;
  /** The number of keys. */
  keyCount: number;
  /** Returns which key decrypts it: 0 for `SECRET_KEY`, 1 for the first other one; -1 if none does. */
  keyOf(sealed: Buffer, context: string): number;
  /** Derives the first key of a purpose from secret key number `keyNumber` (HKDF, RFC 5869). */
  derive(purpose: MacPurpose, keyNumber: number): Buffer;
}

/** All operations with secret keys: encryption, and message authentication codes. */
export interface Keychain extends Seals {
  /** Computes an HMAC-SHA256 for a purpose over unambiguously separated parts. */
  mac(purpose: MacPurpose, ...parts: string[]): Buffer;
}

/**
 * Creates seals: encrypts under the current key, decrypts with any. The ciphertext has no key id; AES-GCM's tag shows
 * which key matches.
 */
export function createSeals({ current, others }: SecretKeys): Seals {
  const masters = [current, ...others].map(key => Buffer.from(key, 'base64'));
  const derive = (master: Buffer, purpose: 'encryption' | MacPurpose) =>
    Buffer.from(hkdfSync('sha256', master, '', `parley:${purpose}`, 32));
  const keys = masters.map(master => createSecretKey(derive(master, 'encryption')));
  const keyOf = (sealed: Buffer, context: string) => keys.findIndex(key => open(key, sealed, context) !== undefined);
  return {
    seal(text, context) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', keys[0] as KeyObject, iv).setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.of(VERSION), iv, cipher.getAuthTag(), body]);
    },
    unseal(sealed, context) {
      for (const key of keys) {
        const text = open(key, sealed, context);
        if (text !== undefined) return text;
      }
      throw new Error('no secret key decrypts this value');
    },
    keyCount: keys.length,
    keyOf,
    derive: (purpose, keyNumber) => derive(masters[keyNumber] as Buffer, purpose),
  };
}

/** Decrypts a sealed text; `undefined` when key or context differ, or the format is invalid. */
function open(key: KeyObject, sealed: Buffer, context: string): string | undefined {
  const iv = sealed.subarray(1, 1 + IV_BYTES);
  const tag = sealed.subarray(1 + IV_BYTES, 1 + IV_BYTES + TAG_BYTES);
  if (sealed[0] !== VERSION || tag.length !== TAG_BYTES) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(context)).setAuthTag(tag);
  try {
    return decipher.update(sealed.subarray(1 + IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    return undefined;
  }
}

/** Creates a keychain from seals and derived keys. */
export const createKeychain = (seals: Seals, derivedKey: (purpose: MacPurpose) => KeyObject): Keychain => ({
  ...seals,
  mac: (purpose, ...parts) => createHmac('sha256', derivedKey(purpose)).update(JSON.stringify(parts)).digest(),
});

/** Returns a secret of 32 random bytes as base64url text. */
export const randomSecret = (): string => randomSecretBytes().toString('base64url');

/** Returns 32 random bytes. */
export const randomSecretBytes = (): Buffer => randomBytes(32);

export const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares two values in constant time. */
export const equalInConstantTime = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b);
