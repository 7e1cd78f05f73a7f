import { MAX_ACTIVE_OF_USER } from '../../domain/conversations/conversations.ts';
import { Problem } from '../../domain/problem.ts';
import type { Transaction } from '../database/transaction.ts';
import type { Author, Owner } from './conversation-rows.ts';

export const ACTIVE_OF_USER = `select count(*)::int as count from (
    select from conversations
    where tenant_id = $1 and identity = $2 and identity_verified = $3 and status in ('open', 'pending')
    limit ${MAX_ACTIVE_OF_USER}
  ) as active`;

/**
 * Returns whether an author may open another conversation of a user: the team always, the user below the limit. Locks the
 * user until the transaction ends, so that concurrent requests don't exceed it.
 */
export async function mayOpen(
  tx: Transaction,
  tenantId: string,
  { identity, verified }: Owner,
  { type }: Author,
): Promise<boolean> {
  if (type !== 'user') return true;
  const key = `conversations ${tenantId} ${verified} ${identity}`;
  const [, rows] = await Promise.all([
    tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [key]),
    tx.query<{ count: number }>(ACTIVE_OF_USER, [tenantId, identity, verified]), // reads after the lock, with the rows of other requests
  ]);
  return (rows[0]?.count ?? 0) < MAX_ACTIVE_OF_USER;
}

/** Returns the 409 for a user at the limit of open and pending conversations. */
export const tooManyActive = (): Problem =>
  new Problem(
    'limit-reached',
    `A user can have at most ${MAX_ACTIVE_OF_USER} open and pending conversations. Write to one of them, or resolve one.`,
  );
