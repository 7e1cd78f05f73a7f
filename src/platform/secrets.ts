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

/** What codes are computed for; each purpose has a key of its own, which outlives `SECRET_KEY`. */
export const MAC_PURPOSES = ['cards', 'cursors', 'csrf', 'recovery-codes'] as const;
export type MacPurpose = (typeof MAC_PURPOSES)[number];

const VERSION = 1;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** `SECRET_KEY`, and the keys of `SECRET_KEY_OTHERS`, which only decrypt; 32 bytes in base64 each. */
export interface SecretKeys {
  current: string;
  others: readonly string[];
}

/** What is encrypted with the secret keys, which themselves never leave this object. */
export interface Seals {
  /** Encrypts text with AES-256-GCM under `SECRET_KEY`, bound to `context`: no row's secret can be moved to another. */
  seal(text: string, context: string): Buffer;
  /** The text that `seal` took. Throws when no key opens it, or the context is another one. */
  unseal(sealed: Buffer, context: string): string;
  /** How many keys there are. */
  keyCount: number;
  /** Which key opens it: 0 for `SECRET_KEY`, 1 for the first other one; -1 for none. */
  keyOf(sealed: Buffer, context: string): number;
  /** The first key of a purpose, made from the secret key of that number (HKDF, RFC 5869). */
  derive(purpose: MacPurpose, keyNumber: number): Buffer;
}

/** All that is done with secret keys: the seals, and codes that need no key to be stored beside them. */
export interface Keychain extends Seals {
  /** An HMAC-SHA256 for a purpose, over parts that can't run into each other. */
  mac(purpose: MacPurpose, ...parts: string[]): Buffer;
}

/** Seals under the current key, opened by any of them: a sealed text does not say its key, AES-GCM tells who fits. */
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

/** The text under a seal; `undefined` when the key or the context is another one, or it is no seal. */
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

/** A keychain of seals and of the keys that outlive them. */
export const createKeychain = (seals: Seals, lastingKey: (purpose: MacPurpose) => KeyObject): Keychain => ({
  ...seals,
  mac: (purpose, ...parts) => createHmac('sha256', lastingKey(purpose)).update(JSON.stringify(parts)).digest(),
});

/** 32 random bytes as base64url text: a secret that no dictionary holds. */
export const randomSecret = (): string => randomBytes(32).toString('base64url');

export const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Equality in a time that does not tell where two values differ. */
export const equalInConstantTime = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b);
