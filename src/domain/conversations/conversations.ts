import { z } from 'zod';
import { EXAMPLE_TIME, int32, LATER_EXAMPLE } from '../documented.ts';
import { typeIdOut } from '../ids.ts';
import { pageOf } from '../pages.ts';
import { Identity, TimestampOut, text } from '../text.ts';
import { CustomValuesOut } from './custom-fields.ts';
import { AuthorType, Body, ClientMessageId } from './messages.ts';

/** How long a user's reply reopens a resolved conversation. Afterwards it starts a new one. */
export const REOPEN_DAYS = 30;

/** Maximum number of open and pending conversations up to which a user can open another one. */
export const MAX_ACTIVE_OF_USER = 50;

export const PREVIEW_LENGTH = 140;

/** How long incremental readers learn that a conversation was deleted. */
export const DELETIONS_SHOWN_DAYS = 30;

export const ConversationStatus = z.enum(['open', 'pending', 'snoozed', 'resolved']);
export type ConversationStatus = z.infer<typeof ConversationStatus>;

/** The cause of a transition from one status to another. */
export type Cause =
  | 'team-reply'
  | 'user-message'
  | 'snooze'
  | 'wake'
  | 'open'
  | 'set-pending'
  | 'resolve'
  | 'auto-resolve';

/**
 * The status after each cause, by the status before it. A cause that is missing is refused.
 *
 * The only source of transitions: changes, replies, timers and the OpenAPI document read it.
 */
export const TRANSITIONS: Record<ConversationStatus, Partial<Record<Cause, ConversationStatus>>> = {
  open: {
    'team-reply': 'pending',
    'user-message': 'open',
    snooze: 'snoozed',
    'set-pending': 'pending',
    resolve: 'resolved',
  },
  pending: {
    'team-reply': 'pending',
    'user-message': 'open',
    snooze: 'snoozed',
    open: 'open',
    resolve: 'resolved',
    'auto-resolve': 'resolved',
  },
  snoozed: {
    'team-reply': 'snoozed',
    'user-message': 'open',
    snooze: 'snoozed',
    wake: 'open',
    open: 'open',
    'set-pending': 'pending',
    resolve: 'resolved',
  },
  resolved: {
    'team-reply': 'pending',
    'user-message': 'open',
    snooze: 'snoozed',
    open: 'open',
    'set-pending': 'pending',
  },
};

/** The cause of setting a status directly. */
export const SETS = {
  open: 'open',
  pending: 'set-pending',
  snoozed: 'snooze',
  resolved: 'resolve',
} as const satisfies Record<ConversationStatus, Cause>;

/** Returns the statuses that can be set directly from a status. A snoozed conversation can get another time. */
export const settableFrom = (from: ConversationStatus): ConversationStatus[] =>
  ConversationStatus.options.filter(status => TRANSITIONS[from][SETS[status]] !== undefined);

