import { defineEntity } from '@mikro-orm/postgresql';
import { moment, saidInSql, text, uuid } from './columns.ts';

/** The words of an answer's texts, for searching; gone with the answer. */
export const AnswerWordsEntity = defineEntity({
  name: 'AnswerWords',
  tableName: 'answer_words',
  properties: {
    tenant_id: uuid().primary(),
    received_at: moment().primary(),
    id: uuid().primary(),
    words: text().columnType('tsvector'),
  },
  indexes: [saidInSql('answer_words_found')],
});

/** The words of a message, or under the conversation's own id those of its subject. */
export const MessageWordsEntity = defineEntity({
  name: 'MessageWords',
  tableName: 'message_words',
  properties: {
    tenant_id: uuid().primary(),
    conversation_id: uuid().primary(),
    id: uuid().primary(),
    words: text().columnType('tsvector'),
  },
  indexes: [saidInSql('message_words_found')],
});

/** Texts that were written without their words, by the version before. */
export const UnindexedTextEntity = defineEntity({
  name: 'UnindexedText',
  tableName: 'unindexed_texts',
  properties: { tenant_id: uuid().primary(), kind: text().primary(), id: uuid().primary() },
});

/** How far the texts of a tenant are indexed that were stored before there was an index: those below are not yet. */
export const SearchBacklogEntity = defineEntity({
  name: 'SearchBacklog',
  tableName: 'search_backlog',
  properties: { tenant_id: uuid().primary(), kind: text().primary(), before_at: moment(), before_id: uuid() },
});
