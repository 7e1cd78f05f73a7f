import type { Content } from '../session/content.ts';
import type { Card } from '../types.ts';
import { createFeedbackClass, type FeedbackElement } from './element.ts';

export type { Content } from '../session/content.ts';
export type { FeedbackElement } from './element.ts';
export { addTexts, type Texts } from './texts.ts';

/** `detail` of the event `parley-answer`: the card, and the content that the user has sent or dismissed. */
export interface AnswerDetail extends Content {
  card: Card;
}

/** `detail` of each event of the element. */
export interface FeedbackEvents {
  'parley-cards': { count: number };
  'parley-answer': AnswerDetail;
  'parley-done': Record<string, never>;
  'parley-error': { error: unknown };
}

/**
 * Defines the `<parley-feedback>` element; further calls have no effect, as do calls during server-side rendering.
 *
 * Set `client` and `outbox` on each element. It shows the user's cards one at a time and sends answers when a card is
 * answered, dismissed, removed from the page, hidden or closed with it.
 */
export function defineFeedback(name = 'parley-feedback'): void {
  if (typeof customElements === 'undefined' || customElements.get(name)) return;
  customElements.define(name, createFeedbackClass());
}

type EventMap = { [Name in keyof FeedbackEvents]: CustomEvent<FeedbackEvents[Name]> };

declare global {
  interface HTMLElementTagNameMap {
    'parley-feedback': FeedbackElement;
  }
  interface HTMLElementEventMap extends EventMap {}
}