/** Returns the table as a sentence for the OpenAPI document. */
export const describeTransitions = (): string =>
  ConversationStatus.options
    .map(
      from =>
        `from \`${from}\` to ${settableFrom(from)
          .map(to => `\`${to}\``)
          .join(', ')}`,
    )
    .join('; ');

export const ConversationPriority = z.enum(['none', 'low', 'medium', 'high', 'urgent']);
export type ConversationPriority = z.infer<typeof ConversationPriority>;

/** A side of the conversation. Each has a separate read horizon and unread count. */
export type Side = 'user' | 'team';

export const sideOf = (author: AuthorType): Side => (author === 'user' ? 'user' : 'team');

/** Returns the status after a message to the other side. Every status has one. */
export const statusAfterReply = (from: ConversationStatus, side: Side): ConversationStatus =>
  TRANSITIONS[from][side === 'team' ? 'team-reply' : 'user-message'] ?? from;

/** Returns the status that the user sees: a snoozed conversation looks as it does after the last message. */
export const statusForUser = (status: ConversationStatus, lastAuthor: AuthorType): ConversationStatus => {
  if (status !== 'snoozed') return status;
  return sideOf(lastAuthor) === 'user' ? 'open' : 'pending';
};

export const Subject = text(200);

export const NewConversation = z
  .strictObject({
    subject: Subject.optional(),
    message: Body.meta({ description: 'First message of the conversation' }),
    identity: Identity.optional().meta({
      description: 'User of the conversation; required with an API key, otherwise omitted',
    }),
    client_message_id: ClientMessageId.optional(),
  })
  .meta({
    id: 'ConversationInput',
    example: { subject: 'Invoice', message: 'Where do I find my invoice?', client_message_id: 'm-1' },
  });
export type NewConversation = z.output<typeof NewConversation>;

export const ReadHorizon = z
  .strictObject({ seq: z.int().min(0).max(2_147_483_647).meta({ example: 2 }) })
  .meta({ id: 'ReadHorizon', description: 'All messages up to this `seq` have been read; never decreases' });

/** A deleted conversation in an incremental read. */
const ConversationTombstone = z
  .object({ id: typeIdOut('conversation'), deleted_at: TimestampOut })
  .meta({ id: 'ConversationTombstone' });

export const Conversation = z
  .object({
    id: typeIdOut('conversation'),
    identity: z.string().meta({ example: 'user|42' }),
    identity_verified: z.boolean().meta({ example: true }),
    subject: z.string().meta({ example: 'Invoice' }),
    status: ConversationStatus.meta({
      description: 'A user sees a snoozed conversation as `open` or `pending`, depending on who wrote last',
    }),
    snoozed_until: TimestampOut.nullable()
      .optional()
      .meta({ description: 'Only visible to the team; null unless snoozed', example: null }),
    priority: ConversationPriority.optional().meta({ description: 'Only visible to the team', example: 'none' }),
    assignee_id: typeIdOut('member')
      .nullable()
      .optional()
      .meta({ description: 'Only visible to the team', example: null }),
    tags: z.array(z.string()).optional().meta({ description: 'Only visible to the team', example: [] }),
    custom: CustomValuesOut.optional().meta({ example: { order_number: 'A-1001' } }),
    reply_due_at: TimestampOut.nullable().optional().meta({
      description:
        "Time by which the waiting user should have a reply, by the tenant's `reply_targets`; only visible to the team",
      example: LATER_EXAMPLE,
    }),
    source: z.object({ type: z.enum(['user', 'api', 'member']) }).meta({ id: 'ConversationSource' }),
    last_message: z
      .object({
        seq: int32(1),
        preview: z
          .string()
          .meta({ description: `First ${PREVIEW_LENGTH} characters`, example: 'Where do I find my invoice?' }),
        author_type: AuthorType,
        at: TimestampOut,
      })
      .meta({ id: 'MessagePreview', description: 'Last message of the conversation' }),
    message_count: int32().meta({ example: 1 }),
    unread_count: int32().meta({ description: 'For the side of the caller (user or team)', example: 1 }),
    waiting_since: TimestampOut.nullable().meta({
      description: 'Time since which the user has been waiting for a reply',
      example: EXAMPLE_TIME,
    }),
    first_reply_at: TimestampOut.nullable().meta({
      description: "The team's first reply after the user's first message",
    }),
    resolved_at: TimestampOut.nullable(),
    previous_id: typeIdOut('conversation').nullable(),
    merged_into_id: typeIdOut('conversation').nullable().meta({
      description: 'Conversation of the same user that continues this one: later messages are written there',
    }),
    created_at: TimestampOut,
    updated_at: TimestampOut,
    last_activity_at: TimestampOut,
  })
  .meta({ id: 'Conversation' });

/** A page of conversations; with `deleted=true` also what was deleted in the same span of time. */
export const ConversationPage = pageOf(Conversation)
  .extend({
    deleted: z
      .array(ConversationTombstone)
      .optional()
      .meta({
        description: `With \`deleted=true\`: conversations deleted since, up to ${DELETIONS_SHOWN_DAYS} days back, oldest first`,
      }),
  })
  .meta({ id: 'ConversationPage' });
