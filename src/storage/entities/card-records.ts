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

/** Progress of adding the values of a tenant's older answers to card records: those below the mark are not added yet. */
export const CardValueBacklogEntity = defineEntity({
  name: 'CardValueBacklog',
  tableName: 'card_value_backlog',
  properties: { tenant_id: uuid().primary(), before_at: moment(), before_id: uuid() },
});
