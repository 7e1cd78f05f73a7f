import { newId } from '../ids.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { AnswerState, AnswerValue, Card, NewAnswer } from '../types.ts';

/** The answer to a card while it is shown: each state of it a revision, written to the outbox as it happens. */
export interface Draft {
  /** Writes down where the answer stands; what has not changed is not written again. Never rejects. */
  save(state: AnswerState, values?: Record<string, AnswerValue>, comment?: string): Promise<void>;
}

interface Parts {
  outbox: Outbox;
  now(): number;
  metadata: Record<string, string>;
  /** Hears why an answer could not be written down, such as a full disk. */
  onError(error: unknown): void;
}

/** Begins the answer to a card that appears now. */
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
