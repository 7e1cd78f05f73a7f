import { createRuleTest, type Judged } from '../../domain/conversations/assignment.ts';
import type { AssignmentRule } from '../../domain/conversations/assignment-rules.ts';
import { MAX_COUNTED, MAX_LOOKED_AT } from '../../domain/conversations/views.ts';
import { createTurns } from '../../platform/turns.ts';
import { readInOrder } from '../database/lists.ts';
import type { TenantStorage } from '../database/orm.ts';
import { findAssignmentRules, requireAssignable } from './assignment-rules.ts';
import type { ConversationCount } from './conversation-counts.ts';

/** The attributes of users are only read for rules that compare them. */
export const waitingFacts = (withAttributes: boolean): string => {
  const attributes = `coalesce((select attributes from identities where identities.tenant_id = waiting.tenant_id
    and identities.identity = waiting.identity and identities.identity_verified = waiting.identity_verified), '{}')`;
  return `select source_type, tags, priority, identity_verified, ${withAttributes ? attributes : `'{}'::jsonb`} as attributes
    from (
      select * from conversations where tenant_id = $1 and status = 'open' and assignee_id is null
      order by rules_checked, created_at, id limit ${MAX_LOOKED_AT + 1}
    ) as waiting`;
};

/**
 * Counts the open conversations without an assignee that a rule matches, up to `MAX_COUNTED`. It looks at `MAX_LOOKED_AT` of
 * them, so that it costs the same in every inbox. 422 for a member who cannot be assigned.
 */
export async function countMatching(
  tenant: TenantStorage,
  rules: readonly AssignmentRule[],
  now: Date,
): Promise<ConversationCount> {
  const { tenantId } = tenant;
  const before = await findAssignmentRules(tenant);
  await tenant.transaction(tx => requireAssignable(tx, tenantId, before, rules));
  const sql = waitingFacts(rules.some(({ when }) => when.attribute));
  const waiting = rules.length === 0 ? [] : await readInOrder<Judged>(tenant, sql, [tenantId]);
  const matches = createRuleTest(rules);
  const turns = createTurns();
  let count = 0;
  for (const conversation of waiting.slice(0, MAX_LOOKED_AT)) {
    await turns();
    if (matches(conversation, now.getTime()) && ++count > MAX_COUNTED) return { count: MAX_COUNTED, more: true };
  }
  return { count, more: waiting.length > MAX_LOOKED_AT };
}
