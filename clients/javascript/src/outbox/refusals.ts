import { ParleyError } from '../errors.ts';
import type { Receipt } from '../types.ts';
import type { Entry } from './storage.ts';

/** Time between two tries of a refused answer. */
export const RETRY_MS = 3_600_000;
/** How long a refused answer is tried, from its `answered_at`. */
export const LONGEST_MS = 30 * 24 * RETRY_MS;

/** Statuses by which servers and firewalls refuse the content of a request. */
const REFUSING = [400, 403, 406, 413, 415, 422];

/** Whether an error is a problem document of Parley. */
export const isOfParley = ({ code }: ParleyError): boolean => /^[a-z-]+$/.test(code ?? '');

/**
 * Whether the content of a request was refused: fewer answers may pass. A 2xx that is not of Parley is the page of a
 * firewall. Parley's own 403 is about the user.
 */
export const isRefusal = (error: ParleyError): boolean =>
  error.status === 403
    ? !isOfParley(error)
    : REFUSING.includes(error.status) || (error.status >= 200 && error.status < 300);

/** Whether a request took longer than its time limit, here or in Parley. */
export const isLate = ({ kind, status, cause }: ParleyError): boolean =>
  status === 408 || (kind === 'no-reply' && (cause as Error | undefined)?.name === 'AbortError');

/** Whether Parley itself refused the content: it will not accept it later. */
export const isFinal = (error: ParleyError): boolean => [413, 422].includes(error.status) && isOfParley(error);

/** The error for an answer that was refused on the way and waits for its next try. */
export const refused = ({ id }: Entry, cause: ParleyError): ParleyError =>
  new ParleyError(
    cause.kind,
    `A firewall or proxy refuses the answer ${id}, which is tried every hour: ${cause.message}`,
    { ...cause, code: 'refused', cause },
  );

/** The revisions that were refused since this start, with their next try: the storage may not have kept it. */
export function createApart() {
  const apart = new Map<string, { revision: number; nextTryAt: number }>();
  return {
    /** Notes the next try of an entry. Returns whether this is the first one. */
    note({ id, answer, nextTryAt: before }: Entry, nextTryAt: number): boolean {
      const isFirst = before === undefined && !apart.has(id);
      apart.set(id, { revision: answer.revision, nextTryAt });
      return isFirst;
    },
    forget: (id: string): void => void apart.delete(id),
    /** Returns the entry with its next try, if its revision was refused. */
    withTry(entry: Entry): Entry {
      const { revision, nextTryAt } = apart.get(entry.id) ?? {};
      return revision === entry.answer.revision ? { ...entry, nextTryAt } : entry;
    },
  };
}

/** The receipt of an answer that is given up after a refusal. */
export const rejected = ({ id, answer: { revision } }: Entry, code: string): Receipt => ({
  ...{ id, revision, code },
  status: 'rejected',
});

/** Whether an answer may be tried now. A time that is more than an hour ahead is that of a clock that was wrong. */
export const isDue = ({ nextTryAt = 0 }: Entry, now: number): boolean => nextTryAt <= now || nextTryAt > now + RETRY_MS;

/** Whether an answer was refused for so long that it is given up. */
export const isOver = ({ answer, recordedAt }: Entry, now: number): boolean =>
  now - (Date.parse(answer.answered_at ?? '') || recordedAt) > LONGEST_MS;
