import type { Call } from '../call.ts';
import type { Client } from '../client.ts';
import { ParleyError } from '../errors.ts';
import { OUTBOX_POLICY, type RetryPolicy } from '../retry.ts';
import { isSameOwner, type Owner } from '../tokens.ts';
import type { NewAnswer, Receipt } from '../types.ts';
import { MAX_BATCH, takeBatch } from './batches.ts';
import { type Departures, watchDepartures } from './departures.ts';
import type { Flushed } from './flushed.ts';
import { browserStorage } from './indexed-db-storage.ts';
import type { Entry, OutboxStorage } from './storage.ts';

/** Maximum number of stored answers of all users; the oldest is dropped when full. */
export const MAX_ANSWERS = 500;
/** Maximum age of an answer. */
export const MAX_AGE_MS = 30 * 86_400_000;

export interface OutboxOptions {
  /** Storage of the answers; defaults to IndexedDB. In Node use `fileStorage(folder)`. */
  storage?: OutboxStorage;
  /** Called for each answer that is given up, with the server's code, `outbox-full` or `outbox-expired`. */
  onLost?: (answer: NewAnswer, code: string) => void;
  /**
   * Whether to flush automatically: at start, when the network returns, when the page is hidden or closed, and after
   * failures. Set to false to call `flush` yourself.
   */
  automatic?: boolean;
  retry?: Partial<RetryPolicy>;
}

/** Stores answers on disk before sending them, each under its own user only. */
export interface Outbox {
  /** Writes the latest state of an answer to disk without sending it. Rejects if its user cannot be determined. */
  record(answer: NewAnswer): Promise<void>;
  /** Sends the current user's answers. Network failures do not reject. */
  flush(): Promise<Flushed>;
  /** Sends one `keepalive` request from memory, for use while the page is unloaded. */
  flushBeyondPage(): void;
  /** Stored entries of all users, oldest first. */
  waiting(): Promise<Entry[]>;
  /** Stops automatic flushes. Entries stay stored. */
  close(): void;
}

const PATH = '/v1/answers';
/** Code for a single answer that exceeds the server's size limit. */
const TOO_LARGE: Receipt[] = [{ id: null, revision: null, status: 'rejected', code: 'body-too-large' }];
const byPlace = (a: Entry, b: Entry): number => a.place - b.place;

