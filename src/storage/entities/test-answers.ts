import { defineEntity, p } from '@mikro-orm/postgresql';
import { int, json, moment, text, uuid } from './columns.ts';

export const TestAnswerEntity = defineEntity({
  name: 'TestAnswer',
  tableName: 'test_answers',
  properties: {
    tenant_id: uuid().primary(),
    id: uuid().primary(),
    question_id: uuid(),
    question_version: int(),
    member_id: uuid(),
    card_id: uuid(),
    revision: int(),
    state: text(),
    values: json<Record<string, unknown>>(),
    comment: text().nullable(),
    displayed_at: moment().nullable(),
    answered_at: moment().nullable(),
    duration_ms: int().nullable(),
    metadata: json<Record<string, unknown>>(),
    clock_skew_ms: p.bigint('string').nullable(),
    received_at: moment(),
    updated_at: moment(),
  },
  indexes: [
    { name: 'test_answers_of_question', properties: ['tenant_id', 'question_id', 'received_at'] },
    { name: 'test_answers_oldest', properties: ['received_at'] },
  ],
});
