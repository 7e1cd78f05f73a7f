import { createFeedbackClass, type FeedbackElement } from './element.ts';

export type { FeedbackElement } from './element.ts';
export { addTexts, type Texts } from './texts.ts';

/**
 * Makes `<parley-feedback>` known to the page; a second call changes nothing.
 *
 * Give each element its `client` and `outbox`. It shows the user's cards one after the other, and sends when a card stops
 * being displayed: answered, dismissed, taken off the page, hidden or closed with it.
 */
export function defineFeedback(name = 'parley-feedback'): void {
  if (!customElements.get(name)) customElements.define(name, createFeedbackClass());
}

declare global {
  interface HTMLElementTagNameMap {
    'parley-feedback': FeedbackElement;
  }
}