/** Creates an outbox for the answers of a client's users. */
export function createOutbox(client: Client, options: OutboxOptions = {}): Outbox {
  const { storage = browserStorage(), onLost = () => undefined, automatic = true } = options;
  const { now } = client.wire;
  /** Entries recorded by this page without a receipt; can be sent without reading the disk. */
  const fresh = new Map<string, Entry>();
  /** Entries already in `keepalive` requests: pages report their end more than once. */
  const leaving = new Set<Entry>();

  const list = async (): Promise<Entry[]> => (await storage.list()).sort(byPlace);

  async function lose(entry: Entry, code: string): Promise<void> {
    await storage.remove(entry.id);
    fresh.delete(entry.id);
    onLost(entry.answer, code);
  }

  /** Owner of an answer, determined synchronously for unloading pages. */
  const ownerAtHand = ({ card_id }: NewAnswer): Owner | undefined =>
    (card_id ? client.ownerOf(card_id) : undefined) ?? client.heldOwner();

  async function record(answer: NewAnswer): Promise<void> {
    const { tenant, identity } = ownerAtHand(answer) ?? (await client.owner());
    const owner = { tenant, identity };
    const before = fresh.get(answer.id);
    if (!before || before.answer.revision < answer.revision)
      fresh.set(answer.id, { ...owner, id: answer.id, answer, recordedAt: now(), place: now() });
    await storage.exclusively('write', async () => {
      const entries = await list();
      const known = entries.find(({ id }) => id === answer.id);
      if (known && known.answer.revision >= answer.revision) return;
      const place = (entries[entries.length - 1]?.place ?? 0) + 1;
      await storage.put({ ...owner, id: answer.id, recordedAt: now(), place, ...known, answer });
      const excess = known ? 0 : entries.length + 1 - MAX_ANSWERS;
      for (const entry of entries.slice(0, Math.max(0, excess))) await lose(entry, 'outbox-full');
    });
  }

  const dropExpired = (): Promise<void> =>
    storage.exclusively('write', async () => {
      for (const entry of await list()) if (now() - entry.recordedAt > MAX_AGE_MS) await lose(entry, 'outbox-expired');
    });

  /** Removes entries with a receipt unless a newer revision was recorded; returns whether all had one. */
  const settle = (batch: Entry[], receipts: Receipt[]): Promise<boolean> =>
    storage.exclusively('write', async () => {
      const present = new Map((await list()).map(entry => [entry.id, entry]));
      let complete = true;
      for (const [index, sent] of batch.entries()) {
        const receipt = receipts[index];
        if (!receipt) complete = false;
        else await settleOne(sent, receipt, present.get(sent.id));
      }
      return complete;
    });

  async function settleOne(sent: Entry, receipt: Receipt, present: Entry | undefined): Promise<void> {
    if ((fresh.get(sent.id)?.answer.revision ?? 0) <= sent.answer.revision) fresh.delete(sent.id);
    if (!present || present.answer.revision > sent.answer.revision) return;
    if (receipt.status === 'rejected') await lose(sent, receipt.code ?? 'validation-failed');
    else await storage.remove(sent.id);
  }

  const callFor = (owner: Owner, batch: Entry[]): Call & { owner: Owner } => ({
    method: 'POST',
    path: PATH,
    body: { client_time: new Date(now()).toISOString(), answers: batch.map(({ answer }) => answer) },
    owner,
    retry: { ...OUTBOX_POLICY, retries: 0 }, // failed flushes are retried as a whole
  });

  async function sendAll(): Promise<Flushed> {
    await dropExpired();
    if ((await list()).length === 0) return { outcome: 'done' };
    const owner = await client.owner();
    for (let size = MAX_BATCH; ; ) {
      const batch = takeBatch(
        (await list()).filter(entry => isSameOwner(entry, owner)),
        size,
      );
      if (batch.length === 0) return { outcome: 'done' };
      const receipts = await sendBatch(owner, batch);
      const isTooLarge = receipts === TOO_LARGE;
      if (isTooLarge && batch.length > 1) size = Math.floor(batch.length / 2);
      else if (!(await settle(batch, receipts))) return { outcome: 'later' };
      else if (!isTooLarge) size = Math.min(MAX_BATCH, size * 2);
    }
  }

  /** Receipts of a batch, or an indication that it was too large. */
  async function sendBatch(owner: Owner, batch: Entry[]): Promise<Receipt[]> {
    try {
      const { status, json } = await client.request(callFor(owner, batch));
      return receiptsIn(json, status);
    } catch (error) {
      if (error instanceof ParleyError && error.kind === 'too-large') return TOO_LARGE;
      throw error;
    }
  }

  const flush = (): Promise<Flushed> =>
    storage.exclusively('flush', async () => {
      try {
        return await sendAll();
      } catch (error) {
        if (!(error instanceof ParleyError)) throw error;
        return { outcome: error.retryable || error.kind === 'provider-failed' ? 'later' : 'stopped', error };
      }
    });

  function flushBeyondPage(): void {
    const owner = client.heldOwner();
    if (!owner) return;
    const unsent = [...fresh.values()].filter(entry => isSameOwner(entry, owner) && !leaving.has(entry));
    const batch = takeBatch(unsent, MAX_BATCH);
    if (batch.length === 0) return;
    for (const entry of batch) leaving.add(entry);
    client
      .requestBeyondPage(callFor(owner, batch))
      ?.then(({ json, status }) => settle(batch, receiptsIn(json, status)))
      .catch(() => undefined) // still on disk: the next flush resends it with the same id
      .then(() => {
        for (const entry of batch) leaving.delete(entry);
      });
  }

  let departures: Departures | undefined;
  const outbox: Outbox = {
    record,
    flush: () => (departures ? departures.flush() : flush()),
    flushBeyondPage,
    waiting: list,
    close: () => departures?.close(),
  };
  if (automatic)
    departures = watchDepartures({ client, flush, flushBeyondPage, policy: { ...OUTBOX_POLICY, ...options.retry } });
  return outbox;
}

function receiptsIn(json: unknown, status: number): Receipt[] {
  const results = (json as { results?: Receipt[] } | null)?.results;
  if (status === 202 && Array.isArray(results)) return results;
  throw new ParleyError('unreadable', 'The response contains no receipts.', { status });
}
