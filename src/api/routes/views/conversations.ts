import { z } from 'zod';
import { conversationSettings, presentConversation } from '../../../domain/conversation-replies.ts';
import type { Side } from '../../../domain/conversations.ts';
import { typeId } from '../../../domain/ids.ts';
import type { ConversationRow, Owner } from '../../../storage/conversation-rows.ts';
import { isTeam, type Participant } from '../../caller.ts';
import { settingsTagOf } from '../../http/etag.ts';
import { type OperationReply, reply } from '../../operation.ts';

export const ConversationPath = z.object({ id: typeId('conversation') });

export const sideOfCaller = (caller: Participant): Side => (isTeam(caller) ? 'team' : 'user');

/** The owner whose conversations a caller sees: undefined (all) for the team, the user with an access token. */
export const ownerOf = (caller: Participant): Owner | undefined =>
  isTeam(caller) ? undefined : { identity: caller.identity, verified: caller.verified };

/** Returns the filter for conversations whose notes mention a member, or do not. */
export const mentionedFilter = (memberId: string, isMentioned: boolean | undefined) =>
  isMentioned === undefined ? undefined : { memberId, isMentioned };

/**
 * Returns the entity tag of a conversation as one side sees it. Its first part changes only with the fields that a change
 * can set, so that neither messages nor read horizons refuse a change.
 */
export const conversationTag = (side: Side, row: ConversationRow): string =>
  settingsTagOf(conversationSettings(side, row), presentConversation(side)(row));

/** Returns a reply with a conversation as one side sees it, and its entity tag. */
export const conversationReply = (side: Side, row: ConversationRow, parts: OperationReply = {}): OperationReply =>
  reply({
    ...parts,
    headers: { ...parts.headers, ETag: conversationTag(side, row) },
    body: presentConversation(side)(row),
  });
