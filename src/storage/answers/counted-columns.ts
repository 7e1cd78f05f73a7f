import type { Counted } from '../../domain/answers/counts.ts';

/** The contribution of one answer to its question's results. */
export interface CountedAnswer extends Counted {
  tenant_id: string;
  question_id: string;
  identity_verified: boolean;
}

/** An answer that starts or stops to be counted. */
export interface CountChange {
  answer: CountedAnswer;
  by: 1 | -1;
}

/** Selects counts of a question. Days are UTC, both inclusive. */
export interface ResultsFilter {
  from?: string | undefined;
  to?: string | undefined;
  version?: number | undefined;
  verified?: boolean | undefined;
}

/** `Counted` of a row of `answers` as JSON, and whether the row competes with others for its card. */
export const COUNTED = `jsonb_build_object(
  'day', (answers.received_at at time zone 'UTC')::date,
  'question_version', answers.question_version,
  'state', answers.state,
  'value', case when jsonb_typeof(answers."values"->'main') <> 'string' then answers."values"->'main' end,
  'written', written_text(answers.comment, answers."values") is not null,
  'values', counted_values(answers."values"),
  'once_per_card', answers.once_per_card,
  'over_quota', answers.over_quota)`;

/**
 * SQL condition for an answer that is counted in the results; false beyond the question's limit, and while another
 * answer is counted for its card.
 *
 * Not `exists (…)`, which PostgreSQL may plan as a hash of all card records.
 */
export const IS_COUNTED = `(not answers.over_quota and (not answers.once_per_card or answers.state in ('seen', 'dismissed') or coalesce((
  select record.counted_answer_id from card_records as record
  where record.tenant_id = answers.tenant_id and record.identity = answers.identity
    and record.identity_verified = answers.identity_verified and record.question_id = answers.question_id
) = answers.id, false)))`;
