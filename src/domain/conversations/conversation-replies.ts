import { toTypeId } from '../ids.ts';
import { type ConversationPriority, type ConversationStatus, type Side, statusForUser } from './conversations.ts';
import type { CustomValues } from './custom-fields.ts';
import type { AuthorType } from './messages.ts';

/** A stored conversation. */
export interface StoredConversation {
  id: string;
  identity: string;
  identity_verified: boolean;
  subject: string;
  status: ConversationStatus;
  snoozed_until: Date | null;
  priority: ConversationPriority;
  assignee_id: string | null;
  tags: string[];
  source_type: 'user' | 'api' | 'member';
  last_seq: number;
  last_note_seq: number;
  last_preview: string;
  last_author_type: AuthorType;
  user_read_seq: number;
  team_read_seq: number;
  user_unread: number;
  team_unread: number;
  waiting_since: Date | null;
  first_reply_at: Date | null;
  resolved_at: Date | null;
  previous_id: string | null;
  merged_into_id: string | null;
  custom: CustomValues;
  reply_due_at: Date | null;
  created_at: Date;
  updated_at: Date;
  team_updated_at: Date;
  last_activity_at: Date;
}

const statusFor = (side: Side, { status, last_author_type }: StoredConversation) =>
  side === 'team' ? status : statusForUser(status, last_author_type);

/** The fields that only the team sees, and can change. */
const teamSettings = (row: StoredConversation) => ({
  snoozed_until: row.status === 'snoozed' ? row.snoozed_until : null,
  priority: row.priority,
  assignee_id: row.assignee_id && toTypeId('member', row.assignee_id),
  tags: row.tags,
  custom: row.custom,
});

/** The fields that only the team sees. */
const teamFields = (row: StoredConversation) => ({ ...teamSettings(row), reply_due_at: row.reply_due_at });

/** A conversation as one side sees it. Users see their own unread count and no fields of the team. */
export const presentConversation = (side: Side) => (row: StoredConversation) => ({
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

/** Returns the fields that a change can set. A message moves a conversation between `open` and `pending`, so they are equal. */
export function conversationSettings(side: Side, row: StoredConversation) {
  const status = statusFor(side, row);
  const isActive = status === 'open' || status === 'pending';
  return { subject: row.subject, status: isActive ? 'active' : status, ...(side === 'team' ? teamSettings(row) : {}) };
}
