import type { CryptoKey } from 'jose';
import type { Notices } from '../../coordination/notices.ts';
import { type ApiKeyStatus, apiKeyStatus } from '../../domain/api-keys.ts';
import { Problem } from '../../domain/problem.ts';
import { type Caches, textBytes } from '../../platform/caches.ts';
import type { Log } from '../../platform/log.ts';
import type { Keychain } from '../../platform/secrets.ts';
import type { Spans } from '../../platform/spans.ts';
import { type ApiKeyRow, findApiKeys, touchApiKeys } from '../../storage/api-keys.ts';
import type { Storage } from '../../storage/orm.ts';
import { createBatchedLookup } from './batched-lookup.ts';

/** How long cached keys are accepted without revocation updates. After that, requests that need a key get 503. */
const MAX_UNCONFIRMED_MS = 60_000;
/** Heap bytes of a key besides its name: its row, and the imported secrets, which V8 does not count. */
const KEY_BYTES = 2700;
const IMPORTED_SECRET_BYTES = 700;
/** How long an unknown key id is cached, so that one made-up token does not cause many queries. */
const UNKNOWN_TTL_MS = 30_000;
const UNKNOWN_BYTES = 60;
const TOUCH_EVERY_MS = 10_000;

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

/** A cached key, and the period of uninterrupted notices in which it was read. */
interface Entry {
  key: RingKey;
  stretch: number;
}

interface KeyRingDeps {
  storage: Storage;
  notices: Notices;
  keychain: Keychain;
  log: Log;
  caches: Caches;
  spans?: Spans | undefined;
}

/**
 * Caches the API keys that this process has seen. A changed key is dropped within milliseconds.
 *
 * After a gap in the notices, every key is read again before it is considered current.
 */
export function createKeyRing({ storage, notices, keychain, log, caches, spans }: KeyRingDeps): KeyRing {
  const keys = caches.create<string, Entry>('keys', { sizeOf: ({ key }) => bytesOf(key) });
  /**
   * Keys being read, with one query for all concurrent callers. A change removes them, so that no outdated key is
   * cached.
   */
  const loading = new Map<string, Promise<RingKey | undefined>>();
  /** Ids without a key, with the time until which that is assumed. */
  const unknown = caches.create<string, number>('unknown_keys', {
    sizeOf: () => UNKNOWN_BYTES,
    isExpired: until => until <= Date.now(),
  });
  let generation = 0;
  const used = new Set<string>();
  let stretch = 0;

  notices.onChange(({ table, id }) => {
    if (table !== 'api_keys') return;
    keys.delete(id);
    loading.delete(id);
    unknown.delete(id);
  });
  notices.onGap(() => {
    stretch++;
    loading.clear();
    unknown.clear();
  });

  const findRow = createBatchedLookup<string, ApiKeyRow>('find API keys', ids => findApiKeys(storage, ids), spans);
  const read = async (id: string): Promise<RingKey | undefined> => {
    const row = await findRow(id);
    return row && importKey(row, keychain, ++generation);
  };

  const writeUses = async () => {
    const ids = [...used];
    used.clear();
    if (ids.length === 0) return;
    try {
      await touchApiKeys(storage, ids, new Date());
    } catch (error) {
      for (const id of ids) used.add(id);
      log.debug({ reason: (error as Error).message }, 'could not record the last use of API keys; will retry');
    }
  };
  const timer = setInterval(writeUses, TOUCH_EVERY_MS);
  timer.unref();

  const load = (id: string): Promise<RingKey | undefined> => {
    const reading = read(id)
      .then(key => {
        if (loading.get(id) !== reading) return key;
        if (key) keys.set(id, { key, stretch });
        else {
          keys.delete(id);
          unknown.set(id, Date.now() + UNKNOWN_TTL_MS);
        }
        return key;
      })
      .finally(() => {
        if (loading.get(id) === reading) loading.delete(id);
      });
    loading.set(id, reading);
    return reading;
  };

  const isUnconfirmed = () => notices.unconfirmedMs() > MAX_UNCONFIRMED_MS;
  const isCurrent = (entry: Entry) => entry.stretch === stretch;

  /** Reads a key that is not in memory, with one query for all concurrent callers. */
  const fetch = async (id: string): Promise<RingKey | undefined> => {
    const isUnknown = (unknown.peek(id) ?? 0) > Date.now();
    unknown.count(isUnknown);
    return isUnknown ? undefined : (loading.get(id) ?? load(id));
  };

  const current: KeySource = {
    async find(id) {
      if (isUnconfirmed())
        throw new Problem('database-unavailable', 'API keys cannot be verified: no revocation updates for 60 s.', {
          retryAfterSeconds: 5,
        });
      const entry = keys.peek(id);
      const known = entry && isCurrent(entry) ? entry.key : undefined;
      keys.count(known !== undefined);
      return known ?? fetch(id);
    },
    cached(id) {
      const entry = isUnconfirmed() ? undefined : keys.peek(id);
      return entry && isCurrent(entry) ? entry.key : undefined;
    },
  };

  /** Whether a cached key can be used: it is current, or the database is unreachable. */
  const isUsable = (entry: Entry) => isCurrent(entry) || !notices.isListening();

  const lastKnown: KeySource = {
    async find(id) {
      const entry = keys.peek(id);
      const isHit = entry !== undefined && isUsable(entry);
      keys.count(isHit);
      if (isHit) return entry.key;
      try {
        return await fetch(id);
      } catch (error) {
        if (entry && error instanceof Problem && error.kind === 'unavailable') return entry.key;
        throw error;
      }
    },
    cached(id) {
      const entry = keys.peek(id);
      return entry && isUsable(entry) ? entry.key : undefined;
    },
  };

  return {
    ...current,
    lastKnown,
    touch: id => void used.add(id),
    async close() {
      clearInterval(timer);
      await writeUses();
    },
  };
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
