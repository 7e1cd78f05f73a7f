import { defineEntity, p } from '@mikro-orm/postgresql';
import type { MessageEvent } from '../../domain/conversations/conversation-events.ts';
import { indexFromMigration, int, json, moment, text, uuid, uuidArray } from './columns.ts';

export const MessageEntity = defineEntity({
  name: 'Message',
  tableName: 'messages',
  properties: {
    tenant_id: uuid().primary(),
    id: uuid().primary(),
    conversation_id: uuid(),
    seq: int(),
    note_seq: int(),
    kind: text(),
    author_type: text(),
    author_id: text().nullable(),
    body: text(),
    format: text(),
    client_message_id: text().nullable(),
    created_at: moment(),
    edited_at: moment().nullable(),
    redacted: p.boolean(),
    author_name: text().nullable(),
    event: json<MessageEvent>().nullable(),
    mentions: uuidArray().defaultRaw(`'{}'`),
  },
  indexes: [indexFromMigration('messages_notes')],
  uniques: [
    { name: 'messages_in_order', properties: ['tenant_id', 'conversation_id', 'seq', 'note_seq'] },
    {
      name: 'messages_author_client_id',
      properties: ['tenant_id', 'conversation_id', 'author_type', 'author_id', 'client_message_id'],
    },
  ],
});
