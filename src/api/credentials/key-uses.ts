import type { Log } from '../../platform/log.ts';
import type { Storage } from '../../storage/database/orm.ts';
import { touchApiKeys } from '../../storage/team/api-keys.ts';

/** Records the last use of API keys. */
export interface KeyUses {
  /** Marks a key as used. Written in batches. */
  touch(id: string): void;
  close(): Promise<void>;
}

const WRITE_EVERY_MS = 10_000;

/** Writes the used keys every 10 s, and once more when closed. A killed process loses up to 10 s of uses. */
export function createKeyUses(storage: Storage, log: Log): KeyUses {
  const used = new Set<string>();
  const write = async () => {
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
  const timer = setInterval(write, WRITE_EVERY_MS);
  timer.unref();
  return {
    touch: id => void used.add(id),
    async close() {
      clearInterval(timer);
      await write();
    },
  };
}
