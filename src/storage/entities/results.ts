import { defineEntity, p } from '@mikro-orm/postgresql';
import { int, json, uuid } from './columns.ts';

/** The counts of a follow-up step, per question, day, version and kind of identity. */
export const QuestionStepResultEntity = defineEntity({
  name: 'QuestionStepResult',
  tableName: 'question_step_results',
  properties: {
    tenant_id: uuid().primary(),
    question_id: uuid().primary(),
    step: p.text().primary(),
    day: p.date().primary(),
    question_version: int().primary(),
    identity_verified: p.boolean().primary(),
    partial: int(),
    completed: int(),
    skipped: int(),
    left: int(),
    written: int(),
    scores: p.array<number>().columnType('int[]'),
    choices: json<object>(),
  },
});

export const QuestionResultEntity = defineEntity({
  name: 'QuestionResult',
  tableName: 'question_results',
  properties: {
    tenant_id: uuid().primary(),
    question_id: uuid().primary(),
    day: p.date().primary(),
    question_version: int().primary(),
    identity_verified: p.boolean().primary(),
    seen: int(),
    dismissed: int(),
    partial: int(),
    completed: int(),
    written: int(),
    scores: p.array<number>().columnType('int[]'),
    choices: json<object>(),
  },
});

/** The places that completed answers have taken of a question's limit, by period. */
export const ResponseQuotaEntity = defineEntity({
  name: 'ResponseQuota',
  tableName: 'response_quotas',
  properties: {
    tenant_id: uuid().primary(),
    question_id: uuid().primary(),
    taken: json<object>().defaultRaw("'{}'"),
  },
});
