import { sideOf } from '../../domain/conversations/conversations.ts';
import { MESSAGE_EDIT_MINUTES } from '../../domain/conversations/messages.ts';
import { MINUTE_MS } from '../../domain/durations.ts';
import { notFound, Problem } from '../../domain/problem.ts';
import type { TenantStorage } from '../database/orm.ts';
import { writeEvents } from '../events/events.ts';
import { indexMessages } from '../search/search-index.ts';
import {
  type Author,
  type ConversationRow,
  MESSAGE_COLUMNS,
  type MessageRow,
  messageEvent,
  type Owner,
  openWrite,
  preview,
  readConversation,
  type Writing,
} from './conversation-rows.ts';

/** A change by the author. A redacted message keeps its position and loses its text. */
export type MessageChange = { body: string; format: 'text' | 'markdown' | undefined } | 'redact';

/**
 * Edits or redacts a message: only by its author, within 15 minutes. `isChanged` is false if the message was already like
 * that. `check` may refuse the message as it is before.
 */
export const changeMessage = (
  tenant: TenantStorage,
  { conversationId, messageId, owner }: { conversationId: string; messageId: string; owner: Owner | undefined },
  author: Author,
  change: MessageChange,
  check: (before: MessageRow) => void = () => {},
): Promise<{ message: MessageRow; isChanged: boolean }> =>
  tenant.transaction(async tx => {
    const conversation = await readConversation(tx, tenant.tenantId, conversationId, owner, 'for update');
    const now = await openWrite(tx);
    const writing = { tx, tenantId: tenant.tenantId, author, now };
    const redact = change === 'redact';
    const message = await readOwnMessage(writing, conversationId, messageId);
    check(message);
    if (redact && message.redacted) return { message, isChanged: false }; // a repeated request
    requireEditable(message, now);
    const [body, format] = redact ? ['', message.format] : [change.body, change.format ?? message.format];
    if (!redact && body === message.body && format === message.format) return { message, isChanged: false };
    const rows = await tx.query<MessageRow>(
      `update messages set body = $4, format = $5, redacted = $6, edited_at = $7,
         mentions = case when $6 then '{}' else mentions end
       where tenant_id = $1 and conversation_id = $2 and id = $3 returning ${MESSAGE_COLUMNS}`,
      [tenant.tenantId, conversationId, messageId, body, format, redact, now],
    );
    await indexMessages(tx, tenant.tenantId, [{ conversation_id: conversationId, id: messageId, text: body }]);
    await applyEdit(writing, conversation, message, body);
    await writeEvents(tx, [messageEvent(writing, redact ? 'message.redacted' : 'message.updated', message)]);
    if (redact && message.mentions.length > 0) await forgetMentions(writing, conversationId);
    return { message: rows[0] as MessageRow, isChanged: true };
  });

async function readOwnMessage(
  { tx, tenantId, author }: Writing,
  conversationId: string,
  messageId: string,
): Promise<MessageRow> {
  const rows = await tx.query<MessageRow>(
    `select ${MESSAGE_COLUMNS} from messages where tenant_id = $1 and conversation_id = $2 and id = $3`,
    [tenantId, conversationId, messageId],
  );
  const message = rows[0];
  const visible = message && (sideOf(author.type) === 'team' || message.note_seq === 0);
  if (!message || !visible) throw notFound('message');
  if (message.author_type !== author.type || message.author_id !== author.id || message.kind === 'event')
    throw new Problem('insufficient-scope', 'Only the author can change a message.');
  return message;
}

/** Throws 409 for a message that is too old to be changed, or was redacted. */
function requireEditable({ created_at, redacted }: MessageRow, now: Date): void {
  const ageMs = now.getTime() - created_at.getTime();
  if (redacted || ageMs > MESSAGE_EDIT_MINUTES * MINUTE_MS)
    throw new Problem(
      'message-not-editable',
      `A message can be changed only for ${MESSAGE_EDIT_MINUTES} minutes after it was sent.`,
    );
}

async function applyEdit(
  { tx, tenantId, now }: Writing,
  conversation: ConversationRow,
  message: MessageRow,
  body: string,
): Promise<void> {
  const isReply = message.note_seq === 0;
  const isLast = isReply && message.seq === conversation.last_seq;
  await tx.query(
    `update conversations set last_preview = $3, updated_at = $4, team_updated_at = $5 where tenant_id = $1 and id = $2`,
    [
      tenantId,
      conversation.id,
      isLast ? preview(body) : conversation.last_preview,
      isReply ? now : conversation.updated_at,
      now,
    ],
  );
}

/** Sets the members that the notes of a conversation mention, after one of them lost its mentions. */
const forgetMentions = ({ tx, tenantId }: Writing, conversationId: string): Promise<unknown> =>
  tx.query(
    `update conversations set mentioned = array(
       select distinct unnest(mentions) from messages where tenant_id = $1 and conversation_id = $2 and note_seq > 0)
     where tenant_id = $1 and id = $2`,
    [tenantId, conversationId],
  );
