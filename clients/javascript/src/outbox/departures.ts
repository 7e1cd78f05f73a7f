import type { Client } from '../client.ts';
import { delayBefore, type RetryPolicy } from '../retry.ts';
import type { Flushed } from './flushed.ts';

/** When an outbox sends by itself. */
export interface Departures {
  /** Sends now, and sees to it that it is tried again when that fails. */
  flush(): Promise<Flushed>;
  close(): void;
}

interface Parts {
  client: Client;
  flush(): Promise<Flushed>;
  flushBeyondPage(): void;
  policy: RetryPolicy;
}

/** Where a page tells what becomes of it; workers and Node have no such place. */
const pageOf = () => globalThis as Partial<Pick<Window, 'addEventListener' | 'removeEventListener' | 'document'>>;

/** Flushes at the start, after a failure, with the network's return, for the next user, and when the page goes. */
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

  /** For whom nobody waits. An error here is the storage's, and the next occasion meets it again. */
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
