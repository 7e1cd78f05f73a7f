import type { Owner } from '../tokens.ts';
import type { NewAnswer, Receipt } from '../types.ts';
import type { Entry } from './storage.ts';

/** Maximum number of stored answers of all users; the oldest is dropped when full. */
export const MAX_ANSWERS = 500;

/** A change of the stored entries. A removed entry with a `code` is given up, which the app is notified of. */
export type Change = { put: Entry } | { remove: Entry; code?: string };

/**
 * Returns the changes for a recorded answer; none if this or a later revision is stored. `entries` are all stored
 * entries, oldest first; the oldest are given up beyond `MAX_ANSWERS`.
 */
export function changesToRecord(entries: Entry[], answer: NewAnswer, owner: Owner, now: number): Change[] {
  const known = entries.find(({ id }) => id === answer.id);
  if (known && known.answer.revision >= answer.revision) return [];
  const place = (entries[entries.length - 1]?.place ?? 0) + 1;
  const excess = known ? 0 : Math.max(0, entries.length + 1 - MAX_ANSWERS);
  return [
    { put: { ...owner, id: answer.id, recordedAt: now, place, ...known, ...dueAgain(known), answer } },
    ...entries.slice(0, excess).map(entry => ({ remove: entry, code: 'outbox-full' })),
  ];
}

/** A new revision of a refused answer is tried at once, still apart from the others. */
const dueAgain = (known: Entry | undefined): Partial<Entry> => (known?.nextTryAt === undefined ? {} : { nextTryAt: 0 });

/** Returns the changes for a refused answer, unless a newer revision is stored. */
export const changesByRefusal = (sent: Entry, nextTryAt: number, entries: Entry[]): Change[] =>
  entries
    .filter(({ id, answer }) => id === sent.id && answer.revision === sent.answer.revision)
    .map(entry => ({ put: { ...entry, nextTryAt } }));

/**
 * Returns the changes for the receipts of a batch, in the order of the batch. Entries without a receipt, and those with
 * a newer stored revision, stay.
 */
export function changesBySettling(batch: Entry[], receipts: Receipt[], entries: Entry[]): Change[] {
  const stored = new Map(entries.map(entry => [entry.id, entry]));
  return batch.flatMap((sent, index): Change[] => {
    const receipt = receipts[index];
    const present = stored.get(sent.id);
    if (!receipt || !present || present.answer.revision > sent.answer.revision) return [];
    if (receipt.status !== 'rejected') return [{ remove: sent }];
    return [{ remove: sent, code: receipt.code ?? 'validation-failed' }];
  });
}
