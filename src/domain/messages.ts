import { z } from 'zod';
import { typeIdOut } from './ids.ts';
import { TimestampOut, text } from './text.ts';

/** For how long after its creation the author may change a message. */
export const MESSAGE_EDIT_MINUTES = 15;

export const AuthorType = z.enum(['user', 'member', 'api', 'system']);
export type AuthorType = z.infer<typeof AuthorType>;
export const Body = text(10_000, 1);
const Format = z.enum(['text', 'markdown']);
export const ClientMessageId = text(128, 1).meta({
  description: 'Made by the client; the same one again gives the first message',
});

export const NewMessage = z
  .strictObject({
    body: Body,
    format: Format.default('text'),
    kind: z.enum(['reply', 'note']).default('reply').meta({ description: 'A note is for the team alone (API key)' }),
    client_message_id: ClientMessageId.optional(),
  })
  .meta({ id: 'NewMessage' });
export type NewMessage = z.output<typeof NewMessage>;

export const MessagePatch = z.strictObject({ body: Body, format: Format.optional() }).meta({ id: 'MessagePatch' });

export const Message = z
  .object({
    id: typeIdOut('message'),
    conversation_id: typeIdOut('conversation'),
    seq: z.int().meta({ description: 'Replies count from 1; notes and events have a sequence of their own' }),
    author: z.object({
      type: AuthorType,
      id: z.string().nullable().meta({ description: 'Of the team shown to the team alone' }),
      name: z.string().nullable().meta({ description: 'Of a member, as it was when the message was written' }),
    }),
    kind: z.enum(['reply', 'note', 'event']),
    body: z.string(),
    format: Format,
    client_message_id: z.string().nullable(),
    created_at: TimestampOut,
    edited_at: TimestampOut.nullable(),
    redacted: z.boolean(),
  })
  .meta({ id: 'Message' });
