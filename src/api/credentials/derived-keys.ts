import type { KeyObject } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '../../domain/problem.ts';
import type { Log } from '../../platform/log.ts';
import type { MacPurpose, Seals } from '../../platform/secrets.ts';
import { readDerivedKeys, WrongSecretKeys } from '../../storage/database/derived-keys.ts';
import type { Storage } from '../../storage/database/orm.ts';

/** The keys for message authentication codes, in memory. */
export interface DerivedKeys {
  /** Returns the key of a purpose. Throws 503 `database-unavailable` until the keys are loaded. */
  of(purpose: MacPurpose): KeyObject;
  /** Resolves when the keys are loaded. Waits for an unreachable database, and indefinitely with wrong secret keys. */
  load(signal: AbortSignal): Promise<void>;
}

const TRY_EVERY_MS = 500;
const LOG_EVERY_MS = 10_000;

export function createDerivedKeys(storage: Storage, seals: Seals, log: Log): DerivedKeys {
  let keys: Record<MacPurpose, KeyObject> | undefined;
  return {
    of(purpose) {
      if (keys) return keys[purpose];
      throw new Problem('database-unavailable', 'The encryption keys have not been loaded yet.', {
        retryAfterSeconds: 1,
      });
    },
    async load(signal) {
      for (let loggedAt = 0; !signal.aborted; await sleep(TRY_EVERY_MS, undefined, { signal })) {
        try {
          keys = await readDerivedKeys(storage, seals);
          return;
        } catch (error) {
          if (!(error instanceof Problem || error instanceof WrongSecretKeys)) throw error;
          if (Date.now() - loggedAt < LOG_EVERY_MS) continue;
          loggedAt = Date.now();
          log.error({ reason: error.message }, 'waiting for the encryption keys');
        }
      }
    },
  };
}
