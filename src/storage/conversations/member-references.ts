import { fieldFault } from '../../domain/problem.ts';
import { type Role, roleHolds } from '../../domain/team/roles.ts';
import type { Transaction } from '../database/transaction.ts';

/** A member that a request names, and where. */
export interface MemberReference {
  id: string;
  /** A JSON pointer into the body. */
  pointer: string;
  /** Whether the field may also be null. */
  isNullable?: boolean;
  /** Whether the member may have been removed, because the reference is not new. */
  mayBeGone?: boolean;
}

/**
 * Locks members in order of their ids, so that they are not removed and keep their role until the transaction ends. Returns
 * the roles of those that exist. Call it before locking conversations (`conversation-locks.ts`).
 */
export async function lockMembers(
  tx: Pick<Transaction, 'query'>,
  tenantId: string,
  ids: readonly string[],
): Promise<Map<string, Role>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.query<{ id: string; role: Role }>(
    'select id, role from members where tenant_id = $1 and id = any($2::uuid[]) order by id for key share',
    [tenantId, [...new Set(ids)]],
  );
  return new Map(rows.map(({ id, role }) => [id, role]));
}

const orNull = ({ isNullable }: MemberReference): string => (isNullable ? ', or null' : '');

/** Throws 422 for the first id that no member has, and locks the others (`lockMembers`). */
export async function requireMembers(
  tx: Transaction,
  tenantId: string,
  references: readonly MemberReference[],
): Promise<Map<string, Role>> {
  const roles = await lockMembers(
    tx,
    tenantId,
    references.map(({ id }) => id),
  );
  const unknown = references.find(({ id, mayBeGone }) => !mayBeGone && !roles.has(id));
  if (!unknown) return roles;
  const rule = 'Must be the id of a member of this tenant, from GET /v1/members';
  throw fieldFault(unknown.pointer, 'unknown-reference', `${rule}${orNull(unknown)}.`);
}

/** Like `requireMembers`, for members who get conversations. Throws 422 `not-allowed` for one who may not answer them. */
export async function requireAnswerers(
  tx: Transaction,
  tenantId: string,
  references: readonly MemberReference[],
): Promise<void> {
  const roles = await requireMembers(tx, tenantId, references);
  const reader = references.find(({ id }) => {
    const role = roles.get(id);
    return role && !roleHolds(role, 'conversations:write');
  });
  if (reader)
    throw fieldFault(
      reader.pointer,
      'not-allowed',
      `Must be a member who may answer conversations, such as an agent${orNull(reader)}.`,
    );
}
