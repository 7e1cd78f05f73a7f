import { defineEntity, p } from '@mikro-orm/postgresql';
import { int, json, uuid } from './columns.ts';

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
