/** A survey as Formbricks exports it, with its responses. */

const text = (words: string, german?: string) => ({ default: words, ...(german ? { de: german } : {}) });
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
          headline: text('<p>How likely are you to recommend us &amp; our <b>app</b>?</p>'),
        },
        {
          id: 'place',
          type: 'multipleChoiceSingle',
          required: false,
          headline: text('Where do you work?'),
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
        { id: 'why', type: 'openText', required: false, headline: text('Why?'), inputType: 'text', charLimit: {} },
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
          headline: text('What do you use?'),
          choices: [
            { id: 'd1', label: text('Pen') },
            { id: 'd2', label: text('Paper') },
            { id: 'other', label: text('Other') },
          ],
        },
        {
          id: 'more',
          type: 'openText',
          required: false,
          headline: text('Anything else?'),
          inputType: 'text',
          charLimit: {},
        },
        { id: 'mail', type: 'consent', required: false, headline: text('May we write to you?'), label: text('Yes') },
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
  language: 'default',
  contact: userId ? { id: `contact-${id}`, userId } : null,
  data: {},
});
export const FORMBRICKS_RESPONSES = [
  {
    ...response('r1', '2026-01-01T10:00:00.000Z', '1'),
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
