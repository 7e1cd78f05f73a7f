import { defineEntity, p } from '@mikro-orm/postgresql';
import { identity, indexFromMigration, int, json, moment, text, textArray, uuid } from './columns.ts';

export const AnswerEntity = defineEntity({
  name: 'Answer',
  tableName: 'answers',
  properties: {
    tenant_id: uuid().primary(),
    id: uuid().primary(),
    identity: identity(),
    identity_verified: p.boolean(),
    card_id: uuid(),
    question_id: uuid(),
    question_version: int(),
    revision: int(),
    state: text(),
    values: json<object>(),
    comment: text().nullable(),
    displayed_at: moment().nullable(),
    answered_at: moment().nullable(),
    duration_ms: int().nullable(),
    metadata: json<object>(),
    content_hash: text(),
    clock_skew_ms: p.bigint().nullable(),
    tags: textArray(),
    revised_from: json<object>().nullable(),
    once_per_card: p.boolean().default(false),
    over_quota: p.boolean().default(false),
    received_at: moment(),
    stored_at: moment(),
    updated_at: moment(),
  },
  indexes: [
    { name: 'answers_newest', properties: ['tenant_id', 'received_at', 'id'] },
    { name: 'answers_of_question', properties: ['tenant_id', 'question_id', 'received_at', 'id'] },
    { name: 'answers_by_identity', properties: ['tenant_id', 'identity', 'identity_verified'] },
    { name: 'answers_updated', properties: ['tenant_id', 'updated_at', 'id'] },
    indexFromMigration('answers_tagged'),
  ],
});

export const DeletedAnswerEntity = defineEntity({
  name: 'DeletedAnswer',
  tableName: 'deleted_answers',
  properties: {
    tenant_id: uuid().primary(),
    id: uuid().primary(),
    deleted_at: moment(),
    expired: p.boolean().default(false),
  },
  indexes: [indexFromMigration('deleted_answers_newest'), indexFromMigration('deleted_answers_expired')],
});
