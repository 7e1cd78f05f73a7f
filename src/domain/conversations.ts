import { z } from 'zod';
import { int32 } from './documented.ts';
import { typeId, typeIdOut } from './ids.ts';
import { AuthorType, Body, ClientMessageId } from './messages.ts';
import { Identity, Tags, TimestampOut, text } from './text.ts';

/** How long a user's reply reopens a resolved conversation. Afterwards it starts a new one. */
export const REOPEN_DAYS = 30;

export const PREVIEW_LENGTH = 140;

export const ConversationStatus = z.enum(['open', 'pending', 'resolved']);
export type ConversationStatus = z.infer<typeof ConversationStatus>;

export const ConversationPriority = z.enum(['none', 'low', 'medium', 'high', 'urgent']);
export type ConversationPriority = z.infer<typeof ConversationPriority>;

/** A side of the conversation. Each has a separate read horizon and unread count. */
export type Side = 'user' | 'team';

export const sideOf = (author: AuthorType): Side => (author === 'user' ? 'user' : 'team');

/** The status after a reply: `pending` after the team's, `open` after the user's. */
export const statusAfterReply = (side: Side): ConversationStatus => (side === 'team' ? 'pending' : 'open');

const Subject = text(200);

export const NewConversation = z
  .strictObject({
    subject: Subject.optional(),
    message: Body.meta({ description: 'First message of the conversation' }),
    identity: Identity.optional().meta({
      description: 'User of the conversation; required with an API key, otherwise omitted',
    }),
    client_message_id: ClientMessageId.optional(),
  })
  .meta({ id: 'ConversationInput' });
export type NewConversation = z.output<typeof NewConversation>;

export const ConversationPatch = z
  .strictObject({
    status: ConversationStatus,
    assignee_id: typeId('member').nullable(),
    tags: Tags,
    priority: ConversationPriority,
    subject: Subject,
  })
  .partial()
  .meta({ id: 'ConversationPatch', description: 'With an access token, only `{"status": "resolved"}` is allowed' });
export type ConversationPatch = z.output<typeof ConversationPatch>;

export const ReadHorizon = z
  .strictObject({ seq: z.int().min(0).max(2_147_483_647) })
  .meta({ id: 'ReadHorizon', description: 'All messages up to this `seq` have been read; never decreases' });

export const Conversation = z
  .object({
    id: typeIdOut('conversation'),
    identity: z.string(),
    identity_verified: z.boolean(),
    subject: z.string(),
    status: ConversationStatus,
    priority: ConversationPriority.optional().meta({ description: 'Only visible to the team' }),
    assignee_id: typeIdOut('member').nullable().optional().meta({ description: 'Only visible to the team' }),
    tags: z.array(z.string()).optional().meta({ description: 'Only visible to the team' }),
    source: z.object({ type: z.enum(['user', 'api', 'member']) }).meta({ id: 'ConversationSource' }),
    last_message: z
      .object({
        seq: int32(1),
        preview: z.string().meta({ description: `First ${PREVIEW_LENGTH} characters` }),
        author_type: AuthorType,
        at: TimestampOut,
      })
      .meta({ id: 'MessagePreview', description: 'Last message of the conversation' }),
    message_count: int32(),
    unread_count: int32().meta({ description: 'For the side of the caller (user or team)' }),
    waiting_since: TimestampOut.nullable().meta({
      description: 'Time since which the user has been waiting for a reply',
    }),
    first_reply_at: TimestampOut.nullable(),
    resolved_at: TimestampOut.nullable(),
    previous_id: typeIdOut('conversation').nullable(),
    created_at: TimestampOut,
    updated_at: TimestampOut,
    last_activity_at: TimestampOut,
  })
  .meta({ id: 'Conversation' });
