import type { CryptoKey } from 'jose';
import type { Notices } from '../../coordination/notices.ts';
import { Problem } from '../../domain/problem.ts';
import { type ApiKeyStatus, apiKeyStatus } from '../../domain/team/api-keys.ts';
import { type Caches, textBytes } from '../../platform/caches.ts';
import type { Log } from '../../platform/log.ts';
import type { Keychain } from '../../platform/secrets.ts';
import type { Spans } from '../../platform/spans.ts';
import type { Storage } from '../../storage/database/orm.ts';
import { type ApiKeyRow, findApiKeys } from '../../storage/team/api-keys.ts';
import { createBatchedLookup } from './batched-lookup.ts';
import { type CachedKey, createKeyCache } from './key-cache.ts';
import { createKeyUses } from './key-uses.ts';

/** How long cached keys are accepted without revocation updates. After that, requests that need a key get 503. */
const MAX_UNCONFIRMED_MS = 60_000;
/** Heap bytes of a key besides its name: its row, and the imported secrets, which V8 does not count. */
const KEY_BYTES = 2700;
const IMPORTED_SECRET_BYTES = 700;
const UNKNOWN_BYTES = 60;

/** A key with its secrets imported for jose, ready to verify. */
export interface RingKey {
  row: Omit<ApiKeyRow, 'secret_sealed' | 'previous_secret_sealed'>;
  /** Unique among all keys read, also between two reads of one key. */
  generation: number;
  status(now: Date): ApiKeyStatus;
  /** The keys that may verify signatures: the secret, and during rotation the previous one. */
  verifiers(now: Date): CryptoKey[];
  /** The key for signing public access tokens. */
  signer: CryptoKey;
}

/** Looks up keys by id. */
export interface KeySource {
  /** Returns the key of an id, whether valid or not; `undefined` when there is none. */
  find(id: string): Promise<RingKey | undefined>;
  /** Returns the key synchronously if it is in memory and need not be read again. */
  cached(id: string): RingKey | undefined;
}

/** Keys that are known to be current. 503 after 60 s without revocation updates. */
export interface KeyRing extends KeySource {
  /**
   * The same keys for accepting answers, which continues without PostgreSQL: a key that cannot be read again is used as
   * last read. The worker later checks whether it had been revoked (`findKeyTimes`).
   */
  lastKnown: KeySource;
  /** Marks a key as used. Written in batches. */
  touch(id: string): void;
  close(): Promise<void>;
}

interface KeyRingDeps {
  storage: Storage;
  notices: Notices;
  keychain: Keychain;
  log: Log;
  caches: Caches;
  spans?: Spans | undefined;
  /** The time in milliseconds. */
  now?: () => number;
}

/**
 * Caches the API keys that this process has seen. A changed key is dropped within milliseconds.
 *
 * After a gap in the notices, every key is read again before it is considered current.
 */
export function createKeyRing({ now = Date.now, ...deps }: KeyRingDeps): KeyRing {
  const { storage, notices, keychain, log, caches, spans } = deps;
  let generation = 0;
  const findRow = createBatchedLookup<string, ApiKeyRow>('find API keys', ids => findApiKeys(storage, ids), spans);
  const keys = createKeyCache<RingKey>({
    keys: caches.create('keys', { sizeOf: ({ key }) => bytesOf(key) }),
    unknown: caches.create('unknown_keys', { sizeOf: () => UNKNOWN_BYTES, isExpired: until => until <= now() }),
    async read(id) {
      const row = await findRow(id);
      return row && importKey(row, keychain, ++generation);
    },
    now,
  });
  const uses = createKeyUses(storage, log);

  notices.onChange(({ table, id }) => {
    if (table === 'api_keys') keys.drop(id);
  });
  notices.onGap(() => keys.startPeriod());

  const isUnconfirmed = () => notices.unconfirmedMs() > MAX_UNCONFIRMED_MS;

  const current: KeySource = {
    async find(id) {
      if (isUnconfirmed())
        throw new Problem('database-unavailable', 'API keys cannot be verified: no revocation updates for 60 s.', {
          retryAfterSeconds: 5,
        });
      const known = keys.peek(id);
      const isHit = known !== undefined && keys.isCurrent(known);
      keys.count(isHit);
      return isHit ? known.key : keys.fetch(id);
    },
    cached(id) {
      const known = isUnconfirmed() ? undefined : keys.peek(id);
      return known && keys.isCurrent(known) ? known.key : undefined;
    },
  };

  /** Whether a cached key can be used: it is current, or the database is unreachable. */
  const isUsable = (known: CachedKey<RingKey>) => keys.isCurrent(known) || !notices.isListening();

  const lastKnown: KeySource = {
    async find(id) {
      const known = keys.peek(id);
      const isHit = known !== undefined && isUsable(known);
      keys.count(isHit);
      if (isHit) return known.key;
      try {
        return await keys.fetch(id);
      } catch (error) {
        if (known && error instanceof Problem && error.kind === 'unavailable') return known.key;
        throw error;
      }
    },
    cached(id) {
      const known = keys.peek(id);
      return known && isUsable(known) ? known.key : undefined;
    },
  };

  return { ...current, lastKnown, touch: uses.touch, close: uses.close };
}

const importSecret = (secret: string): Promise<CryptoKey> =>
  crypto.subtle.importKey('raw', Buffer.from(secret, 'utf8'), { name: 'HMAC', hash: 'SHA-256' }, false, [
    'sign',
    'verify',
  ]);

const bytesOf = ({ row }: RingKey): number =>
  KEY_BYTES +
  textBytes(row.name) +
  row.allowed_origins.reduce((sum, origin) => sum + textBytes(origin), 0) +
  (row.previous_valid_until ? IMPORTED_SECRET_BYTES : 0);

/** A copy, because a small buffer keeps the 8 KB pool alive from which Node allocates it. */
const unpooled = (buffer: Buffer | null): Buffer | null => buffer && Buffer.from(Uint8Array.from(buffer).buffer);

async function importKey(row: ApiKeyRow, keychain: Keychain, generation: number): Promise<RingKey> {
  const signer = await importSecret(keychain.unseal(row.secret_sealed, row.id));
  const previous = row.previous_secret_sealed
    ? await importSecret(keychain.unseal(row.previous_secret_sealed, row.id))
    : undefined;
  const { secret_sealed: _, previous_secret_sealed: __, ...rest } = row;
  const kept = {
    ...rest,
    bearer_hash: unpooled(row.bearer_hash),
    previous_bearer_hash: unpooled(row.previous_bearer_hash),
  };
  const status = (now: Date) => apiKeyStatus(kept, now);
  return {
    row: kept,
    generation,
    status,
    signer,
    verifiers: now => (previous && status(now) === 'rotating' ? [signer, previous] : [signer]),
  };
}
