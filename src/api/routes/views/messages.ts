import { readEventText } from '../../../domain/conversation-events.ts';
import type { Side } from '../../../domain/conversations.ts';
import { toTypeId } from '../../../domain/ids.ts';
import type { MessageRow } from '../../../storage/conversation-rows.ts';

const eventOf = ({ kind, event, body, author_type: type, author_id: id }: MessageRow) =>
  kind === 'event' ? (event ?? readEventText(body, { type, id })) : null;

/** A message as one side sees it. Users see the name of a team author, but no ids of the team. */
export const presentMessage = (side: Side) => (row: MessageRow) => ({
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
  event: eventOf(row),
  created_at: row.created_at,
  edited_at: row.edited_at,
  redacted: row.redacted,
});
