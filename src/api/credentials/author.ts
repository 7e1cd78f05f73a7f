import { toTypeId } from '../../domain/ids.ts';
import type { Author } from '../../storage/conversation-rows.ts';
import type { Participant } from '../caller.ts';

/** A caller as the author of what is written into conversations. */
export function authorOf(caller: Participant): Author {
  if (caller.kind === 'api-key') return { type: 'api', id: toTypeId('key', caller.keyId), name: null };
  if (caller.kind === 'access-token') return { type: 'user', id: caller.identity, name: null };
  return { type: 'member', id: toTypeId('member', caller.memberId), name: caller.name || null };
}
