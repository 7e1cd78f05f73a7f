import { reportUncaught } from '../callbacks.ts';
import type { Client } from '../client.ts';
import { startTimer } from '../limit.ts';
import { listen } from '../listen.ts';
import type { RetryPolicy } from '../policy.ts';
import { delayBefore } from '../retry.ts';
import type { Flushed, FlushOptions } from './flushed.ts';

/** Triggers of automatic flushes. */
export interface Departures {
  /** Flushes now and schedules a retry on failure, unless the caller aborts it. */
  flush(options?: FlushOptions): Promise<Flushed>;
  /** Flushes in the background. */
  departQuietly(): void;
  close(): void;
}

interface Parts {
  client: Client;
  flush(options?: FlushOptions): Promise<Flushed>;
  flushBeyondPage(): void;
  policy: RetryPolicy;
}

/** The page; workers and Node have none, or only a part of it. */
const page = globalThis as unknown as EventTarget & { document?: Document };

/** Flushes at start, after failures, when the network returns, after a user change, and on page hide. */
export function watchDepartures({ client, flush, flushBeyondPage, policy }: Parts): Departures {
  const { random } = client.wire;
  let failures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let closed = false;

  async function depart(options?: FlushOptions): Promise<Flushed> {
    clearTimeout(timer);
    let flushed: Flushed | undefined;
    try {
      flushed = await flush(options);
      return flushed;
    } finally {
      const { outcome, error, nextTryMs } = flushed ?? {};
      const isLater = flushed ? outcome === 'later' : !options?.signal?.aborted;
      failures = isLater && nextTryMs === undefined ? failures + 1 : 0;
      const delay = nextTryMs ?? delayBefore(policy, failures, random(), error?.retryAfterMs ?? null);
      clearTimeout(timer);
      if (isLater && !closed) timer = startTimer(departQuietly, delay ?? policy.capMs);
    }
  }

  /** Runs in the background: failures are retried, and the app's next `flush` returns one that persists. */
  const departQuietly = () => void depart().catch(reportUncaught);
  const listeners = [client.onLogout(departQuietly)];
  if ('addEventListener' in page)
    listeners.push(listen(page, 'online', departQuietly), listen(page, 'pagehide', flushBeyondPage));
  const { document } = page;
  if (document)
    listeners.push(
      listen(document, 'visibilitychange', () =>
        document.visibilityState === 'hidden' ? flushBeyondPage() : departQuietly(),
      ),
    );
  departQuietly();

  return {
    flush: depart,
    departQuietly,
    close() {
      closed = true;
      clearTimeout(timer);
      for (const stop of listeners) stop();
    },
  };
}
