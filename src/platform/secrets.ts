import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

/** What `SECRET_KEY` is used for; each purpose has a key of its own (HKDF, RFC 5869). */
type Purpose = 'encryption' | MacPurpose;
type MacPurpose = 'cards' | 'cursors' | 'csrf' | 'recovery-codes';

const VERSION = 1;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Everything that is done with `SECRET_KEY`, which itself never leaves this object. */
export interface Keychain {
  /** Encrypts text with AES-256-GCM, bound to `context`, so that a row's secret can't be moved to another row. */
  seal(text: string, context: string): Buffer;
  /** The text that `seal` took. Throws when the key or the context is another one. */
  unseal(sealed: Buffer, context: string): string;
  /** An HMAC-SHA256 for a purpose, over parts that can't run into each other. */
  mac(purpose: MacPurpose, ...parts: string[]): Buffer;
}

/** A keychain from the 32 bytes of `SECRET_KEY` in base64. */
export function createKeychain(secretKey: string): Keychain {
  const master = Buffer.from(secretKey, 'base64');
  const derive = (purpose: Purpose) =>
    createSecretKey(Buffer.from(hkdfSync('sha256', master, '', `parley:${purpose}`, 32)));
  const keys = {
    encryption: derive('encryption'),
    cards: derive('cards'),
    cursors: derive('cursors'),
    csrf: derive('csrf'),
    'recovery-codes': derive('recovery-codes'),
  };
  return {
    seal(text, context) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', keys.encryption, iv).setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.of(VERSION), iv, cipher.getAuthTag(), body]);
    },
    unseal(sealed, context) {
      const iv = sealed.subarray(1, 1 + IV_BYTES);
      const tag = sealed.subarray(1 + IV_BYTES, 1 + IV_BYTES + TAG_BYTES);
      if (sealed[0] !== VERSION || tag.length !== TAG_BYTES) throw new Error('not a sealed secret of a known version');
      const decipher = createDecipheriv('aes-256-gcm', keys.encryption, iv, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(context)).setAuthTag(tag);
      return decipher.update(sealed.subarray(1 + IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
    },
    mac(purpose, ...parts) {
      return createHmac('sha256', keys[purpose]).update(JSON.stringify(parts)).digest();
    },
  };
}

/** 32 random bytes as base64url text: a secret that no dictionary holds. */
export const randomSecret = (): string => randomBytes(32).toString('base64url');

export const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Equality in a time that does not tell where two values differ. */
export const equalInConstantTime = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b);
