import { defineEntity, p } from '@mikro-orm/postgresql';
import { identity, int, json, moment, uuid } from './columns.ts';

export const CardRecordEntity = defineEntity({
  name: 'CardRecord',
  tableName: 'card_records',
  properties: {
    tenant_id: uuid().primary(),
    identity: identity().primary(),
    identity_verified: p.boolean().primary(),
    question_id: uuid().primary(),
    shown_at: moment(),
    dismissed_at: moment().nullable(),
    answered_at: moment().nullable(),
    counted_answer_id: uuid().nullable(),
    counted_completed: p.boolean().default(false),
    counted_before: uuid().nullable(),
    displays: int().default(1),
    last_value: json<unknown>().nullable(),
    last_answer_id: uuid().nullable(),
    counted_since: moment().nullable(),
  },
});
