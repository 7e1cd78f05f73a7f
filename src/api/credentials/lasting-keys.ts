import type { KeyObject } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '../../domain/problem.ts';
import type { Log } from '../../platform/log.ts';
import type { MacPurpose, Seals } from '../../platform/secrets.ts';
import { readLastingKeys, WrongSecretKeys } from '../../storage/lasting-keys.ts';
import type { Storage } from '../../storage/orm.ts';

/** The keys that codes are computed with, as a process holds them. */
export interface LastingKeyRing {
  /** The key of a purpose. Throws 503 `database-unavailable` until they were read. */
  of(purpose: MacPurpose): KeyObject;
  /** Resolves when they were read; waits for a database that is away, and for good with the wrong secret keys. */
  load(signal: AbortSignal): Promise<void>;
}

const TRY_EVERY_MS = 500;
const TELL_EVERY_MS = 10_000;

export function createLastingKeys(storage: Storage, seals: Seals, log: Log): LastingKeyRing {
  let keys: Record<MacPurpose, KeyObject> | undefined;
  return {
    of(purpose) {
      if (keys) return keys[purpose];
      throw new Problem('database-unavailable', 'The encryption keys have not been loaded yet.', {
        retryAfterSeconds: 1,
      });
    },
    async load(signal) {
      for (let told = 0; !signal.aborted; await sleep(TRY_EVERY_MS, undefined, { signal })) {
        try {
          keys = await readLastingKeys(storage, seals);
          return;
        } catch (error) {
          if (!(error instanceof Problem || error instanceof WrongSecretKeys)) throw error;
          if (Date.now() - told < TELL_EVERY_MS) continue;
          told = Date.now();
          log.error({ reason: error.message }, 'waiting for the encryption keys');
        }
      }
    },
  };
}
