import { defineEntity, p } from '@mikro-orm/postgresql';
import { int, json, moment, text, uuid } from './columns.ts';

const content = { type: text(), title: text(), description: text(), config: json<object>() };

export const QuestionEntity = defineEntity({
  name: 'Question',
  tableName: 'questions',
  properties: {
    tenant_id: uuid().primary(),
    id: uuid().primary(),
    name: text(),
    status: text(),
    version: int(),
    ...content,
    frequency: json<object>(),
    allow_public: p.boolean(),
    priority: int(),
    created_at: moment(),
    updated_at: moment(),
    published_at: moment().nullable(),
    closed_at: moment().nullable(),
  },
  indexes: [{ name: 'questions_newest', properties: ['tenant_id', 'created_at', 'id'] }],
});

export const QuestionVersionEntity = defineEntity({
  name: 'QuestionVersion',
  tableName: 'question_versions',
  properties: {
    tenant_id: uuid().primary(),
    question_id: uuid().primary(),
    version: int().primary(),
    type: text(),
    title: text(),
    description: text(),
    config: json<object>(),
    created_at: moment(),
  },
});
