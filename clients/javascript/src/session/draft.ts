import { newId } from '../ids.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Card } from '../types.ts';
import type { Content } from './content.ts';
import type { Metadata } from './metadata.ts';

/** Longest duration that servers accept, 25 days: a tab may stay open for longer, or its clock may jump. */
const LONGEST_MS = 2_147_483_647;

/** The state from which the next revision of an answer follows. */
export interface DraftState {
  id: string;
  /** Of the last revision; 0 before the first. */
  revision: number;
  displayedAt?: number | undefined;
  /** Content of the last revision. */
  written: string;
}

/** The answer to a displayed card; each change is recorded in the outbox as a revision. */
export interface Draft {
  /** Records the current state unless unchanged. The first one notes the time of display. Rejects like `Outbox.record`. */
  save(content: Content): Promise<void>;
  /** From which a later draft goes on. */
  state(): DraftState;
}

interface Parts {
  outbox: Pick<Outbox, 'record'>;
  now(): number;
  metadata: Metadata;
  /** State of an earlier draft of the same answer. */
  from?: DraftState | undefined;
}

/** The cause of the display: the event's name, the selector of the click, or the URL of the page view. */
function causeOf({ trigger }: Card): Metadata {
  if (!trigger) return {};
  const { event, click, url } = trigger;
  return { trigger: (event ?? (click ? `click: ${click}` : `url: ${url?.value}`)).slice(0, 256) };
}

/** Starts the answer to a card, or goes on with it. */
export function createDraft(card: Card, { outbox, now, metadata, from }: Parts): Draft {
  const { id, ...last }: DraftState = from ?? { id: newId(now()), revision: 0, written: '' };
  let { revision, displayedAt, written } = last;
  let isOver = false;
  return {
    state: () => ({ id, revision, displayedAt, written }),
    async save({ state, values, comment }) {
      const content = JSON.stringify([state, values, comment]);
      if (isOver || content === written) return;
      written = content;
      isOver = state === 'completed' || state === 'dismissed';
      const at = now();
      displayedAt ??= at;
      await outbox.record({
        id,
        revision: ++revision,
        card_id: card.id,
        question_id: card.question_id,
        question_version: card.question_version,
        state,
        values,
        comment,
        displayed_at: new Date(displayedAt).toISOString(),
        answered_at: state === 'partial' || state === 'completed' ? new Date(at).toISOString() : null,
        duration_ms: Math.min(Math.max(0, at - displayedAt), LONGEST_MS),
        metadata: { ...metadata, ...causeOf(card), card_locale: card.locale },
      });
    },
  };
}
