import { createFeedbackClass, type FeedbackElement } from './element.ts';

export type { FeedbackElement } from './element.ts';
export { addTexts, type Texts } from './texts.ts';

/**
 * Defines the `<parley-feedback>` element; further calls have no effect.
 *
 * Set `client` and `outbox` on each element. It shows the user's cards one at a time and sends answers when a card is
 * answered, dismissed, removed from the page, hidden or closed with it.
 */
export function defineFeedback(name = 'parley-feedback'): void {
  if (!customElements.get(name)) customElements.define(name, createFeedbackClass());
}

declare global {
  interface HTMLElementTagNameMap {
    'parley-feedback': FeedbackElement;
  }
}
