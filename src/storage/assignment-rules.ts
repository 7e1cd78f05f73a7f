import { isDeepStrictEqual } from 'node:util';
import { membersOf } from '../domain/assignment.ts';
import type { AssignmentRule } from '../domain/assignment-rules.ts';
import { type MemberReference, requireMembers } from './member-references.ts';
import type { TenantStorage } from './orm.ts';

/** Returns the tenant's assignment rules in order. */
export async function findAssignmentRules(tenant: Pick<TenantStorage, 'query' | 'tenantId'>) {
  const [row] = await tenant.query<{ rules: AssignmentRule[] }>(
    'select rules from assignment_rules where tenant_id = $1',
    [tenant.tenantId],
  );
  return row?.rules ?? [];
}

/** Returns the members that a rule names, with their places in the request. */
function referencesOf(rule: AssignmentRule, place: number): MemberReference[] {
  const { assign } = rule.then;
  const kind = assign && Object.keys(assign)[0];
  const pointer = `/data/${place}/then/assign/${kind}`;
  return membersOf(rule).map((id, index) => ({ id, pointer: kind === 'member_id' ? pointer : `${pointer}/${index}` }));
}

/**
 * Replaces the tenant's assignment rules. `change` receives the present ones, and throws to prevent the change. 422 for
 * an unknown member that the present rules do not name. The flag is false if the rules are the same.
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
    const named = new Set(before.flatMap(membersOf)); // they may have been removed since; the rules skip them
    const added = after.flatMap(referencesOf).filter(({ id }) => !named.has(id));
    await requireMembers(tx, tenantId, added);
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
