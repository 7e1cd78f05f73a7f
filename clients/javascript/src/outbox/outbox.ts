import type { Call } from '../call.ts';
import { notify } from '../callbacks.ts';
import type { Client } from '../client.ts';
import { withDefaults } from '../defaults.ts';
import { ParleyError, unreadable } from '../errors.ts';
import { toJson } from '../json.ts';
import type { RetryPolicy } from '../policy.ts';
import { OUTBOX_POLICY, unlessAborted } from '../retry.ts';
import { asOwner, isSameOwner, type Owner } from '../tokens.ts';
import type { NewAnswer, Receipt } from '../types.ts';
import type { Reply } from '../wire.ts';
import { MAX_BATCH, takeBatch } from './batches.ts';
import { boundStorage } from './bounded-storage.ts';
import { type Departures, watchDepartures } from './departures.ts';
import { type LostAnswer, openEntries } from './entries.ts';
import type { Flushed, FlushOptions } from './flushed.ts';
import { browserStorage } from './indexed-db-storage.ts';
import type { Entry, OutboxStorage } from './storage.ts';

export interface OutboxOptions {
  /** Storage of the answers; defaults to IndexedDB. In Node use `fileStorage(folder)`. */
  storage?: OutboxStorage;
  /**
   * Called for each answer that is given up, with the server's code, `outbox-full`, or `outbox-unreadable` for a damaged
   * entry, of which only the id is known.
   */
  onLost?: (answer: LostAnswer, code: string) => void;
  /**
   * Whether to flush automatically: at start, when the network returns, when the page is hidden or closed, and after
   * failures. Set to false to call `flush` yourself.
   */
  automatic?: boolean;
  retry?: Partial<RetryPolicy>;
  /** Time limit of each access to the storage, and of the wait for its lock; defaults to 15 s. */
  storageTimeoutMs?: number;
}

/** Stores answers on disk before sending them, each under its own user only. */
export interface Outbox {
  /**
   * Writes the latest state of an answer to disk without sending it. Rejects if its user cannot be determined, with
   * `invalid-argument` if it cannot be sent as JSON, and with `storage-failed` if the disk refuses; the answer is then in memory
   * and sent like the others.
   */
  record(answer: NewAnswer): Promise<void>;
  /**
   * Sends the current user's answers. Network failures do not reject. An aborted `signal` rejects with `aborted`: answers without
   * a receipt stay stored, and the next flush sends them again.
   */
  flush(options?: FlushOptions): Promise<Flushed>;
  /** Sends one `keepalive` request from memory, for use while the page is unloaded. */
  flushBeyondPage(): void;
  /** Stored entries of all users, oldest first. */
  waiting(): Promise<Entry[]>;
  /** Stops automatic flushes. Entries stay stored. */
  close(): void;
}

/** Code for a single answer that exceeds the server's size limit. */
const TOO_LARGE = [{ status: 'rejected', code: 'body-too-large' } as Receipt];

