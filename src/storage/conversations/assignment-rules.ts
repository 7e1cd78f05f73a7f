import { isDeepStrictEqual } from 'node:util';
import { membersOf } from '../../domain/conversations/assignment.ts';
import type { AssignmentRule } from '../../domain/conversations/assignment-rules.ts';
import type { TenantStorage } from '../database/orm.ts';
import type { Transaction } from '../database/transaction.ts';
import { markTenant } from '../tenants/marked-tenants.ts';
import { type MemberReference, requireAnswerers } from './member-references.ts';

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
 * Throws 422 for a member whom a rule names and who may not answer, or does not exist. The present rules may name some who
 * have been removed since; they skip them.
 */
export async function requireAssignable(
  tx: Transaction,
  tenantId: string,
  before: readonly AssignmentRule[],
  after: readonly AssignmentRule[],
): Promise<void> {
  const named = new Set(before.flatMap(membersOf));
  const references = after.flatMap(referencesOf).map(one => ({ ...one, mayBeGone: named.has(one.id) }));
  await requireAnswerers(tx, tenantId, references);
}

/** Returns a rule with the version in which it got its form: the next one, unless it is as before. */
function dated(rule: AssignmentRule, before: readonly AssignmentRule[], version: number): AssignmentRule {
  const known = before.find(({ id }) => id === rule.id);
  const { since: _, ...form } = known ?? {};
  return known && isDeepStrictEqual(form, plain(rule)) ? known : { ...rule, since: version };
}

/** A rule as it is read again after it was stored. */
const plain = (rule: AssignmentRule): unknown => JSON.parse(JSON.stringify(rule));

interface RulesRow {
  version: number;
  rules: AssignmentRule[];
  new_since: Date | null;
}

/**
 * Replaces the tenant's assignment rules. `change` receives the present ones, and throws to prevent the change. 422 for a
 * member who cannot be assigned (`requireAssignable`). The flag is false if the rules are the same and none of the waiting
 * conversations has to be looked at.
 *
 * A new version makes the worker look again at all conversations without an assignee; with `apply: new`, it leaves alone
 * those that have not changed since. It keeps the turns of the rules that remain.
 */
export const replaceAssignmentRules = (
  tenant: TenantStorage,
  apply: 'waiting' | 'new',
  change: (before: AssignmentRule[]) => AssignmentRule[],
): Promise<{ rules: AssignmentRule[]; isChanged: boolean }> =>
  tenant.transaction(async tx => {
    const { tenantId } = tenant;
    await tx.query(
      `insert into assignment_rules (tenant_id, version, rules, turns) values ($1, 0, '[]', '{}') on conflict do nothing`,
      [tenantId],
    );
    const [row] = await tx.query<RulesRow>(
      'select version, rules, new_since from assignment_rules where tenant_id = $1 for update',
      [tenantId],
    );
    const { version, rules: before, new_since } = row as RulesRow;
    const next = version + 1;
    const after = change(before).map(rule => dated(rule, before, next));
    await requireAssignable(tx, tenantId, before, after);
    const isSame = isDeepStrictEqual(before, after.map(plain));
    const isChanged = !isSame || (apply === 'waiting' && new_since !== null);
    if (isChanged) {
      await tx.query(
        `update assignment_rules set version = $4, rules = $2::jsonb, turns = (
           select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(turns) where key = any($3::text[])),
           new_since = case when $5 then clock_timestamp() end
         where tenant_id = $1`,
        [tenantId, JSON.stringify(after), after.map(({ id }) => id), next, apply === 'new'],
      );
      await markTenant(tx, tenantId, 'assignment');
    }
    return { rules: after, isChanged };
  });
