import type { ConversationStatus } from '../../words.ts';
import type { Message } from './message-pages.ts';

/** A message as the thread shows it. */
export interface MessageRow {
  message: Message;
  /** The status that a reply has led to. Its event has no row of its own. */
  status?: ConversationStatus;
}

/** Whether two messages were written by one request: with the same time and author. */
const areTogether = (one: Message, other: Message): boolean =>
  one.created_at === other.created_at && one.author.type === other.author.type && one.author.id === other.author.id;

/** Whether another event of the same request makes the event of a status redundant. */
function isSaidBy(event: Message, others: readonly Message[]): boolean {
  const to = event.event?.field === 'status' ? event.event.to : undefined;
  const field = to === 'snoozed' ? 'snoozed_until' : to === 'resolved' ? 'merged_into_id' : undefined;
  return others.some(other => field !== undefined && other.event?.field === field && areTogether(event, other));
}

/** Events of one request are near each other. */
const NEAR = 8;

/**
 * Returns the rows of a thread. The event of a status that a reply has caused belongs to the reply, and a snooze or a
 * merge is one row instead of two.
 */
export function rowsOf(messages: readonly Message[]): MessageRow[] {
  const rows: MessageRow[] = [];
  messages.forEach((message, at) => {
    const last = rows.at(-1);
    const isStatus = message.event?.field === 'status';
    if (isStatus && last?.message.kind === 'reply' && areTogether(last.message, message))
      rows[rows.length - 1] = { ...last, status: message.event?.to as ConversationStatus };
    else if (!isStatus || !isSaidBy(message, messages.slice(at + 1, at + NEAR))) rows.push({ message });
  });
  return rows;
}
