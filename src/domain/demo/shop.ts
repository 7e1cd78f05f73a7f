/** Questions and answers of a small shop: the data of a demo tenant, and of the screenshots. */

import type { AnswerState } from '../answers/answers.ts';
import { DAY_MS } from '../durations.ts';

/** Days of answers. */
const DAYS = 42;

/** The published questions, as request bodies of `POST /v1/questions`. */
export const QUESTIONS = [
  {
    key: 'nps',
    type: 'nps',
    title: 'How likely are you to recommend Nordlicht to a friend?',
    name: 'Recommendation',
    config: { labels: { low: 'Not at all', high: 'Very likely' } },
    follow_ups: [
      {
        key: 'reason',
        type: 'single_choice',
        title: 'What should we improve first?',
        config: {
          options: [
            { id: 'delivery', label: 'Delivery' },
            { id: 'price', label: 'Price' },
            { id: 'app', label: 'The app' },
            { id: 'coffee', label: 'The coffee' },
          ],
          allow_other: true,
        },
        show_if: { step: 'main', op: 'lte', value: 8 },
      },
      {
        key: 'details',
        type: 'text',
        title: 'What happened?',
        show_if: {
          all: [
            { step: 'main', op: 'lte', value: 6 },
            { step: 'reason', op: 'in', value: ['delivery', 'app'] },
          ],
        },
      },
    ],
    thanks: {
      title: 'Thank you!',
      body: 'We read every answer, {{identity.attributes.name|usually within a day}}.',
      link: { label: 'What we changed this month', url: 'https://nordlicht.example/news' },
    },
    locale: 'en',
    translations: {
      de: {
        title: 'Wie wahrscheinlich empfiehlst du Nordlicht weiter?',
        config: { labels: { low: 'Gar nicht', high: 'Sehr wahrscheinlich' } },
        follow_ups: {
          reason: {
            title: 'Was sollen wir zuerst verbessern?',
            config: { options: { delivery: 'Lieferung', price: 'Preis', app: 'Die App', coffee: 'Den Kaffee' } },
          },
          details: { title: 'Was ist passiert?' },
        },
        thanks: {
          title: 'Danke!',
          body: 'Wir lesen jede Antwort, {{identity.attributes.name|meist noch am selben Tag}}.',
          link: { label: 'Was wir diesen Monat geändert haben' },
        },
      },
    },
    frequency: { repeat: 'always', ignore_cooldown: true },
  },
  {
    key: 'csat',
    type: 'csat',
    title: 'How was your last order?',
    name: 'After delivery',
    config: { style: 'smiley' },
    locale: 'en',
    translations: { de: { title: 'Wie war deine letzte Bestellung?' } },
    frequency: { repeat: 'always', ignore_cooldown: true },
  },
  {
    key: 'choice',
    type: 'single_choice',
    title: 'What do you brew with?',
    name: 'Brewing',
    config: {
      options: [
        { id: 'filter', label: 'Hand filter' },
        { id: 'espresso', label: 'Espresso machine with a portafilter' },
        { id: 'press', label: 'French press' },
        { id: 'moka', label: 'Moka pot' },
      ],
      allow_other: true,
    },
  },
  {
    key: 'thumbs',
    type: 'thumbs',
    title: 'Did you find what you were looking for?',
    name: 'Search in the app',
    config: {},
  },
  {
    key: 'text',
    type: 'text',
    title: 'What should we roast next?',
    name: 'Roasting wishes',
    config: { max_length: 500 },
  },
] as const;

export type QuestionKey = (typeof QUESTIONS)[number]['key'];

/** A question that is not published yet. */
export const DRAFT = {
  type: 'rating',
  title: 'How do you like the new grinder?',
  description: 'It came with your last order.',
  name: 'Grinder',
  config: { scale: 5, style: 'star', labels: { low: 'Not at all', high: 'Very much' } },
  follow_ups: [
    {
      key: 'reason',
      type: 'multi_choice',
      title: 'What bothers you about it?',
      config: {
        options: [
          { id: 'noise', label: 'It is loud' },
          { id: 'cleaning', label: 'It is hard to clean' },
          { id: 'settings', label: 'The settings' },
        ],
        allow_other: true,
      },
      show_if: { step: 'main', op: 'lte', value: 3 },
    },
    { key: 'wish', type: 'text', title: 'What would make it better?' },
  ],
};

const FIRST = ['mara', 'jonas', 'ines', 'tobi', 'amara', 'lucas', 'petra', 'sven', 'noor', 'elif', 'henri', 'zoe'];
const LAST = ['voss', 'falk', 'okafor', 'lund', 'brandt', 'silva', 'wirth', 'keller', 'nowak', 'berg', 'aydin'];

/** Identity of one of 132 customers. */
const customer = (at: number): string => `${FIRST[at % FIRST.length]}.${LAST[at % LAST.length]}`;

/** Deterministic pseudo-random number in [0, 1), so that screenshots can be compared. */
const chance = (at: number): number => {
  const wave = Math.sin(at * 12.9898) * 43758.5453;
  return wave - Math.floor(wave);
};

const pick = <Item>(items: readonly Item[], at: number): Item => items[Math.floor(chance(at) * items.length)] as Item;

