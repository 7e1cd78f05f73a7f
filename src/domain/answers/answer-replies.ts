import { toTypeId } from '../ids.ts';
import type { AnswerState } from './answers.ts';

/** A stored answer. */
export interface StoredAnswer {
  id: string;
  identity: string;
  identity_verified: boolean;
  card_id: string;
  question_id: string;
  question_version: number;
  revision: number;
  state: AnswerState;
  values: Record<string, unknown>;
  comment: string | null;
  displayed_at: Date | null;
  answered_at: Date | null;
  duration_ms: number | null;
  metadata: Record<string, unknown>;
  clock_skew_ms: string | null;
  tags: string[];
  /** False beyond the question's limit, and while another answer to the same card is counted in the results. */
  counted: boolean;
  /** Beyond the question's limit when it was completed. */
  over_quota: boolean;
  received_at: Date;
  stored_at: Date;
  updated_at: Date;
}

/** Returns a stored answer as its own user sees it (`OwnAnswer`). */
export function presentOwnAnswer(row: StoredAnswer) {
  const { tags, updated_at, ...own } = presentAnswer(row);
  return own;
}

/** Returns a stored answer as the team sees it. */
export const presentAnswer = (row: StoredAnswer) => ({
  id: row.id,
  revision: row.revision,
  card_id: toTypeId('card', row.card_id),
  question_id: toTypeId('question', row.question_id),
  question_version: row.question_version,
  state: row.state,
  values: row.values,
  comment: row.comment,
  displayed_at: row.displayed_at,
  answered_at: row.answered_at,
  duration_ms: row.duration_ms,
  metadata: row.metadata,
  identity: row.identity,
  identity_verified: row.identity_verified,
  received_at: row.received_at,
  stored_at: row.stored_at,
  updated_at: row.updated_at,
  clock_skew_ms: row.clock_skew_ms === null ? null : Number(row.clock_skew_ms),
  tags: row.tags,
  counted: row.counted,
  over_quota: row.over_quota,
  status: 'stored',
});
