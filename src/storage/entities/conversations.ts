import { defineEntity, p } from '@mikro-orm/postgresql';
import { identity, indexFromMigration, int, json, moment, text, textArray, uuid, uuidArray } from './columns.ts';

export const ConversationEntity = defineEntity({
  name: 'Conversation',
  tableName: 'conversations',
  properties: {
    tenant_id: uuid().primary(),
    id: uuid().primary(),
    identity: identity(),
    identity_verified: p.boolean(),
    subject: text(),
    status: text(),
    priority: text(),
    assignee_id: uuid().nullable(),
    tags: textArray(),
    source_type: text(),
    client_message_id: text().nullable(),
    started_by: text().default(''),
    last_seq: int(),
    last_note_seq: int(),
    last_preview: text(),
    last_author_type: text(),
    user_read_seq: int(),
    team_read_seq: int(),
    user_unread: int(),
    team_unread: int(),
    waiting_since: moment().nullable(),
    first_reply_at: moment().nullable(),
    resolved_at: moment().nullable(),
    previous_id: uuid().nullable(),
    created_at: moment(),
    updated_at: moment(),
    team_updated_at: moment(),
    last_activity_at: moment(),
    snoozed_until: moment().nullable(),
    merged_into_id: uuid().nullable(),
    rules_checked: int().default(0),
    assignment_rule: uuid().nullable(),
    assignment_waits: p.boolean().default(false),
    mentioned: uuidArray().defaultRaw(`'{}'`),
    reply_due_at: moment().nullable(),
    custom: json<object>().defaultRaw("'{}'"),
  },
  indexes: [
    { name: 'conversations_active', properties: ['tenant_id', 'last_activity_at', 'id'] },
    {
      name: 'conversations_of_identity',
      properties: ['tenant_id', 'identity', 'identity_verified', 'last_activity_at', 'id'],
    },
    {
      name: 'conversations_updated_of_identity',
      properties: ['tenant_id', 'identity', 'identity_verified', 'updated_at', 'id'],
    },
    { name: 'conversations_updated', properties: ['tenant_id', 'team_updated_at', 'id'] },
    { name: 'conversations_created', properties: ['tenant_id', 'created_at', 'id'] },
    indexFromMigration('conversations_counted_unread'),
    indexFromMigration('conversations_tagged'),
    indexFromMigration('conversations_words'),
    indexFromMigration('conversations_snoozed'),
    indexFromMigration('conversations_to_assign'),
    indexFromMigration('conversations_waiting'),
    indexFromMigration('conversations_held'),
    indexFromMigration('conversations_counted'),
    indexFromMigration('conversations_counted_of_assignee'),
    indexFromMigration('conversations_open_of_assignee'),
    indexFromMigration('conversations_mentioned'),
    indexFromMigration('conversations_open_mentioned'),
    indexFromMigration('conversations_due'),
  ],
  uniques: [
    {
      name: 'conversations_starter_client_id',
      properties: ['tenant_id', 'identity', 'identity_verified', 'source_type', 'started_by', 'client_message_id'],
    },
  ],
});

export const ConversationTombstoneEntity = defineEntity({
  name: 'ConversationTombstone',
  tableName: 'conversation_tombstones',
  properties: {
    tenant_id: uuid().primary(),
    id: uuid().primary(),
    identity: identity(),
    identity_verified: p.boolean(),
    deleted_at: moment(),
  },
  indexes: [
    { name: 'conversation_tombstones_in_order', properties: ['tenant_id', 'deleted_at', 'id'] },
    { name: 'conversation_tombstones_oldest', properties: ['deleted_at'] },
  ],
});

export const DeletedConversationEntity = defineEntity({
  name: 'DeletedConversation',
  tableName: 'deleted_conversations',
  properties: {
    tenant_id: uuid().primary(),
    start_hash: p.blob().primary(),
    deleted_at: moment(),
  },
  indexes: [{ name: 'deleted_conversations_oldest', properties: ['deleted_at'] }],
});
