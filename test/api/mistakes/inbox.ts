import { asKey, asUser, type Mistake, type Scene } from './mistake.ts';

const ofConversation = ({ conversation }: Scene) => `/v1/conversations/${conversation}`;
const messagesOf = (scene: Scene) => `${ofConversation(scene)}/messages`;
const NEXT_WEEK = new Date(Date.now() + 7 * 86_400_000).toISOString();

/** Mistakes with the work of a team in its inbox. */
export const INBOX_MISTAKES: Mistake[] = [
  [
    'an order of changes',
    asKey('GET', '/v1/conversations?updated_since=2026-01-01T00:00:00Z&sort=created_at'),
    422,
    'not-allowed',
    '@sort',
    'Must be omitted with "updated_since", which orders by the last change.',
  ],
  [
    'a snooze without a time',
    asKey('PATCH', ofConversation, { status: 'snoozed' }),
    422,
    'required',
    '/snoozed_until',
    'Required with the status "snoozed": a time from 1 minute to 1 year ahead.',
  ],
  [
    'a snooze into the past',
    asKey('PATCH', ofConversation, { status: 'snoozed', snoozed_until: '2020-01-01T00:00:00Z' }),
    422,
    'out-of-range',
    '/snoozed_until',
    'Must be from 1 minute to 1 year ahead.',
  ],
  [
    'a time with another status',
    asKey('PATCH', ofConversation, { status: 'pending', snoozed_until: NEXT_WEEK }),
    422,
    'not-allowed',
    '/snoozed_until',
    'Must be omitted unless "status" is "snoozed".',
  ],
  [
    'a value that is no longer present',
    asKey('PATCH', ofConversation, { priority: 'high', was: { priority: 'urgent' } }),
    409,
    'conversation-changed',
    undefined,
    'Changed meanwhile: priority.',
  ],
  [
    'a reply to what is no longer the last message',
    asKey('POST', messagesOf, { body: 'Under Reports.', after: { seq: 0, note_seq: 0 } }),
    409,
    'conversation-moved',
    undefined,
    'Somebody has written meanwhile. Nothing was written by this request.',
  ],
  [
    'what a user has seen',
    asUser('POST', messagesOf, { body: 'x', after: { seq: 1, note_seq: 0 } }),
    422,
    'not-allowed',
    '/after',
    'Must be omitted with an access token: only for the team.',
  ],
  [
    'an id twice',
    scene =>
      asKey('POST', '/v1/conversations/bulk', {
        ids: [scene.conversation, scene.conversation],
        change: { status: 'resolved' },
      })(scene),
    422,
    'repeated-item',
    '/ids',
    'Must not contain an id twice.',
  ],
  [
    'conversations of two users to merge',
    async scene => {
      const body = { message: 'Hello', identity: 'user|44' };
      const other = await asKey('POST', '/v1/conversations', body)(scene);
      return asKey('POST', `${ofConversation(scene)}/merge`, { into: other.body.id })(scene);
    },
    422,
    'different-user',
    '/into',
    'Must be a conversation of the same user.',
  ],
  [
    'a macro that does nothing',
    asKey('POST', '/v1/macros', { name: 'Nothing' }),
    422,
    'required',
    '/body',
    'Required unless "changes" has a field: the text of the macro.',
  ],
  [
    'a variable without a fallback',
    asKey('POST', '/v1/macros', { name: 'Plan', body: 'Your plan: {{identity.attributes.plan}}' }),
    422,
    'fallback-missing',
    '/body',
    /^Must have a text for users without the attribute/,
  ],
  [
    'deleted conversations without a time',
    asKey('GET', '/v1/conversations?deleted=true'),
    422,
    'required',
    '@updated_since',
    'Required with "deleted": an RFC 3339 time.',
  ],
];
