import { sideOf } from '../domain/conversations.ts';
import { newUuid } from '../domain/ids.ts';
import {
  type Author,
  CONVERSATION_COLUMNS,
  type ConversationRow,
  insertRow,
  type MessageContent,
  type MessageRow,
  type Owner,
  openWrite,
  preview,
} from './conversation-rows.ts';
import { isUniqueViolation } from './errors.ts';
import type { TenantStorage } from './orm.ts';
import { indexMessages } from './search-index.ts';
import type { Session } from './transaction.ts';

export interface Started {
  conversation: ConversationRow;
  /** False when the same `client_message_id` had started it before. */
  created: boolean;
}

/** Starts a conversation with its first message; the same `client_message_id` again gives the first one. */
export async function insertConversation(
  tenant: TenantStorage,
  owner: Owner,
  author: Author,
  start: { subject: string; message: string; client_message_id?: string | undefined },
): Promise<Started> {
  const known = await findStarted(tenant, owner, author, start.client_message_id);
  if (known) return { conversation: known, created: false };
  try {
    const conversation = await tenant.transaction(async session => {
      const { message: body, ...rest } = start;
      const first = { body, format: 'text', client_message_id: start.client_message_id } as const;
      const started = await startConversation(session, tenant.tenantId, owner, author, { ...rest, first });
      return started.conversation;
    });
    return { conversation, created: true };
  } catch (error) {
    const winner = isUniqueViolation(error)
      ? await findStarted(tenant, owner, author, start.client_message_id)
      : undefined;
    if (winner) return { conversation: winner, created: false }; // the same request, sent twice at once
    throw error;
  }
}

const sourceOf = (author: Author): ConversationRow['source_type'] => (author.type === 'system' ? 'api' : author.type);

/** Who started a conversation, for its `client_message_id`; of a user's own, the identity says it already. */
const starterOf = (author: Author): string => (author.type === 'user' ? '' : author.id);

/** Rows of the version before have an empty `started_by`: the author of the first message started the conversation. */
async function findStarted(
  tenant: TenantStorage,
  owner: Owner,
  author: Author,
  clientMessageId: string | undefined,
): Promise<ConversationRow | undefined> {
  if (clientMessageId === undefined) return undefined;
  const rows = await tenant.query<ConversationRow>(
    `select ${CONVERSATION_COLUMNS} from conversations where tenant_id = $1 and identity = $2 and identity_verified = $3
     and source_type = $4 and client_message_id = $5 and (started_by = $6 or started_by = '' and exists (
       select from messages where tenant_id = $1 and conversation_id = conversations.id and seq = 1 and note_seq = 0
         and author_id = $7))`,
    [
      ...[tenant.tenantId, owner.identity, owner.verified, sourceOf(author), clientMessageId],
      ...[starterOf(author), author.id],
    ],
  );
  return rows[0];
}

type FirstMessage = Omit<MessageContent, 'kind'>;

/**
 * Inserts a conversation and its first message.
 *
 * The conversation keeps a `client_message_id` only when the client asked for a conversation: one that follows an old
 * one is found through its message, whose id may repeat that of a message elsewhere.
 */
export async function startConversation(
  session: Session,
  tenantId: string,
  owner: Owner,
  author: Author,
  start: { subject: string; first: FirstMessage; client_message_id?: string | undefined; previous_id?: string },
): Promise<{ conversation: ConversationRow; message: MessageRow }> {
  const now = await openWrite(session);
  const side = sideOf(author.type);
  const id = newUuid();
  const rows = await session.query<ConversationRow>(
    `insert into conversations (tenant_id, id, identity, identity_verified, subject, status, priority, tags, source_type,
       client_message_id, started_by, last_seq, last_note_seq, last_preview, last_author_type, user_read_seq, team_read_seq,
       user_unread, team_unread, waiting_since, previous_id, created_at, updated_at, team_updated_at, last_activity_at)
     values ($1, $2, $3, $4, $5, 'open', 'none', '{}', $6, $7, $8, 1, 0, $9, $10, $11, $12, $13, $14, $15, $16, $17, $17, $17, $17)
     returning ${CONVERSATION_COLUMNS}`,
    [
      tenantId,
      id,
      owner.identity,
      owner.verified,
      start.subject,
      sourceOf(author),
      start.client_message_id ?? null,
      starterOf(author),
      preview(start.first.body),
      author.type,
      side === 'user' ? 1 : 0,
      side === 'team' ? 1 : 0,
      side === 'team' ? 1 : 0,
      side === 'user' ? 1 : 0,
      side === 'user' ? now : null,
      start.previous_id ?? null,
      now,
    ],
  );
  const conversation = rows[0] as ConversationRow;
  await indexMessages(session, tenantId, [{ conversation_id: id, id, text: start.subject }]);
  const content = { ...start.first, kind: 'reply' } as const;
  const message = await insertRow({ session, tenantId, author, now }, conversation.id, content, 1, 0);
  return { conversation, message };
}
