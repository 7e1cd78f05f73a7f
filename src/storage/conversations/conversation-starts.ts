import { sideOf } from '../../domain/conversations/conversations.ts';
import { replyDueAt } from '../../domain/conversations/reply-targets.ts';
import { causedBy } from '../../domain/events/events.ts';
import { newUuid } from '../../domain/ids.ts';
import { Problem } from '../../domain/problem.ts';
import type { TenantStorage } from '../database/orm.ts';
import type { Transaction } from '../database/transaction.ts';
import { writeEvents } from '../events/events.ts';
import { indexMessages } from '../search/search-index.ts';
import { markTenant } from '../tenants/marked-tenants.ts';
import { readReplyPlan } from '../tenants/tenants.ts';
import { mayOpen, tooManyActive } from './active-conversations.ts';
import {
  type Author,
  CONVERSATION_COLUMNS,
  type ConversationRow,
  insertRow,
  MESSAGE_COLUMNS,
  type MessageContent,
  type MessageRow,
  messageEvent,
  type Owner,
  openWrite,
  preview,
} from './conversation-rows.ts';

export interface Started {
  conversation: ConversationRow;
  /** False when the same `client_message_id` had started it before. */
  created: boolean;
}

/**
 * Starts a conversation with its first message. The same `client_message_id` again returns the first one; 409 with
 * another text, 410 once that conversation was deleted. 409 for a user who has too many already.
 */
export async function insertConversation(
  tenant: TenantStorage,
  owner: Owner,
  author: Author,
  start: { subject: string; message: string; client_message_id?: string | undefined },
): Promise<Started> {
  const known = await findStarted(tenant, owner, author, start);
  if (known) return { conversation: known, created: false };
  const started = await tenant.transaction(async tx => {
    await refuseDeletedStart(tx, tenant.tenantId, owner, author, { clientMessageId: start.client_message_id });
    if (!(await mayOpen(tx, tenant.tenantId, owner, author))) return tooManyActive();
    const { message: body, ...rest } = start;
    const first = { body, format: 'text', client_message_id: start.client_message_id } as const;
    return startConversation(tx, tenant.tenantId, owner, author, { ...rest, first });
  });
  if (started && 'conversation' in started) return { conversation: started.conversation, created: true };
  const winner = await findStarted(tenant, owner, author, start); // of the same request, sent twice concurrently
  if (!winner) throw started ?? startDeleted();
  return { conversation: winner, created: false };
}

const sourceOf = (author: Author): ConversationRow['source_type'] => (author.type === 'system' ? 'api' : author.type);

/**
 * The starter of a conversation, as the scope of its `client_message_id`. Empty for users, whose identity is a column
 * already.
 */
const starterOf = (author: Author): string => (author.type === 'user' ? '' : author.id);

/** In rows of the previous version `started_by` is empty; the author of the first message is the starter. */
async function findStarted(
  tenant: TenantStorage,
  owner: Owner,
  author: Author,
  { message, client_message_id: clientMessageId }: { message: string; client_message_id?: string | undefined },
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
  if (rows[0]) requireSameText(await findFirstMessage(tenant, rows[0].id), message);
  return rows[0];
}

const findFirstMessage = async (tenant: TenantStorage, conversationId: string): Promise<MessageRow | undefined> =>
  (
    await tenant.query<MessageRow>(
      `select ${MESSAGE_COLUMNS} from messages where tenant_id = $1 and conversation_id = $2 and seq = 1 and note_seq = 0`,
      [tenant.tenantId, conversationId],
    )
  )[0];

/**
 * Throws 409 when a message that a request repeats has another text. The text of an edited or redacted message is no
 * longer that of the first request, so it is not compared.
 */
export function requireSameText(known: MessageRow | undefined, body: string): void {
  if (!known || known.edited_at !== null || known.body === body) return;
  throw new Problem('message-conflict', 'The client_message_id was used for a message with another text.');
}

/**
 * Throws 410 when a conversation that was started under the same `client_message_id` has been deleted: a late retry
 * must not create it again. `previousId` is the conversation that it continues.
 */
