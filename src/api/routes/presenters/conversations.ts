import { z } from 'zod';
import { conversationSettings, presentConversation } from '../../../domain/conversations/conversation-replies.ts';
import type { Side } from '../../../domain/conversations/conversations.ts';
import { presentMessage } from '../../../domain/conversations/message-replies.ts';
import { typeId } from '../../../domain/ids.ts';
import { Problem } from '../../../domain/problem.ts';
import type { ConversationRow, MessageRow, Owner } from '../../../storage/conversations/conversation-rows.ts';
import { isTeam, type Participant } from '../../caller.ts';
import { partedTagOf } from '../../http/etag.ts';
import { type OperationReply, reply } from '../../operation.ts';

export const ConversationPath = z.object({ id: typeId('conversation') });

export const sideOfCaller = (caller: Participant): Side => (isTeam(caller) ? 'team' : 'user');

/** The owner whose conversations a caller sees: undefined (all) for the team, the user with an access token. */
export const ownerOf = (caller: Participant): Owner | undefined =>
  isTeam(caller) ? undefined : { identity: caller.identity, verified: caller.verified };

/** Returns the filter for conversations whose notes mention a member, or do not. */
export const mentionedFilter = (memberId: string, isMentioned: boolean | undefined) =>
  isMentioned === undefined ? undefined : { memberId, isMentioned };

/** The 400 for parameters that are only available to the team. */
export const teamOnly = (parameters: readonly string[]): Problem =>
  new Problem('unknown-parameter', 'The query has a parameter that is only available to the team.', {
    errors: parameters.map(parameter => ({
      parameter,
      code: 'unknown-parameter',
      detail: 'Not available with an access token. Remove it.',
    })),
  });

/**
 * Returns the entity tag of a conversation as one side sees it, in three parts.
 *
 * The first changes only with the fields that a change can set, so that neither messages nor read horizons refuse a
 * change. The second also changes with messages and notes, but not when somebody reads: a deletion compares both. The last
 * one is of the whole reply, with the reader's `unread_count`, for `If-None-Match`.
 */
export function conversationTag(side: Side, row: ConversationRow): string {
  const representation = presentConversation(side)(row);
  const { unread_count, updated_at, ...content } = representation; // both change when somebody reads
  const notes = side === 'team' ? row.last_note_seq : 0;
  return partedTagOf(representation, conversationSettings(side, row), { ...content, notes });
}

/** Returns the problem of a message or macro whose author has not seen these messages of others. */
export const conversationMoved = (missed: MessageRow[]): Problem =>
  new Problem('conversation-moved', 'Somebody has written meanwhile. Nothing was written by this request.', {
    extra: { missed: missed.map(presentMessage('team')) },
  });

/** Returns a reply with a conversation as one side sees it, and its entity tag. */
export const conversationReply = (side: Side, row: ConversationRow, parts: OperationReply = {}): OperationReply =>
  reply({
    ...parts,
    headers: { ...parts.headers, ETag: conversationTag(side, row) },
    body: presentConversation(side)(row),
  });
