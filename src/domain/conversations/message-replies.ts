import { toTypeId } from '../ids.ts';
import { type MessageEvent, readEventText } from './conversation-events.ts';
import type { Side } from './conversations.ts';
import type { AuthorType } from './messages.ts';

/** A stored message. */
export interface StoredMessage {
  id: string;
  conversation_id: string;
  seq: number;
  note_seq: number;
  kind: 'reply' | 'note' | 'event';
  author_type: AuthorType;
  author_id: string | null;
  /** The name when the message was written; only for members. */
  author_name: string | null;
  body: string;
  format: 'text' | 'markdown';
  client_message_id: string | null;
  created_at: Date;
  edited_at: Date | null;
  redacted: boolean;
  /** The change that an event records; null in other messages, and in events of earlier versions. */
  event: MessageEvent | null;
  /** Members that a note mentions. */
  mentions: string[];
}

const eventOf = ({ kind, event, body, author_type: type, author_id: id }: StoredMessage) =>
  kind === 'event' ? (event ?? readEventText(body, { type, id })) : null;

/** A message as one side sees it. Users see the name of a team author, but no ids of the team. */
export const presentMessage = (side: Side) => (row: StoredMessage) => ({
  id: toTypeId('message', row.id),
  conversation_id: toTypeId('conversation', row.conversation_id),
  seq: row.note_seq > 0 ? row.note_seq : row.seq,
  author: {
    type: row.author_type,
    id: side === 'team' || row.author_type === 'user' ? row.author_id : null,
    name: row.author_name,
  },
  kind: row.kind,
  body: row.body,
  format: row.format,
  client_message_id: row.client_message_id,
  mentions: row.mentions.map(id => toTypeId('member', id)),
  event: eventOf(row),
  created_at: row.created_at,
  edited_at: row.edited_at,
  redacted: row.redacted,
});
