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
import { MAX_BATCH, nextBatch, takeBatch } from './batches.ts';
import { boundStorage } from './bounded-storage.ts';
import { type Departures, watchDepartures } from './departures.ts';
import { type Entries, type LostAnswer, openEntries } from './entries.ts';
import type { Flushed, FlushOptions } from './flushed.ts';
import { browserStorage } from './indexed-db-storage.ts';
import { isFinal, isLate, isRefusal, rejected } from './refusals.ts';
import type { Entry, OutboxStorage } from './storage.ts';

export interface OutboxOptions {
  /** Storage of the answers; defaults to IndexedDB. In Node use `fileStorage(folder)`. */
  storage?: OutboxStorage;
  /**
   * Called for each answer that is given up, with the server's code, `outbox-full`, `outbox-unreadable` for a damaged
   * entry, of which only the id is known, or `refused` for one that was refused on the way until 30 days after its `answered_at`.
   */
  onLost?: (answer: LostAnswer, code: string) => void;
  /**
   * Called once for each answer that something on the way, such as a firewall, refuses. The code is `refused`. It waits
   * apart from the others, and is tried every hour. In a page, `<parley-feedback>` also dispatches `parley-error`.
   */
  onRefused?: (answer: NewAnswer, code: string, error: ParleyError) => void;
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
  /** Registers a listener for answers that are refused on the way; returns a function that removes it. Only the first one is called. */
  onRefused?(listener: (error: ParleyError) => void): () => void;
  /** Stops automatic flushes. Entries stay stored. */
  close(): void;
}

/** Returns a function that sends all entries of a user that are due. */
function createSender(client: Client, entries: Entries) {
  const { now } = client.wire;
  /** Size of the first request of a flush. */
  let firstSize = MAX_BATCH;

  async function sendAll(owner: Owner, options: FlushOptions): Promise<Flushed> {
    for (let size = firstSize; ; ) {
      const { entries: waiting, failure } = await entries.atHand();
      const own = waiting.filter(entry => isSameOwner(entry, owner));
      const batch = nextBatch(own, size, now());
      if (batch.length === 0) return ended(failure, own, now());
      const sent = await sendBatch(client, owner, batch, options).catch(error => {
        if (isLate(error)) firstSize = Math.ceil(batch.length / 2); // on a slow network, the same batch would never arrive
        throw error;
      });
      if (!(sent instanceof ParleyError)) {
        if (!(await entries.settle(batch, sent))) return { outcome: 'later' };
        size = Math.min(MAX_BATCH, size * 2);
        firstSize = Math.max(firstSize, size);
      } else if (batch.length > 1) size = Math.floor(batch.length / 2);
      else await refuse(batch[0] as Entry, sent);
    }
  }

  /** Gives up an answer that Parley itself refused, or lets it wait apart. */
  async function refuse(entry: Entry, error: ParleyError): Promise<void> {
    if (!isFinal(error)) return entries.refuse(entry, error);
    await entries.settle([entry], [rejected(entry, error.code as string)]);
  }
  return sendAll;
}

/** Creates an outbox for the answers of a client's users. */
export function createOutbox(client: Client, options: OutboxOptions = {}): Outbox {
  const { now } = client.wire;
  const storage = boundStorage(options.storage ?? browserStorage(), options.storageTimeoutMs ?? 15_000);
  const listeners = new Set<(error: ParleyError) => void>();
  const onLost = (answer: LostAnswer, code: string) => notify(options.onLost, answer, code);
  const entries = openEntries(storage, now, onLost, (answer, error) => {
    notify(options.onRefused, answer, 'refused', error);
    const [first] = listeners;
    notify(first, error);
  });
  const sendAll = createSender(client, entries);
  /** Entries already in `keepalive` requests: pages report their end more than once. */
  let leaving: Entry[] = [];

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
      // A redirect is often that of a network whose sign-in is not done yet.
      const isLater = error.retryable || ['provider-failed', 'unreadable'].includes(error.kind);
      return { outcome: isLater ? 'later' : 'stopped', error };
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
    onRefused(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: () => departures?.close(),
  };
  const policy = withDefaults(OUTBOX_POLICY, options.retry);
  if (options.automatic !== false) departures = watchDepartures({ client, flush, flushBeyondPage, policy });
  return outbox;
}

/** The outcome if no answer is due; `apart` are those that were refused on the way. */
function ended(failure: ParleyError | undefined, apart: Entry[] = [], now = 0): Flushed {
  if (failure) return { outcome: 'later', error: failure };
  if (apart.length === 0) return { outcome: 'done' };
  return { outcome: 'later', nextTryMs: Math.min(...apart.map(({ nextTryAt = now }) => nextTryAt)) - now };
}

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

/** Receipts of a batch, or the refusal of its content. */
async function sendBatch(
  client: Client,
  owner: Owner,
  batch: Entry[],
  options: FlushOptions,
): Promise<Receipt[] | ParleyError> {
  try {
    return receiptsIn(await client.request(callFor(client, owner, batch, options)));
  } catch (error) {
    if (error instanceof ParleyError && isRefusal(error)) return error;
    throw error;
  }
}

function receiptsIn({ json, status, headers }: Reply): Receipt[] {
  const { results } = Object(json) as { results?: Receipt[] };
  if (status === 202 && Array.isArray(results)) return results;
  throw unreadable(status, headers);
}
