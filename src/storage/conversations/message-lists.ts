import type { Page } from '../../domain/pages.ts';
import { notFound } from '../../domain/problem.ts';
import { createList, type Order, readPage } from '../database/lists.ts';
import type { TenantStorage } from '../database/orm.ts';
import { type ConversationRow, MESSAGE_COLUMNS, type MessageRow, type Owner } from './conversation-rows.ts';
import { findConversation } from './conversations.ts';

/** How to page through the messages of a conversation. */
export interface MessagePaging {
  /** Only messages after the reply with this `seq`. */
  afterSeq: number;
  /** Only notes and events after this one; undefined for those after the reply `afterSeq`. */
  afterNoteSeq: number | undefined;
  /** Newest first instead of oldest first. */
  newestFirst: boolean;
  limit: number;
  /** The position of the last message of the previous page. */
  after: string[] | null;
}

const byNumber = (descending: boolean): Order<MessageRow> => ({
  keys: [
    ['seq', 'int'],
    ['note_seq', 'int'],
  ],
  descending,
});

/**
 * Returns the messages of a conversation in order, from either end. Notes and events, which only the team sees, are in
 * order of creation.
 */
export async function listMessages(
  tenant: TenantStorage,
  conversationId: string,
  owner: Owner | undefined,
  paging: MessagePaging,
): Promise<Page<MessageRow>> {
  const conversation = await findConversation(tenant, conversationId, owner);
  const { afterSeq, afterNoteSeq, newestFirst, limit, after } = paging;
  if (afterNoteSeq !== undefined) return listNewMessages(tenant, conversation, { ...paging, afterNoteSeq });
  const list = createList(tenant, 'messages', MESSAGE_COLUMNS, byNumber(newestFirst));
  list.access.and('conversation_id = $', conversationId);
  if (owner) {
    list.access.and('note_seq = 0 and seq = any($::int[])', repliesOfPage(paging, conversation.last_seq));
    return readPage(tenant, list, limit, null);
  }
  if (newestFirst && afterSeq > 0) list.access.and('seq >= $ and not (seq = $ and note_seq = 0)', afterSeq, afterSeq);
  return readPage(tenant, list, limit, newestFirst ? after : (after ?? [String(afterSeq), '0']));
}

/** Returns a message of a conversation. 404 for a user's request for another user's conversation, for a note or an event. */
export async function findMessage(
  tenant: TenantStorage,
  { conversationId, messageId, owner }: { conversationId: string; messageId: string; owner: Owner | undefined },
): Promise<MessageRow> {
  await findConversation(tenant, conversationId, owner);
  const [row] = await tenant.query<MessageRow>(
    `select ${MESSAGE_COLUMNS} from messages where tenant_id = $1 and conversation_id = $2 and id = $3`,
    [tenant.tenantId, conversationId, messageId],
  );
  if (!row || (owner && row.note_seq > 0)) throw notFound('message');
  return row;
}

/**
 * Returns the replies after one number and the notes and events after another. Without any, it reads no messages.
 *
 * Notes are in the order of their numbers, so all new ones are after the first new one.
 */
async function listNewMessages(
  tenant: TenantStorage,
  { id, last_seq, last_note_seq }: ConversationRow,
  { afterSeq, afterNoteSeq, newestFirst, limit, after }: MessagePaging & { afterNoteSeq: number },
): Promise<Page<MessageRow>> {
  if (last_seq <= afterSeq && last_note_seq <= afterNoteSeq) return { rows: [], next: null };
  const [first] = await tenant.query<{ seq: number; note_seq: number }>(
    `select seq, note_seq from messages where tenant_id = $1 and conversation_id = $2 and note_seq > $3 order by note_seq limit 1`,
    [tenant.tenantId, id, afterNoteSeq],
  );
  const list = createList(tenant, 'messages', MESSAGE_COLUMNS, byNumber(newestFirst));
  const start = first && first.seq <= afterSeq ? [first.seq, first.note_seq] : [afterSeq + 1, 0];
  list.access.and('conversation_id = $ and (seq, note_seq) >= ($, $)', id, ...start);
  list.filters.and('(note_seq = 0 and seq > $ or note_seq > $)', afterSeq, afterNoteSeq);
  return readPage(tenant, list, limit, after);
}

/**
 * Returns the numbers of the replies on a page, and of one more. Replies are numbered 1, 2, 3 …, so a page of them is
 * read by number, regardless of the notes in between.
 */
function repliesOfPage({ afterSeq, newestFirst, limit, after }: MessagePaging, lastSeq: number): number[] {
  const first = newestFirst ? Number(after?.[0] ?? lastSeq + 1) - 1 : Number(after?.[0] ?? afterSeq) + 1;
  const step = newestFirst ? -1 : 1;
  const numbers = Array.from({ length: limit + 1 }, (_, index) => first + step * index);
  return numbers.filter(number => number > afterSeq && number <= lastSeq);
}
