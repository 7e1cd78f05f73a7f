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

/** Texts that the previous version wrote without words. */
export const UnindexedTextEntity = defineEntity({
  name: 'UnindexedText',
  tableName: 'unindexed_texts',
  properties: { tenant_id: uuid().primary(), kind: text().primary(), id: uuid().primary() },
});

/** Progress of indexing a tenant's older texts: those below the marks have no words yet. */
export const SearchBacklogEntity = defineEntity({
  name: 'SearchBacklog',
  tableName: 'search_backlog',
  properties: { tenant_id: uuid().primary(), kind: text().primary(), before_at: moment(), before_id: uuid() },
});
