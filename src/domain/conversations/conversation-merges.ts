import { fieldFault, Problem } from '../problem.ts';
import type { ConversationStatus } from './conversations.ts';

/** The fields of a conversation that decide whether it can be merged. */
interface Mergeable {
  id: string;
  identity: string;
  identity_verified: boolean;
  status: ConversationStatus;
  merged_into_id: string | null;
}

/** Throws 422 or 409 unless a conversation can be merged into another one, which is undefined if it does not exist. */
export function requireMergeable<Target extends Mergeable>(
  before: Mergeable,
  target: Target | undefined,
): asserts target is Target {
  if (!target) throw fieldFault('/into', 'unknown-reference', 'Must be the id of a conversation of this tenant.');
  if (target.id === before.id) throw fieldFault('/into', 'conflicting', 'Must be another conversation.');
  if (target.identity !== before.identity || target.identity_verified !== before.identity_verified)
    throw fieldFault('/into', 'different-user', 'Must be a conversation of the same user.');
  const merged = [before, target].find(({ merged_into_id }) => merged_into_id !== null);
  if (merged)
    throw new Problem('invalid-transition', 'One of the conversations was merged before.', {
      extra: { from: merged.status, allowed: [] },
    });
}
