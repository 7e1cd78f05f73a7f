import type { Page } from '../../domain/pages.ts';
import { notFound, Problem } from '../../domain/problem.ts';
import { byTime, createList, type Order, readPage } from '../database/lists.ts';
import type { TenantStorage } from '../database/orm.ts';
import type { Transaction } from '../database/transaction.ts';
import { type ConversationFilter, listConversations } from './conversation-lists.ts';
import type { ConversationRow, Owner } from './conversation-rows.ts';
import { mergePages } from './merged-pages.ts';

/** A conversation that was deleted, as incremental readers learn of it. */
export interface ConversationTombstone {
  id: string;
  deleted_at: Date;
}

/**
 * Returns conversations together with tombstones of deleted ones, in the order of their change or deletion. Filters other
 * than the identity do not apply to tombstones.
 */
export async function listWithTombstones(
  tenant: TenantStorage,
  filter: ConversationFilter & { updated: { since: Date; before: Date } },
  limit: number,
  after: string[] | null,
): Promise<Page<ConversationRow | ConversationTombstone>> {
  const [present, gone] = await Promise.all([
    listConversations(tenant, filter, limit, after),
    listTombstones(tenant, filter, limit, after),
  ]);
  const column = filter.side === 'team' ? 'team_updated_at' : 'updated_at';
  return mergePages<ConversationRow | ConversationTombstone>([present, gone], limit, row => [
    ('deleted_at' in row ? row.deleted_at : row[column]).toISOString(),
    row.id,
  ]);
}

const BY_DELETION: Order<ConversationTombstone> = byTime('deleted_at', false);

function listTombstones(
  tenant: TenantStorage,
  filter: ConversationFilter & { updated: { since: Date; before: Date } },
  limit: number,
  after: string[] | null,
): Promise<Page<ConversationTombstone>> {
  const list = createList(tenant, 'conversation_tombstones', 'id, deleted_at', BY_DELETION);
  const { updated, identity, verified } = filter;
  list.access.and('deleted_at >= $ and deleted_at < $', updated.since, updated.before);
  if (identity !== undefined) list.filters.and('identity = $', identity);
  if (verified !== undefined) list.filters.and('identity_verified = $', verified);
  return readPage(tenant, list, limit, after);
}

/**
 * Returns the problem of a message to a conversation that does not exist: 410 for as long as its deletion is known, to
 * those who saw it, otherwise 404.
 */
export async function missingConversation(
  tx: Transaction,
  tenantId: string,
  id: string,
  owner: Owner | undefined,
): Promise<Problem> {
  const deleted = await tx.query(
    `select from conversation_tombstones where tenant_id = $1 and id = $2
     and ($3::text is null or identity = $3 and identity_verified = $4)`,
    [tenantId, id, owner?.identity ?? null, owner?.verified ?? null],
  );
  if (deleted.length === 0) return notFound('conversation');
  return new Problem('conversation-deleted', 'The conversation to which the message is addressed was deleted.');
}
