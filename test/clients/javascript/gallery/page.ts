/** A page with the view and cards that the tests choose: no server, and answers are kept in `window.gallery.recorded`. */
import { addTexts, defineFeedback } from '../../../../clients/javascript/src/feedback/index.ts';
import {
  type Appearance,
  type Card,
  createClient,
  createOutbox,
  memoryStorage,
  type NewAnswer,
} from '../../../../clients/javascript/src/index.ts';
import { addPlacements } from '../../../../clients/javascript/src/placements/index.ts';
import { ar } from '../../../../clients/javascript/src/texts/ar.ts';
import { de } from '../../../../clients/javascript/src/texts/de.ts';

/** Content of a page. */
export interface Shown {
  /** One view for each list of cards. */
  views: Card[][];
  appearance?: Appearance | undefined;
  /** Name of the element. */
  name?: string;
  /** Attributes of the views. */
  attributes?: Record<string, string>;
  lang?: string;
  dir?: 'ltr' | 'rtl';
  /** Style sheet of the page. */
  css?: string;
}

declare global {
  interface Window {
    gallery: {
      show(shown: Shown): void;
      viewOf(cards: Card[], shown: Shown): HTMLElement;
      /** Defines the element under another name. */
      define(name: string): void;
      recorded: NewAnswer[];
      errors: string[];
    };
  }
}

addTexts('ar', ar);
addTexts('de', de);
addPlacements();
defineFeedback();

const recorded: NewAnswer[] = [];
const errors: string[] = [];
addEventListener('parley-error', ({ detail }) => errors.push(String(detail.error)));

function viewOf(cards: Card[], { appearance, attributes = {}, name = 'parley-feedback' }: Shown): HTMLElement {
  const client = createClient({ baseUrl: location.origin, provider: () => new Error('no requests') });
  const outbox = createOutbox(client, { storage: memoryStorage(), automatic: false });
  const view = document.createElement(name);
  for (const [name, value] of Object.entries(attributes)) view.setAttribute(name, value);
  return Object.assign(view, {
    client: { ...client, listCards: async () => cards, appearance: () => appearance },
    outbox: {
      ...outbox,
      record: async (answer: NewAnswer) => void recorded.push(answer),
      flush: async () => ({ outcome: 'done' }),
    },
  });
}

window.gallery = {
  recorded,
  errors,
  viewOf,
  define: defineFeedback,
  show(shown) {
    const { views, lang = 'en', dir = 'ltr', css = '' } = shown;
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    document.adoptedStyleSheets = [sheet];
    Object.assign(document.documentElement, { lang, dir });
    recorded.length = 0;
    document.querySelector('main')?.replaceChildren(...views.map(cards => viewOf(cards, shown)));
  },
};
