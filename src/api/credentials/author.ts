import { causedBy, type EventActor } from '../../domain/events/events.ts';
import { toTypeId } from '../../domain/ids.ts';
import type { Author } from '../../storage/conversations/conversation-rows.ts';
import type { Participant } from '../caller.ts';

/** Returns a caller as the author of messages. */
export function authorOf(caller: Participant): Author {
  if (caller.kind === 'api-key') return { type: 'api', id: toTypeId('key', caller.keyId), name: null };
  if (caller.kind === 'access-token') return { type: 'user', id: caller.identity, name: null };
  return { type: 'member', id: toTypeId('member', caller.memberId), name: caller.name || null };
}

/** Returns a caller as the one who causes events. */
export const actorOf = (caller: Participant): EventActor => causedBy(authorOf(caller));
