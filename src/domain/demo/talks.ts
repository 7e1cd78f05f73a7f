/** Conversations of the shop in the demo data. */

export interface Talk {
  identity: string;
  subject?: string;
  /** Age of the last message in minutes. */
  minutesAgo: number;
  /** Authors and messages, the user's first; a `note` is internal. */
  lines: ['user' | 'team' | 'note', string][];
  change?: { tags?: string[]; priority?: 'low' | 'medium' | 'high' | 'urgent' };
  assign?: boolean;
  read?: boolean;
}

/** Newest first. */
export const TALKS: readonly Talk[] = [
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
