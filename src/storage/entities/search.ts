import { defineEntity } from '@mikro-orm/postgresql';
import { indexFromMigration, moment, text, uuid } from './columns.ts';

/** The indexed words of an answer, deleted with it. */
export const AnswerWordsEntity = defineEntity({
  name: 'AnswerWords',
  tableName: 'answer_words',
  properties: {
    tenant_id: uuid().primary(),
    received_at: moment().primary(),
    id: uuid().primary(),
    words: text().columnType('tsvector'),
  },
  indexes: [indexFromMigration('answer_words_found')],
});

/** The indexed words of a message, or under the conversation's id those of its subject. */
export const MessageWordsEntity = defineEntity({
  name: 'MessageWords',
  tableName: 'message_words',
  properties: {
    tenant_id: uuid().primary(),
    conversation_id: uuid().primary(),
    id: uuid().primary(),
    words: text().columnType('tsvector'),
  },
  indexes: [indexFromMigration('message_words_found')],
});
