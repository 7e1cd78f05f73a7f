/** Questions, answers and conversations of the shop in the screenshots. */

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
    frequency: { repeat: 'always', ignore_cooldown: true },
  },
  {
    key: 'csat',
    type: 'csat',
    title: 'How was your last order?',
    name: 'After delivery',
    config: { style: 'smiley' },
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
export const customer = (at: number): string => `${FIRST[at % FIRST.length]}.${LAST[at % LAST.length]}`;

/** Deterministic pseudo-random number in [0, 1), so that screenshots can be compared. */
export const chance = (at: number): number => {
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

/** Answer of one customer. `late` goes from 0 to 1 over the weeks, as ratings improve. */
export function answerTo(question: QuestionKey, at: number, late: number): Said {
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

export interface Talk {
  identity: string;
  subject?: string;
  /** Age of the last message in minutes. */
  minutesAgo: number;
  /** Authors and messages, the user's first; a `note` is internal. */
  lines: ['user' | 'team' | 'note', string][];
  change?: Record<string, unknown>;
  assign?: boolean;
  read?: boolean;
}

export const TALKS: Talk[] = [
  {
    identity: 'mara.voss',
    subject: 'Order 4711',
    minutesAgo: 12,
    lines: [
      ['user', 'Hi! Where is my order? It was due on Tuesday, and the tracking page has not moved since.'],
      ['note', 'Carrier says: held at the depot in Kiel, out again tomorrow.'],
      [
        'team',
        'Sorry for the wait, Mara! It is held at the depot in Kiel and comes tomorrow before noon. We have sent you a bag of the new Huila on top.',
      ],
      ['user', 'Thank you, tomorrow is fine. And what a nice surprise!'],
    ],
    change: { tags: ['delivery'], priority: 'high' },
    assign: true,
  },
  { identity: 'tobi.lund', minutesAgo: 34, lines: [['user', 'Do you have the decaf in whole beans?']] },
  {
    identity: 'amara.okafor',
    subject: 'Grinder',
    minutesAgo: 71,
    lines: [['user', 'My grinder setting is gone again after the update. This is the third time now.']],
    change: { tags: ['app'], priority: 'urgent' },
  },
  {
    identity: 'petra.wirth',
    subject: 'Subscription',
    minutesAgo: 190,
    lines: [['user', 'Can I change the address of my subscription before Friday?']],
  },
  {
    identity: 'lucas.silva',
    minutesAgo: 1500,
    lines: [
      ['user', 'Is there a discount for offices?'],
      ['team', 'There is: from 5 kg a month we take 12 % off. Shall I set it up for you?'],
    ],
    read: true,
  },
  {
    identity: 'noor.keller',
    subject: 'Invoice for October',
    minutesAgo: 2900,
    lines: [
      ['user', 'Could you put our VAT number on the invoice?'],
      ['team', 'Done, the new one is in your inbox.'],
      ['user', 'Perfect, thanks.'],
    ],
    change: { tags: ['billing'] },
    read: true,
  },
  {
    identity: 'elif.aydin',
    minutesAgo: 4400,
    lines: [['user', 'The new Huila is fantastic. Please keep it!']],
    read: true,
  },
  {
    identity: 'sven.berg',
    subject: 'Moka pot',
    minutesAgo: 7300,
    lines: [['user', 'Which of your roasts works best in a moka pot?']],
    read: true,
  },
];