export async function refuseDeletedStart(
  tx: Transaction,
  tenantId: string,
  owner: Owner,
  author: Author,
  { clientMessageId, previousId }: { clientMessageId: string | undefined; previousId?: string },
): Promise<void> {
  if (clientMessageId === undefined) return;
  const deleted = await tx.query(
    `select from deleted_conversations
     where tenant_id = $1 and start_hash = conversation_start_hash($2, $3, $4, $5, $6, $7)`,
    [tenantId, owner.identity, owner.verified, previousId ?? null, author.type, author.id, clientMessageId],
  );
  if (deleted.length > 0) throw startDeleted();
}

const startDeleted = (): Problem =>
  new Problem('conversation-deleted', 'The conversation that was started with this client_message_id was deleted.');

/** Finds the rows before it sorts them: an index in their order would be all conversations of the tenant. */
export const FOLLOW_UP = `with continued as materialized (
    select id, created_at from conversations
    where tenant_id = $1 and identity = $2 and identity_verified = $3 and previous_id = $4
      and merged_into_id is distinct from $4 and not id = any($5::uuid[])
  )
  select id from continued order by created_at desc, id desc limit 1`;

/**
 * Returns the id of the conversation started in place of a stale one, so that a second message does not start another. Not
 * one that leads back, because the team has merged it into the stale one. `ids` are those on the way to the stale one.
 */
export async function readFollowUp(
  tx: Transaction,
  tenantId: string,
  { conversation: stale, ids }: { conversation: ConversationRow; ids: readonly string[] },
): Promise<string | undefined> {
  const params = [tenantId, stale.identity, stale.identity_verified, stale.id, ids];
  const rows = await tx.query<{ id: string }>(FOLLOW_UP, params);
  return rows[0]?.id;
}

type FirstMessage = Omit<MessageContent, 'kind'>;

/** A conversation that was just started, with its first message. */
interface NewConversationRows {
  conversation: ConversationRow;
  message: MessageRow;
}

/**
 * Inserts a conversation and its first message. Undefined if a concurrent request with the same `client_message_id` has
 * just done so. No unique key is violated, because that would end the transaction of an `Idempotency-Key`.
 *
 * The `client_message_id` is stored only if the client requested a conversation. A follow-up conversation is found
 * through its message, whose id may repeat that of another message.
 */
export async function startConversation(
  tx: Transaction,
  tenantId: string,
  owner: Owner,
  author: Author,
  start: { subject: string; first: FirstMessage; client_message_id?: string | undefined; previous_id?: string },
): Promise<NewConversationRows | undefined> {
  const side = sideOf(author.type);
  const [now, plan] = await Promise.all([openWrite(tx), side === 'user' ? readReplyPlan(tx, tenantId) : undefined]);
  const id = newUuid();
  const rows = await tx.query<ConversationRow>(
    `insert into conversations (tenant_id, id, identity, identity_verified, subject, status, priority, tags, source_type,
       client_message_id, started_by, last_seq, last_note_seq, last_preview, last_author_type, user_read_seq, team_read_seq,
       user_unread, team_unread, waiting_since, previous_id, created_at, updated_at, team_updated_at, last_activity_at, reply_due_at)
     values ($1, $2, $3, $4, $5, 'open', 'none', '{}', $6, $7, $8, 1, 0, $9, $10, $11, $12, $13, $14, $15, $16, $17, $17, $17, $17, $18)
     on conflict do nothing returning ${CONVERSATION_COLUMNS}`,
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
      plan ? replyDueAt(now, 'none', plan) : null,
    ],
  );
  const [conversation] = rows;
  if (!conversation) return undefined;
  await indexMessages(tx, tenantId, [{ conversation_id: id, id, text: start.subject }]);
  const content = { ...start.first, kind: 'reply' } as const;
  const message = await insertRow({ tx, tenantId, author, now }, conversation.id, content, 1, 0);
  const object = { type: 'conversation', id } as const;
  const written = writeEvents(tx, [
    { tenantId, type: 'conversation.created', object, data: { by: causedBy(author) } },
    messageEvent({ tenantId, author }, 'message.created', message),
  ]);
  await Promise.all([written, markTenant(tx, tenantId, 'assignment')]);
  return { conversation, message };
}