/** Creates an outbox for the answers of a client's users. */
export function createOutbox(client: Client, options: OutboxOptions = {}): Outbox {
  const { now } = client.wire;
  const storage = boundStorage(options.storage ?? browserStorage(), options.storageTimeoutMs ?? 15_000);
  const entries = openEntries(storage, now, (answer, code) => notify(options.onLost, answer, code));
  /** Entries already in `keepalive` requests: pages report their end more than once. */
  let leaving: Entry[] = [];

  async function sendAll(owner: Owner, options: FlushOptions): Promise<Flushed> {
    for (let size = MAX_BATCH; ; ) {
      const { entries: waiting, failure } = await entries.atHand();
      const batch = takeBatch(
        waiting.filter(entry => isSameOwner(entry, owner)),
        size,
      );
      if (batch.length === 0) return ended(failure);
      const receipts = await sendBatch(client, owner, batch, options);
      const isTooLarge = receipts === TOO_LARGE;
      if (isTooLarge && batch.length > 1) size = Math.floor(batch.length / 2);
      else if (!(await entries.settle(batch, receipts))) return { outcome: 'later' };
      else if (!isTooLarge) size = Math.min(MAX_BATCH, size * 2);
    }
  }

  /** Sends the current user's entries. The provider is asked before the lock: it must not stop other pages. */
  async function flush(options: FlushOptions = {}): Promise<Flushed> {
    const { signal } = options;
    try {
      const { entries: waiting, failure } = await unlessAborted(signal, entries.atHand());
      if (waiting.length === 0) return ended(failure);
      const owner = await unlessAborted(signal, client.owner());
      return await unlessAborted(
        signal,
        storage.exclusively('flush', () => sendAll(owner, options)),
      );
    } catch (error) {
      if (!(error instanceof ParleyError) || error.kind === 'aborted') throw error;
      return { outcome: error.retryable || error.kind === 'provider-failed' ? 'later' : 'stopped', error };
    }
  }

  function flushBeyondPage(): void {
    const owner = client.heldOwner();
    if (!owner) return;
    const batch = takeBatch(
      entries.unsettled(owner).filter(entry => !leaving.includes(entry)),
      MAX_BATCH,
    );
    if (batch.length === 0) return;
    leaving.push(...batch);
    client
      .requestBeyondPage(callFor(client, owner, batch))
      ?.then(reply => entries.settle(batch, receiptsIn(reply)))
      .catch(() => undefined) // still stored: the next flush resends it with the same id, and returns a failure that persists
      .then(() => {
        leaving = leaving.filter(entry => !batch.includes(entry));
      });
  }

  let departures: Departures | undefined;
  const outbox: Outbox = {
    async record(given) {
      const answer: NewAnswer = JSON.parse(toJson(given)); // one that cannot be sent would hold up all others
      const owner = asOwner(ownerAtHand(client, answer) ?? (await client.owner()));
      try {
        await entries.record(answer, owner);
      } catch (error) {
        departures?.departQuietly(); // the answer is only in memory: send it now
        throw error;
      }
    },
    flush: options => (departures ? departures.flush(options) : flush(options)),
    flushBeyondPage,
    waiting: entries.list,
    close: () => departures?.close(),
  };
  const policy = withDefaults(OUTBOX_POLICY, options.retry);
  if (options.automatic !== false) departures = watchDepartures({ client, flush, flushBeyondPage, policy });
  return outbox;
}

const ended = (failure: ParleyError | undefined): Flushed =>
  failure ? { outcome: 'later', error: failure } : { outcome: 'done' };

/** Owner of an answer, determined synchronously for unloading pages. */
const ownerAtHand = (client: Client, { card_id }: NewAnswer): Owner | undefined =>
  client.ownerOf(card_id ?? '') ?? client.heldOwner();

const callFor = (client: Client, owner: Owner, batch: Entry[], options?: FlushOptions): Call & { owner: Owner } => ({
  method: 'POST',
  path: '/v1/answers',
  body: { client_time: new Date(client.wire.now()).toISOString(), answers: batch.map(({ answer }) => answer) },
  owner,
  operation: 'recordAnswers',
  options: { ...options, retry: { retries: 0 } }, // failed flushes are retried as a whole
});

/** Receipts of a batch, or an indication that it was too large. */
async function sendBatch(client: Client, owner: Owner, batch: Entry[], options: FlushOptions): Promise<Receipt[]> {
  try {
    return receiptsIn(await client.request(callFor(client, owner, batch, options)));
  } catch (error) {
    if (error instanceof ParleyError && error.kind === 'too-large') return TOO_LARGE;
    throw error;
  }
}

function receiptsIn({ json, status, headers }: Reply): Receipt[] {
  const { results } = Object(json) as { results?: Receipt[] };
  if (status === 202 && Array.isArray(results)) return results;
  throw unreadable(status, headers);
}
