import { newId } from '../ids.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { AnswerState, AnswerValue, Card, NewAnswer } from '../types.ts';

/** The answer to a displayed card; each change is recorded in the outbox as a revision. */
export interface Draft {
  /** Records the current state unless unchanged. Never rejects. */
  save(state: AnswerState, values?: Record<string, AnswerValue>, comment?: string): Promise<void>;
}

interface Parts {
  outbox: Outbox;
  now(): number;
  metadata: Record<string, string>;
  /** Called if an answer could not be recorded, for example because the disk is full. */
  onError(error: unknown): void;
}

/** Starts the answer to a newly displayed card. */
export function createDraft(card: Card, { outbox, now, metadata, onError }: Parts): Draft {
  const displayedAt = now();
  const id = newId(displayedAt);
  let revision = 0;
  let written = '';
  let isOver = false;
  return {
    async save(state, values = {}, comment = '') {
      const content = JSON.stringify([state, values, comment]);
      if (isOver || content === written) return;
      written = content;
      isOver = state === 'completed' || state === 'dismissed';
      const at = now();
      const answer: NewAnswer = {
        id,
        revision: ++revision,
        card_id: card.id,
        question_id: card.question_id,
        question_version: card.question_version,
        state,
        values,
        comment: comment === '' ? null : comment,
        displayed_at: new Date(displayedAt).toISOString(),
        answered_at: state === 'partial' || state === 'completed' ? new Date(at).toISOString() : null,
        duration_ms: Math.max(0, at - displayedAt),
        metadata,
      };
      await outbox.record(answer).catch(onError);
    },
  };
}
