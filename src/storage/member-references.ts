import { fieldFault } from '../domain/problem.ts';
import type { Transaction } from './transaction.ts';

/** A member that a request names, and where. */
export interface MemberReference {
  id: string;
  /** A JSON pointer into the body. */
  pointer: string;
  /** Whether the field may also be null. */
  isNullable?: boolean;
}

/**
 * Throws 422 for the first reference to somebody who is not a member. Prevents the removal of the others until the
 * transaction is committed; they are locked in order of their ids, as by the assignment rules.
 */
export async function requireMembers(
  tx: Transaction,
  tenantId: string,
  references: readonly MemberReference[],
): Promise<void> {
  if (references.length === 0) return;
  const rows = await tx.query<{ id: string }>(
    'select id from members where tenant_id = $1 and id = any($2::uuid[]) order by id for key share',
    [tenantId, references.map(({ id }) => id)],
  );
  const known = new Set(rows.map(({ id }) => id));
  const unknown = references.find(({ id }) => !known.has(id));
  if (!unknown) return;
  const rule = 'Must be the id of a member of this tenant, from GET /v1/members';
  throw fieldFault(unknown.pointer, 'unknown-reference', `${rule}${unknown.isNullable ? ', or null' : ''}.`);
}
