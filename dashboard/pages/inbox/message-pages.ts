import type { Schemas } from '../../api/schema.ts';

export type Message = Schemas['Message'];
/** The newest reply and the newest note or event of a part of a thread. */
export type Position = Schemas['MessagePosition'];

/** A page of messages, newest first. */
export interface NewestPage {
  data: Message[];
  next_cursor: string | null;
}

/** The messages of a conversation fetched so far, oldest first. */
export interface KnownMessages {
  messages: Message[];
  /** Cursor of the page before the oldest message; null at the beginning of the conversation. */
  olderCursor: string | null;
  /** `updated_at` of the conversation when the newest messages were requested. */
  asOf: string;
}

const idsOf = (messages: readonly Message[]): Set<string> => new Set(messages.map(({ id }) => id));

/** Where a thread begins, before any message. */
export const BEGINNING: Position = { seq: 0, note_seq: 0 };

/** Returns the later of two positions, in each of the two sequences. */
export const laterOf = (one: Position, other: Position): Position => ({
  seq: Math.max(one.seq, other.seq),
  note_seq: Math.max(one.note_seq, other.note_seq),
});

const placeOf = ({ kind, seq }: Message): Position =>
  kind === 'reply' ? { seq, note_seq: 0 } : { seq: 0, note_seq: seq };

/** Returns the position after messages. */
export const positionOf = (messages: readonly Message[]): Position => messages.map(placeOf).reduce(laterOf, BEGINNING);

/** Messages can be edited or removed for 15 minutes; clocks are not compared to the second. */
const CHANGEABLE_MS = 16 * 60_000;

const isReply = ({ kind }: Message): boolean => kind === 'reply';

/**
 * Returns the position after the known messages that can no longer change at a time: later ones are requested again.
 *
 * Undefined if it is not known where one of the two sequences begins, because older messages were not fetched.
 */
export function settledAt({ messages, olderCursor }: KnownMessages, now: string): Position | undefined {
  const isSettled = ({ created_at }: Message) => Date.parse(now) - Date.parse(created_at) > CHANGEABLE_MS;
  const lastOf = (known: Message[]): number | undefined => {
    const seqs = known.map(({ seq }) => seq);
    const settled = known.filter(isSettled).map(({ seq }) => seq);
    if (settled.length > 0) return Math.max(...settled);
    if (olderCursor === null) return 0;
    return seqs.length > 0 ? Math.min(...seqs) - 1 : undefined;
  };
  const seq = lastOf(messages.filter(isReply));
  const noteSeq = lastOf(messages.filter(message => !isReply(message)));
  return seq === undefined || noteSeq === undefined ? undefined : { seq, note_seq: noteSeq };
}

/** Begins with the newest page of a conversation. */
export const startAt = (page: NewestPage, asOf: string): KnownMessages => ({
  messages: page.data.toReversed(),
  olderCursor: page.next_cursor,
  asOf,
});

const isAfter = (message: Message, position: Position): boolean =>
  message.seq > (isReply(message) ? position.seq : position.note_seq);

/** Whether a page from the newest end reaches the known messages, without a gap in between. */
export function reaches({ messages }: KnownMessages, page: NewestPage): boolean {
  const ids = idsOf(messages);
  return page.next_cursor === null || page.data.some(({ id }) => ids.has(id));
}

/**
 * Adds all messages from one that is known, oldest first. They replace the known ones, which may have been edited or
 * removed since. A message that was sent while they were requested stays.
 */
export function addNewer(known: KnownMessages, newer: readonly Message[], asOf: string): KnownMessages {
  const ids = idsOf(newer);
  const first = known.messages.findIndex(({ id }) => ids.has(id));
  const end = positionOf(newer);
  const kept = first < 0 ? known.messages : known.messages.slice(0, first);
  const sent =
    first < 0 ? [] : known.messages.slice(first).filter(message => !ids.has(message.id) && isAfter(message, end));
  return { ...known, messages: [...kept, ...newer, ...sent], asOf };
}

/** Adds a page of older messages. */
export function addOlder(known: KnownMessages, page: NewestPage): KnownMessages {
  const ids = idsOf(known.messages);
  const older = page.data.toReversed().filter(({ id }) => !ids.has(id));
  return { ...known, messages: [...older, ...known.messages], olderCursor: page.next_cursor };
}

/** Adds or replaces one message, such as the response to a reply. */
export function addMessage(known: KnownMessages, message: Message): KnownMessages {
  const at = known.messages.findIndex(({ id }) => id === message.id);
  return { ...known, messages: at < 0 ? [...known.messages, message] : known.messages.with(at, message) };
}
