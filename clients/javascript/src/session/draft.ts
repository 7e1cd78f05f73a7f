import { newId } from '../ids.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Card } from '../types.ts';
import type { Content } from './content.ts';
import type { Metadata } from './metadata.ts';

/** Longest duration that servers accept, 25 days: a tab may stay open for longer, or its clock may jump. */
const LONGEST_MS = 2_147_483_647;

/** The answer to a displayed card; each change is recorded in the outbox as a revision. */
export interface Draft {
  /** Records the current state unless unchanged. The first one notes the time of display. Rejects like `Outbox.record`. */
  save(content: Content): Promise<void>;
}

interface Parts {
  outbox: Pick<Outbox, 'record'>;
  now(): number;
  metadata: Metadata;
}

/** The cause of the display: the event's name, the selector of the click, or the URL of the page view. */
function causeOf({ trigger }: Card): Metadata {
  if (!trigger) return {};
  const { event, click, url } = trigger;
  return { trigger: (event ?? (click ? `click: ${click}` : `url: ${url?.value}`)).slice(0, 256) };
}

/** Starts the answer to a card. */
export function createDraft(card: Card, { outbox, now, metadata }: Parts): Draft {
  const id = newId(now());
  let displayedAt: number | undefined;
  let revision = 0;
  let written = '';
  let isOver = false;
  return {
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
