import type { Schemas } from '../../api/schema.ts';

export type Message = Schemas['Message'];

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

/** Whether a page from the newest end reaches the known messages, so that none is missing in between. */
export function reaches(known: KnownMessages | undefined, page: NewestPage): boolean {
  if (!known || known.messages.length === 0 || page.next_cursor === null) return true;
  const ids = idsOf(known.messages);
  return page.data.some(({ id }) => ids.has(id));
}

/**
 * Adds the newest messages, which replace known ones: they may have been edited or removed since.
 *
 * If they do not reach the known ones, those are dropped: there may be a gap between them.
 */
export function addNewest(known: KnownMessages | undefined, page: NewestPage, asOf: string): KnownMessages {
  const newest = page.data.toReversed();
  if (!known || known.messages.length === 0 || !reaches(known, page))
    return { messages: newest, olderCursor: page.next_cursor, asOf };
  const ids = idsOf(newest);
  const older = known.messages.filter(({ id }) => !ids.has(id));
  return { messages: [...older, ...newest], olderCursor: known.olderCursor, asOf };
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
