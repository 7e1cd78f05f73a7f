/** A survey as Formbricks exports it, with its responses. */

const text = (words: string, german?: string) => ({ default: words, ...(german ? { de: german } : {}) });
const language = (code: string, isDefault = false, enabled = true) => ({
  default: isDefault,
  enabled,
  language: { id: `cm5lang${code}`, code, alias: null, projectId: 'cm5project0000' },
});
const jump = (target: string, left: object, operator: string, value: string | number, ...others: object[]) => ({
  id: `rule-${target}`,
  conditions: {
    id: `group-${target}`,
    connector: 'and',
    conditions: [{ id: `condition-${target}`, leftOperand: left, operator, rightOperand: { type: 'static', value } }],
  },
  actions: [{ id: `action-${target}`, objective: 'jumpToBlock', target }, ...others],
});
export const FORMBRICKS_SURVEY = {
  id: 'cm5survey0000',
  name: 'Onboarding',
  languages: [language('en', true), language('de'), language('fr'), language('es', false, false)],
  welcomeCard: {
    enabled: true,
    headline: text('Hello!', 'Hallo!'),
    html: text('<p>Two minutes.</p>'),
    timeToFinish: true,
  },
  endings: [
    {
      id: 'cm5ending0000',
      type: 'endScreen',
      headline: text('<p>Thank you!</p>', '<p>Danke!</p>'),
      subheader: text('We read every answer.', 'Wir lesen jede Antwort.'),
      buttonLabel: text('What is new', 'Neues'),
      buttonLink: 'https://acme.example/news',
      imageUrl: 'https://acme.example/a.png',
    },
    { id: 'cm5ending0001', type: 'redirectToUrl', label: 'Pricing', url: 'https://acme.example/pricing' },
  ],
  questions: [],
  blocks: [
    {
      id: 'b1',
      name: 'Score',
      elements: [
        {
          id: 'nps',
          type: 'nps',
          required: true,
          headline: text(
            '<p>How likely are you to recommend us &amp; our <b>app</b>?</p>',
            '<p>Wie wahrscheinlich empfiehlst du uns &amp; unsere <b>App</b>?</p>',
          ),
        },
        {
          id: 'place',
          type: 'multipleChoiceSingle',
          required: false,
          headline: text('Where do you work?', 'Wo arbeitest du?'),
          choices: [
            { id: 'c1', label: text('At home', 'Zu Hause') },
            { id: 'c2', label: text('Elsewhere', 'Anderswo') },
          ],
        },
      ],
      logic: [jump('b3', { type: 'element', value: 'nps' }, 'isGreaterThanOrEqual', 9)],
    },
    {
      id: 'b2',
      name: 'Reason',
      elements: [
        {
          id: 'why',
          type: 'openText',
          required: false,
          headline: text('Why?', 'Warum?'),
          inputType: 'text',
          charLimit: {},
        },
      ],
    },
    {
      id: 'b3',
      name: 'Rest',
      elements: [
        {
          id: 'tools',
          type: 'multipleChoiceMulti',
          required: true,
          headline: text('What do you use?', 'Was benutzt du?'),
          choices: [
            { id: 'd1', label: text('Pen', 'Stift') },
            { id: 'd2', label: text('Paper', 'Papier') },
            { id: 'other', label: text('Other') },
          ],
        },
        {
          id: 'more',
          type: 'openText',
          required: false,
          headline: text('Anything else?', 'Noch etwas?'),
          inputType: 'text',
          charLimit: {},
        },
        {
          id: 'mail',
          type: 'consent',
          required: false,
          headline: text('May we write to you?', 'Dürfen wir dir schreiben?'),
          label: text('Yes'),
        },
        { id: 'face', type: 'fileUpload', required: false, headline: text('Show us your face') },
      ],
      logic: [
        jump('end', { type: 'hiddenField', value: 'plan' }, 'equals', 'free', {
          id: 'action-2',
          objective: 'requireAnswer',
          target: 'more',
        }),
      ],
    },
    {
      id: 'b4',
      name: 'Gift',
      elements: [{ id: 'gift', type: 'openText', required: false, headline: text('A gift?'), inputType: 'text' }],
    },
  ],
};
export const response = (id: string, time: string, userId?: string) => ({
  id,
  createdAt: time,
  updatedAt: time,
  finished: true,
  language: 'default' as string,
  contact: userId ? { id: `contact-${id}`, userId } : null,
  data: {},
});
export const FORMBRICKS_RESPONSES = [
  {
    ...response('r1', '2026-01-01T10:00:00.000Z', '1'),
    language: 'de',
    data: { nps: 9, place: 'Zu Hause', tools: ['Pen', 'Paper'], more: 'No.', mail: 'accepted', face: ['a.png'] },
  },
  {
    ...response('r2', '2026-02-01T10:00:00.000Z'),
    data: {
      nps: 10,
      why: 'Seen before going back',
      tools: ['Paper', 'a drum'],
      more: '',
      mail: 'dismissed',
      gift: 'A pen',
    },
  },
];
/** The thanks that the first ending becomes. */
export const FORMBRICKS_THANKS = {
  title: 'Thank you!',
  body: 'We read every answer.',
  link: { label: 'What is new', url: 'https://acme.example/news' },
};
/** The German translation of the question that the survey becomes. */
export const FORMBRICKS_GERMAN = {
  title: 'Wie wahrscheinlich empfiehlst du uns & unsere App?',
  follow_ups: {
    place: { title: 'Wo arbeitest du?', config: { options: { c1: 'Zu Hause', c2: 'Anderswo' } } },
    why: { title: 'Warum?' },
    tools: { title: 'Was benutzt du?', config: { options: { d1: 'Stift', d2: 'Papier' } } },
    more: { title: 'Noch etwas?' },
    mail: { title: 'Dürfen wir dir schreiben?' },
  },
  thanks: { title: 'Danke!', body: 'Wir lesen jede Antwort.', link: { label: 'Neues' } },
};
/** The importer's report. */
export const FORMBRICKS_LOSSES = [
  'left out: the language "fr": none of its texts exist',
  'left out: a question that becomes required by an answer: it stays optional',
  'left out: the label "Yes" of "May we write to you?": Parley\'s says "I agree"',
  'left out: the welcome card "Hello!": Parley begins with the first question',
  'left out: an image of the ending "Thank you!": Parley shows texts only',
  'left out: the ending "Pricing": Parley does not lead users to https://acme.example/pricing',
  'left out: the language "es": it is disabled in Formbricks',
  'left out: "Show us your face", Parley has nothing like fileUpload',
  'a question of its own: "A gift?", Parley has no condition like the logic that leads to it',
  'left out of "A gift?": the language "de": none of its texts exist',
  'left out of "A gift?": the language "fr": none of its texts exist',
];
