import { isDeepStrictEqual } from 'node:util';
import { membersOf } from '../domain/assignment.ts';
import type { AssignmentRule } from '../domain/assignment-rules.ts';
import { fieldFault } from '../domain/problem.ts';
import type { TenantStorage } from './orm.ts';
import type { Transaction } from './transaction.ts';

/** Returns the tenant's assignment rules in order. */
export async function findAssignmentRules(tenant: Pick<TenantStorage, 'query' | 'tenantId'>) {
  const [row] = await tenant.query<{ rules: AssignmentRule[] }>(
    'select rules from assignment_rules where tenant_id = $1',
    [tenant.tenantId],
  );
  return row?.rules ?? [];
}

/** Returns where a rule names its members, as a part of a JSON pointer. */
function memberPointer({ then: { assign } }: AssignmentRule, index: number): string {
  if (!assign || 'member_id' in assign) return 'member_id';
  return 'round_robin' in assign ? `round_robin/${index}` : `least_busy/${index}`;
}

/**
 * Throws 422 for the first unknown member. Locks the known ones until the rules are committed, in order of their ids as
 * the assignment does.
 */
async function requireMembers(tx: Transaction, tenantId: string, rules: readonly AssignmentRule[]): Promise<void> {
  const rows = await tx.query<{ id: string }>(
    'select id from members where tenant_id = $1 and id = any($2::uuid[]) order by id for key share',
    [tenantId, rules.flatMap(membersOf)],
  );
  const known = new Set(rows.map(({ id }) => id));
  for (const [place, rule] of rules.entries()) {
    const unknown = membersOf(rule).findIndex(id => !known.has(id));
    if (unknown >= 0)
      throw fieldFault(
        `/data/${place}/then/assign/${memberPointer(rule, unknown)}`,
        'unknown-reference',
        'Must be the id of a member of this tenant, from GET /v1/members.',
      );
  }
}

/**
 * Replaces the tenant's assignment rules. `change` receives the present ones, and throws to prevent the change. 422 for
 * an unknown member. The flag is false if the rules are the same.
 *
 * A new version makes the worker look again at all conversations without an assignee. It keeps the turns of the rules
 * that remain.
 */
export const replaceAssignmentRules = (
  tenant: TenantStorage,
  change: (before: AssignmentRule[]) => AssignmentRule[],
): Promise<{ rules: AssignmentRule[]; isChanged: boolean }> =>
  tenant.transaction(async tx => {
    const { tenantId } = tenant;
    await tx.query(
      `insert into assignment_rules (tenant_id, version, rules, turns) values ($1, 0, '[]', '{}') on conflict do nothing`,
      [tenantId],
    );
    const [row] = await tx.query<{ rules: AssignmentRule[] }>(
      'select rules from assignment_rules where tenant_id = $1 for update',
      [tenantId],
    );
    const before = row?.rules ?? [];
    const after = change(before);
    await requireMembers(tx, tenantId, after);
    const isChanged = !isDeepStrictEqual(before, JSON.parse(JSON.stringify(after)));
    if (isChanged)
      await tx.query(
        `update assignment_rules set version = version + 1, rules = $2::jsonb, turns = (
           select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(turns) where key = any($3::text[]))
         where tenant_id = $1`,
        [tenantId, JSON.stringify(after), after.map(({ id }) => id)],
      );
    return { rules: after, isChanged };
  });