const LIKED = [
  'Delivered a day early, and it smells wonderful.',
  'Best espresso I have had at home.',
  'The tasting notes on the bag are spot on.',
  'Love that the bags can be composted now.',
  'Support answered within the hour. Thank you, Mika!',
];
const MISSED = [
  'Good coffee, but the box was damaged.',
  'The app forgets my grinder setting every time.',
  'Could you offer smaller bags? 250 g would be perfect for me.',
  'Two deliveries in a row were late.',
  'Shipping costs as much as the coffee.',
];
const WISHES = ['A natural from Ethiopia, please.', 'Something darker for milk.', 'Decaf that is worth drinking.'];

interface Said {
  value: unknown;
  comment?: string;
  /** Values of follow-up steps. */
  others?: Record<string, unknown>;
}

/** Values of the steps after a recommendation that is not enthusiastic; some customers skip them. */
function reasonFor(value: number, at: number): Record<string, unknown> {
  if (value > 8 || chance(at + 17) > 0.8) return {};
  const option_id = pick(['delivery', 'delivery', 'delivery', 'price', 'price', 'app', 'coffee'], at + 19);
  const hasDetails = value <= 6 && (option_id === 'delivery' || option_id === 'app') && chance(at + 23) < 0.6;
  return { reason: { option_id }, ...(hasDetails ? { details: pick(MISSED, at + 29) } : {}) };
}

/** Values of one customer's answer. `late` goes from 0 to 1 over the weeks, as ratings improve. */
function answerTo(question: QuestionKey, at: number, late: number): Said {
  const mood = chance(at) + late * 0.22;
  const words = (isGood: boolean) => (chance(at + 7) < 0.22 ? pick(isGood ? LIKED : MISSED, at + 3) : undefined);
  if (question === 'nps') {
    const value = mood > 0.62 ? (mood > 0.85 ? 10 : 9) : mood > 0.3 ? (mood > 0.48 ? 8 : 7) : Math.round(mood * 20);
    return { value, comment: words(value > 7), others: reasonFor(value, at) };
  }
  if (question === 'csat') {
    const value = Math.min(5, 1 + Math.floor((mood + 0.25) * 4));
    return { value, comment: words(value > 3) };
  }
  if (question === 'choice') {
    const option_id = ['filter', 'filter', 'espresso', 'espresso', 'espresso', 'press', 'moka'][
      Math.floor(chance(at) * 8)
    ];
    return { value: option_id ? { option_id } : { other_text: 'AeroPress' } };
  }
  return question === 'thumbs' ? { value: mood > 0.35 } : { value: pick(WISHES, at) };
}

/** The title that the first question gets with its second version. */
export const SECOND_TITLE = {
  title: 'Would you recommend Nordlicht to a friend?',
  translation: 'Würdest du Nordlicht weiterempfehlen?',
};
/** The share of the weeks after which the first question has its second version. */
const SECOND_FROM = 0.6;

/** When the questions were published, and when the first of them changed, in days before now. */
export const PUBLISHED_DAYS_AGO = 44;
export const CHANGED_DAYS_AGO = 17;

/** Approximate number of answers per question and day. */
const A_DAY: Record<QuestionKey, number> = { nps: 7, csat: 4, choice: 2, thumbs: 2, text: 0.5 };

/** An answer of a customer. */
export interface DemoAnswer {
  at: Date;
  identity: string;
  version: number;
  state: AnswerState;
  values: Record<string, unknown>;
  comment: string | null;
  metadata: Record<string, string>;
}

/** Returns the answers to a question over six weeks until now; of those who were shown it, some dismissed it. */
export function demoAnswers(question: QuestionKey, now: Date): DemoAnswer[] {
  const count = Math.round(A_DAY[question] * DAYS);
  return Array.from({ length: count }, (_, at): DemoAnswer => {
    const late = at / count;
    const { value, comment, others } = answerTo(question, at, late);
    const isDismissed = chance(at + 11) > 0.68 + late * 0.1;
    const isGerman = 'translations' in questionOf(question) && at % 4 === 0;
    return {
      at: new Date(now.getTime() - (1 - late) * DAYS * DAY_MS - chance(at + 5) * DAY_MS * 0.5),
      identity: customer(Math.floor(chance(at * 3 + count) * 132)),
      version: question === 'nps' && late > SECOND_FROM ? 2 : 1,
      state: isDismissed ? 'dismissed' : 'completed',
      values: isDismissed ? {} : { main: value, ...others },
      comment: isDismissed ? null : (comment ?? null),
      metadata: {
        platform: at % 3 ? 'iOS 26' : 'Android 16',
        app_version: late > 0.5 ? '4.2.0' : '4.1.3',
        locale: isGerman ? 'de-DE' : 'en',
        ...(isGerman ? { card_locale: 'de' } : {}),
      },
    };
  });
}

const questionOf = (wanted: QuestionKey) => QUESTIONS.find(({ key }) => key === wanted) as (typeof QUESTIONS)[number];

const PLANS = ['Club', 'Office', 'Single'];
const CITIES = ['Kiel', 'Hamburg', 'Aarhus', 'Leipzig'];

/** Returns the profiles of some customers: their plan, city and number of orders. */
export const demoProfiles = (): { identity: string; attributes: Record<string, string | number> }[] =>
  Array.from({ length: 40 }, (_, at) => ({
    identity: customer(at),
    attributes: {
      name: (customer(at).split('.')[0] as string).replace(/^./, letter => letter.toUpperCase()),
      plan: pick(PLANS, at),
      city: pick(CITIES, at + 1),
      orders: 1 + Math.floor(chance(at + 2) * 30),
    },
  }));
