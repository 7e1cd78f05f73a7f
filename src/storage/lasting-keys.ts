import { createSecretKey, type KeyObject } from 'node:crypto';
import { MAC_PURPOSES, type MacPurpose, type Seals } from '../platform/secrets.ts';
import type { Storage } from './orm.ts';

/** More than one, since some may be of a secret key that was lost long ago. */
const SAMPLES = 100;

/** To what a lasting key is bound, so that none can take another's place. */
const contextOf = (purpose: string): string => `lasting-key:${purpose}`;

/** Thrown when none of the secret keys is that of the installation: the wrong ones are set. */
export class WrongSecretKeys extends Error {}

/**
 * The keys that codes are computed with, whichever secret key was theirs first.
 *
 * Those that are missing are made from the secret key that the installation has used until now, and kept.
 */
export async function readLastingKeys(storage: Storage, seals: Seals): Promise<Record<MacPurpose, KeyObject>> {
  const kept = await select(storage);
  const missing = MAC_PURPOSES.filter(purpose => !kept.has(purpose));
  if (missing.length > 0) await insert(storage, seals, missing);
  const all = missing.length > 0 ? await select(storage) : kept; // of two processes at once the first one's count
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

/** Which secret key the installation has used until now: that of its oldest secrets, or where there are none this one. */
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
