import { asKey, asOwner, type Mistake } from './mistake.ts';

const create = (body: unknown) => asKey('POST', '/v1/questions', body);

/** Mistakes with the appearance of cards, their placement and thanks. */
export const APPEARANCE_MISTAKES: Mistake[] = [
  [
    'a color by its name',
    asOwner('PATCH', '/v1/tenant', { appearance: { accent: 'red' } }),
    422,
    'invalid-format',
    '/appearance/accent',
    'Must be a color of the form #rrggbb, such as #1d4ed8.',
  ],
  [
    'white on yellow',
    asOwner('PATCH', '/v1/tenant', { appearance: { theme: 'light', background: '#ffd400', text: '#ffffff' } }),
    422,
    'low-contrast',
    '/appearance/text',
    'The text color #ffffff has a contrast of 1.43:1 with the background #ffd400; at least 4.5:1 is required. The nearest color that passes is #5e5e5e.',
  ],
  [
    'a script in the link of the thanks',
    create({
      type: 'nps',
      title: 'x',
      thanks: { title: 'Thanks', link: { label: 'More', url: 'javascript:alert(1)' } },
    }),
    422,
    'invalid-format',
    '/thanks/link/url',
    'Must be an http or https URL such as https://example.com/page.',
  ],
  [
    'a placement of other products',
    create({ type: 'nps', title: 'x', placement: 'popover' }),
    422,
    'unknown-value',
    '/placement',
    'Must be "inline", "popover-top-left", "popover-top-center", "popover-top-right", "popover-bottom-left", "popover-bottom-center", "popover-bottom-right", "modal" or "button".',
  ],
  [
    'a feedback button that blocks other questions',
    create({ type: 'nps', title: 'x', placement: 'button' }),
    422,
    'not-allowed',
    '/placement',
    'The placement "button" requires `frequency.ignore_cooldown` to be true.',
  ],
];
