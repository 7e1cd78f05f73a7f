import type { Client } from '../client.ts';
import { delayBefore, type RetryPolicy } from '../retry.ts';
import type { Flushed } from './flushed.ts';

/** Triggers of automatic flushes. */
export interface Departures {
  /** Flushes now and schedules a retry on failure. */
  flush(): Promise<Flushed>;
  close(): void;
}

interface Parts {
  client: Client;
  flush(): Promise<Flushed>;
  flushBeyondPage(): void;
  policy: RetryPolicy;
}

/** Event target for page lifecycle events; undefined in workers and Node. */
const pageOf = () => globalThis as Partial<Pick<Window, 'addEventListener' | 'removeEventListener' | 'document'>>;

/** Flushes at start, after failures, when the network returns, after a user change, and on page hide. */
export function watchDepartures({ client, flush, flushBeyondPage, policy }: Parts): Departures {
  const { random } = client.wire;
  let failures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let closed = false;

  async function depart(): Promise<Flushed> {
    clearTimeout(timer);
    const flushed = await flush();
    failures = flushed.outcome === 'later' ? failures + 1 : 0;
    if (failures > 0 && !closed) {
      const delay = delayBefore(policy, failures, random(), flushed.error?.retryAfterMs ?? null);
      timer = setTimeout(departQuietly, delay ?? policy.capMs);
    }
    return flushed;
  }

  /** Runs in the background. Errors come from the storage and recur on the next flush. */
  const departQuietly = () => void depart().catch(() => undefined);
  const onVisibility = () => {
    if (pageOf().document?.visibilityState === 'hidden') flushBeyondPage();
    else departQuietly();
  };
  const { addEventListener: listen, removeEventListener: unlisten, document } = pageOf();
  listen?.('online', departQuietly);
  listen?.('pagehide', flushBeyondPage);
  document?.addEventListener('visibilitychange', onVisibility);
  const unsubscribe = client.onLogout(departQuietly);
  departQuietly();

  return {
    flush: depart,
    close() {
      closed = true;
      clearTimeout(timer);
      unlisten?.('online', departQuietly);
      unlisten?.('pagehide', flushBeyondPage);
      document?.removeEventListener('visibilitychange', onVisibility);
      unsubscribe();
    },
  };
}
