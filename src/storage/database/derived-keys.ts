import { createSecretKey, type KeyObject } from 'node:crypto';
import { MAC_PURPOSES, type MacPurpose, type Seals } from '../../platform/secrets.ts';
import type { Storage } from './orm.ts';

/** Several, since some may be encrypted with a secret key that was lost long ago. */
const SAMPLES = 100;

/** The context of a derived key's encryption, so that keys cannot be swapped. */
const contextOf = (purpose: string): string => `lasting-key:${purpose}`;

/** None of the secret keys decrypts this installation's data. */
export class WrongSecretKeys extends Error {}

/**
 * Returns the keys for message authentication codes, decrypted with any of the secret keys.
 *
 * Missing ones are derived from the secret key in use, and stored.
 */
export async function readDerivedKeys(storage: Storage, seals: Seals): Promise<Record<MacPurpose, KeyObject>> {
  const stored = await select(storage);
  const missing = MAC_PURPOSES.filter(purpose => !stored.has(purpose));
  if (missing.length > 0) await insert(storage, seals, missing);
  const all = missing.length > 0 ? await select(storage) : stored; // of two concurrent processes, the first one's keys are used
  const open = (purpose: MacPurpose) => {
    const sealed = all.get(purpose) as Buffer;
    if (seals.keyOf(sealed, contextOf(purpose)) < 0) throw wrongKeys();
    return createSecretKey(Buffer.from(seals.unseal(sealed, contextOf(purpose)), 'base64'));
  };
  return Object.fromEntries(MAC_PURPOSES.map(purpose => [purpose, open(purpose)])) as Record<MacPurpose, KeyObject>;
}

const wrongKeys = () =>
  new WrongSecretKeys(
    'neither SECRET_KEY nor SECRET_KEY_OTHERS decrypts the secrets in this database: see `parley doctor`',
  );

async function select(storage: Storage): Promise<Map<string, Buffer>> {
  const rows = await storage.query<{ purpose: string; key_sealed: Buffer }>(
    'select purpose, key_sealed from lasting_keys',
  );
  return new Map(rows.map(row => [row.purpose, row.key_sealed]));
}

async function insert(storage: Storage, seals: Seals, purposes: MacPurpose[]): Promise<void> {
  const keyNumber = await keyInUse(storage, seals);
  const sealed = purposes.map(purpose =>
    seals.seal(seals.derive(purpose, keyNumber).toString('base64'), contextOf(purpose)),
  );
  await storage.query(
    `insert into lasting_keys select purpose, key_sealed, clock_timestamp()
     from unnest($1::text[], $2::bytea[]) as new (purpose, key_sealed) on conflict do nothing`,
    [purposes, sealed],
  );
}

/** Returns which secret key the installation uses: the key of its oldest secrets, or 0 without any. */
async function keyInUse(storage: Storage, seals: Seals): Promise<number> {
  const samples = await storage.query<{ context: string; sealed: Buffer }>(
    'select context, sealed from sealed_samples($1)',
    [SAMPLES],
  );
  if (samples.length === 0) return 0;
  const found = samples.map(({ sealed, context }) => seals.keyOf(sealed, context)).find(keyNumber => keyNumber >= 0);
  if (found === undefined) throw wrongKeys();
  return found;
}
