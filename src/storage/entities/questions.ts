import { defineEntity, p } from '@mikro-orm/postgresql';
import { indexFromMigration, int, json, moment, text, uuid } from './columns.ts';

const content = {
  type: text(),
  title: text(),
  description: text(),
  config: json<object>(),
  follow_ups: json<object>().defaultRaw("'[]'"),
  thanks: json<object>().nullable(),
  translations: json<object>().defaultRaw("'{}'"),
};

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
    locale: text().default('en'),
    audience: json<object>().nullable(),
    start_at: moment().nullable(),
    end_at: moment().nullable(),
    trigger: json<object>().nullable(),
    frequency: json<object>(),
    sampling_percent: p.double().default(100),
    response_limit: json<object>().nullable(),
    full_until: moment().nullable(),
    allow_public: p.boolean(),
    priority: int(),
    placement: text().nullable(),
    created_at: moment(),
    updated_at: moment(),
    published_at: moment().nullable(),
    closed_at: moment().nullable(),
  },
  indexes: [
    { name: 'questions_newest', properties: ['tenant_id', 'created_at', 'id'] },
    indexFromMigration('questions_starting'),
    indexFromMigration('questions_to_end'),
  ],
});

export const QuestionVersionEntity = defineEntity({
  name: 'QuestionVersion',
  tableName: 'question_versions',
  properties: {
    tenant_id: uuid().primary(),
    question_id: uuid().primary(),
    version: int().primary(),
    ...content,
    created_at: moment(),
  },
});
