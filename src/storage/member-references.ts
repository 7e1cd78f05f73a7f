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
 * Locks members in order of their ids, so that they cannot be removed before the transaction ends. Returns the ids of
 * those that exist. Call it before locking conversations (`conversation-locks.ts`).
 */
export async function lockMembers(
  tx: Pick<Transaction, 'query'>,
  tenantId: string,
  ids: readonly string[],
): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const rows = await tx.query<{ id: string }>(
    'select id from members where tenant_id = $1 and id = any($2::uuid[]) order by id for key share',
    [tenantId, ids],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Throws 422 for the first id that no member has, and locks the others (`lockMembers`). */
export async function requireMembers(
  tx: Transaction,
  tenantId: string,
  references: readonly MemberReference[],
): Promise<void> {
  if (references.length === 0) return;
  const known = await lockMembers(
    tx,
    tenantId,
    references.map(({ id }) => id),
  );
  const unknown = references.find(({ id }) => !known.has(id));
  if (!unknown) return;
  const rule = 'Must be the id of a member of this tenant, from GET /v1/members';
  throw fieldFault(unknown.pointer, 'unknown-reference', `${rule}${unknown.isNullable ? ', or null' : ''}.`);
}
