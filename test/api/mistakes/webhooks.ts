import { asKey, type Mistake } from './mistake.ts';

const list = '/v1/webhooks';
const url = 'https://93.184.215.14/hook';
const event_types = ['answer.stored'];

export const WEBHOOK_MISTAKES: Mistake[] = [
  [
    'a webhook to a private address',
    asKey('POST', list, { url: 'https://169.254.169.254/latest', event_types }),
    422,
    'url-not-allowed',
    '/url',
    'Must not lead to a private, local or reserved address.',
  ],
  [
    'a webhook over http',
    asKey('POST', list, { url: 'http://93.184.215.14/', event_types }),
    422,
    'url-not-allowed',
    '/url',
    'Must start with https://.',
  ],
  [
    'an event type twice',
    asKey('POST', list, { url, event_types: ['answer.stored', 'answer.stored'] }),
    422,
    'repeated-item',
    '/event_types',
    'Must not contain a type twice.',
  ],
];
