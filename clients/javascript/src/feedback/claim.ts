import { withDevice } from '../device.ts';
import { newId } from '../ids.ts';
import { toJson } from '../json.ts';

/** Time for which a page waits for one that is being left. */
const WAIT_MS = 1000;
/** Duration of a lease. Timers of pages in the background run once a minute. */
const LEASE_MS = 90_000;

/** The sole use of a name by a page. */
export interface Claim {
  /** Whether it is granted; false if another page has it. */
  granted: Promise<boolean>;
  release(): void;
}

/** Notes on the device that this page uses a name, and renews the note; returns a function that ends it, undefined if another page does. */
function lease(name: string): (() => void) | undefined {
  const item = `parley-lease ${name}`;
  const id = newId();
  const [holder, until] = withDevice(storage => JSON.parse(storage.getItem(item) as string)) ?? [];
  if (holder && until > Date.now()) return undefined;
  const renew = () => withDevice(storage => storage.setItem(item, toJson([id, Date.now() + LEASE_MS])));
  const timer = setInterval(renew, LEASE_MS / 4);
  renew();
  return () => {
    clearInterval(timer);
    withDevice(storage => storage.removeItem(item));
  };
}

/** Claims a name: with a Web Lock, which ends with the page, or a lease in browsers and contexts without them, such as http. */
export function claim(name: string): Claim {
  const cancel = new AbortController();
  let free: (() => void) | undefined;
  const byLease = () => {
    if (!cancel.signal.aborted) free = lease(name);
    return Boolean(free);
  };
  const granted = new Promise<boolean>(resolve => {
    const { locks } = navigator as { locks?: LockManager };
    if (!locks) return resolve(byLease());
    const timer = setTimeout(() => cancel.abort(), WAIT_MS);
    const hold = () =>
      new Promise<void>(end => {
        clearTimeout(timer);
        free = end;
        resolve(true);
      });
    // A sandboxed frame has no locks.
    locks.request(name, { signal: cancel.signal }, hold).catch(() => resolve(byLease()));
  });
  return {
    granted,
    release() {
      cancel.abort();
      free?.();
    },
  };
}
