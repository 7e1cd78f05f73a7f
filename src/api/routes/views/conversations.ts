import { z } from 'zod';
import { type Side, statusForUser } from '../../../domain/conversations.ts';
import { toTypeId, typeId } from '../../../domain/ids.ts';
import type { ConversationRow, Owner } from '../../../storage/conversation-rows.ts';
import { isTeam, type Participant } from '../../caller.ts';
import { settingsTagOf } from '../../http/etag.ts';
import { type OperationReply, reply } from '../../operation.ts';

export const ConversationPath = z.object({ id: typeId('conversation') });

export const sideOfCaller = (caller: Participant): Side => (isTeam(caller) ? 'team' : 'user');

/** The owner whose conversations a caller sees: undefined (all) for the team, the user with an access token. */
export const ownerOf = (caller: Participant): Owner | undefined =>
  isTeam(caller) ? undefined : { identity: caller.identity, verified: caller.verified };

const statusFor = (side: Side, { status, last_author_type }: ConversationRow) =>
  side === 'team' ? status : statusForUser(status, last_author_type);

/** The fields that only the team sees. */
const teamFields = (row: ConversationRow) => ({
  snoozed_until: row.status === 'snoozed' ? row.snoozed_until : null,
  priority: row.priority,
  assignee_id: row.assignee_id && toTypeId('member', row.assignee_id),
  tags: row.tags,
});

/** A conversation as one side sees it. Users see their own unread count and no fields of the team. */
export const presentConversation = (side: Side) => (row: ConversationRow) => ({
  id: toTypeId('conversation', row.id),
  identity: row.identity,
  identity_verified: row.identity_verified,
  subject: row.subject,
  status: statusFor(side, row),
  ...(side === 'team' ? teamFields(row) : {}),
  source: { type: row.source_type },
  last_message: {
    seq: row.last_seq,
    preview: row.last_preview,
    author_type: row.last_author_type,
    at: row.last_activity_at,
  },
  message_count: row.last_seq,
  unread_count: row[`${side}_unread`],
  waiting_since: row.waiting_since,
  first_reply_at: row.first_reply_at,
  resolved_at: row.resolved_at,
  previous_id: row.previous_id && toTypeId('conversation', row.previous_id),
  merged_into_id: row.merged_into_id && toTypeId('conversation', row.merged_into_id),
  created_at: row.created_at,
  updated_at: side === 'team' ? row.team_updated_at : row.updated_at,
  last_activity_at: row.last_activity_at,
});

/** The fields that a change can set. A message moves a conversation between `open` and `pending`, so they are equal. */
function settingsOf(side: Side, row: ConversationRow) {
  const status = statusFor(side, row);
  const isActive = status === 'open' || status === 'pending';
  return { subject: row.subject, status: isActive ? 'active' : status, ...(side === 'team' ? teamFields(row) : {}) };
}

/**
 * Returns the entity tag of a conversation as one side sees it. Its first part changes only with the fields that a change
 * can set, so that neither messages nor read horizons refuse a change.
 */
export const conversationTag = (side: Side, row: ConversationRow): string =>
  settingsTagOf(settingsOf(side, row), presentConversation(side)(row));

/** Returns a reply with a conversation as one side sees it, and its entity tag. */
export const conversationReply = (side: Side, row: ConversationRow, parts: OperationReply = {}): OperationReply =>
  reply({
    ...parts,
    headers: { ...parts.headers, ETag: conversationTag(side, row) },
    body: presentConversation(side)(row),
  });
