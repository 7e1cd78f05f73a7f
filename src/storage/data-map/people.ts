import { DELETIONS_SHOWN_DAYS } from '../../domain/conversations/conversations.ts';
import { PROFILE_CHANGES_KEPT, PROFILE_CHANGES_KEPT_DAYS } from '../../domain/people/profile-changes.ts';
import { TOMBSTONE_DAYS } from '../tenants/retention.ts';
import type { TableEntry } from './entry.ts';

const ANSWERS_KEPT = 'the tenant’s `retention.answers_days`; without it, until deleted';
const CONVERSATIONS_KEPT =
  'the tenant’s `retention.conversations_days` after the last activity, once resolved; without it, until deleted';
const WITH_TENANT = 'as long as the tenant';

/** Tables with answers of people, and how each of them met the questions. */
export const ANSWERS: Record<string, TableEntry> = {
  answers: {
    why: 'the answers that people have given, for the team to read and count',
    kept: ANSWERS_KEPT,
    person: { by: 'identity', erasure: 'delete', export: 'answers' },
    identity: 'identity identity_verified',
    words: 'values comment revised_from',
    about: `question_id question_version state displayed_at answered_at duration_ms metadata tags received_at clock_skew_ms`,
    technical: 'tenant_id id card_id revision content_hash stored_at updated_at once_per_card over_quota',
  },
  answer_words: {
    why: 'the index for searching answers',
    kept: 'as long as the answer',
    person: { by: 'answers', erasure: 'delete', export: { omit: 'the answers contain the same words' } },
    words: 'words',
    technical: 'tenant_id received_at id',
  },
  card_records: {
    why: 'which questions a person has seen, dismissed and answered, so that none is asked too often',
    kept: `${WITH_TENANT}; \`last_value\` as long as its answer`,
    person: { by: 'identity', erasure: 'delete', export: 'cards' },
    identity: 'identity identity_verified',
    words: 'last_value',
    about: 'question_id shown_at dismissed_at answered_at displays last_answer_id',
    technical: 'tenant_id counted_answer_id counted_completed counted_before counted_since',
  },
  quarantined_answers: {
    why: 'accepted answers that could not be stored, with the reason, so that they can be stored later',
    kept: `until stored or discarded by the team, at most ${ANSWERS_KEPT}`,
    person: { by: 'content', erasure: 'delete', export: 'quarantined' },
    words: 'payload',
    about: 'reason detail quarantined_at',
    technical: 'tenant_id id answer_id',
  },
  deleted_answers: {
    why: 'ids of deleted answers, so that a late copy is not stored again',
    kept: `${TOMBSTONE_DAYS} days after an answer expired; ${WITH_TENANT} if it was deleted by the team`,
    technical: 'tenant_id id deleted_at expired',
  },
  vanished_answers: {
    why: 'ids of answers that were removed by other means than Parley, to report the loss',
    kept: WITH_TENANT,
    technical: 'tenant_id id vanished_at',
  },
};

/** Tables with conversations and their messages. */
export const CONVERSATIONS: Record<string, TableEntry> = {
  conversations: {
    why: 'conversations of people with the team',
    kept: CONVERSATIONS_KEPT,
    person: { by: 'identity', erasure: 'delete', export: 'conversations' },
    identity: 'identity identity_verified',
    words: 'subject last_preview',
    about: `status priority tags custom source_type created_at updated_at last_activity_at waiting_since first_reply_at resolved_at
      snoozed_until reply_due_at user_read_seq user_unread previous_id merged_into_id last_author_type`,
    team: 'assignee_id mentioned started_by team_read_seq team_unread team_updated_at',
    technical: `tenant_id id client_message_id last_seq last_note_seq rules_checked assignment_rule assignment_waits`,
  },
  messages: {
    why: 'messages of people and of the team, notes of the team, and changes of a conversation',
    kept: 'as long as the conversation; the text of a message until its author removes it',
    person: { by: 'conversations', erasure: 'delete', export: 'messages' },
    identity: 'author_id',
    words: 'body',
    about: 'kind author_type created_at edited_at redacted event',
    team: 'author_name mentions',
    technical: 'tenant_id id conversation_id seq note_seq format client_message_id',
  },
  message_words: {
    why: 'the index for searching messages and subjects',
    kept: 'as long as the message',
    person: { by: 'conversations', erasure: 'delete', export: { omit: 'the messages contain the same words' } },
    words: 'words',
    technical: 'tenant_id conversation_id id',
  },
  conversation_tombstones: {
    why: 'deleted conversations, so that apps and other systems can delete their copies',
    kept: `${DELETIONS_SHOWN_DAYS} days`,
    person: { by: 'identity', erasure: { digest: 'identity' }, export: { omit: 'the conversation no longer exists' } },
    identity: 'identity identity_verified',
    about: 'deleted_at',
    technical: 'tenant_id id',
  },
  deleted_conversations: {
    why: 'hashes of the requests that started deleted conversations, so that a late copy does not start them again',
    kept: `${TOMBSTONE_DAYS} days`,
    person: {
      by: 'content',
      erasure: { keep: `a hash without any text, deleted after ${TOMBSTONE_DAYS} days` },
      export: { omit: 'the conversation no longer exists' },
    },
    identity: 'start_hash',
    technical: 'tenant_id deleted_at',
  },
};

/** Tables with profiles. */
export const PROFILES: Record<string, TableEntry> = {
  identities: {
    why: 'attributes of people that the tenant has sent, to choose whom to ask and to help the team reply',
    kept: WITH_TENANT,
    person: { by: 'identity', erasure: 'delete', export: 'profiles' },
    identity: 'identity identity_verified id',
    about: 'attributes locale platform app_version created_at updated_at',
    technical: 'tenant_id',
  },
  profile_changes: {
    why: 'the last changes of each profile, for the team to see',
    kept: `${PROFILE_CHANGES_KEPT_DAYS} days, at most ${PROFILE_CHANGES_KEPT} for each person; values of a removed attribute until its removal`,
    person: { by: 'identities', erasure: 'delete', export: 'profiles' },
    identity: 'identity_id',
    about: 'at changes',
    team: 'by',
    technical: 'tenant_id number',
  },
};
