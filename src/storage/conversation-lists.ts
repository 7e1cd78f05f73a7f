import type { ConversationPriority, ConversationStatus, Side } from '../domain/conversations.ts';
import type { Page } from '../domain/pages.ts';
import { CONVERSATION_COLUMNS, type ConversationRow, type Owner } from './conversation-rows.ts';
import { byTime, createList, type List, queryInOrder, readPage, readPageOf } from './lists.ts';
import type { TenantStorage } from './orm.ts';
import {
  CONVERSATION_LIMITS,
  findConversations,
  type SearchableList,
  type SearchLimits,
  searchPage,
  whereUnindexedWords,
} from './search.ts';
import { createWhere, type Where } from './sql.ts';

export interface ConversationFilter {
  side: Side;
  status?: ConversationStatus | undefined;
  identity?: string | undefined;
  verified?: boolean | undefined;
  /** `none` for unassigned conversations. */
  assignee?: string | undefined;
  tag?: string | undefined;
  priority?: ConversationPriority | undefined;
  source?: ConversationRow['source_type'] | undefined;
  unread?: boolean | undefined;
  /** Words in the subject, a message or a note. */
  q?: string | undefined;
  updated?: { since: Date; before: Date } | undefined;
  sort?: ConversationSort | undefined;
}

function whereAssignee(where: Where, assignee: string | undefined): void {
  if (assignee === 'none') where.and('assignee_id is null');
  else if (assignee) where.and('assignee_id = $', assignee);
}

/** Finds conversations by the status that their user sees (`statusForUser`). */
function whereStatusForUser(where: Where, status: ConversationStatus): void {
  const authors = { open: "= 'user'", pending: "<> 'user'" }[status as string];
  const snoozed = authors ? `or status = 'snoozed' and last_author_type ${authors}` : '';
  where.and(`(status = $ ${snoozed})`, status);
}

/** Sort orders by wire name. A minus means descending. */
export const CONVERSATION_SORTS = ['-last_activity_at', 'last_activity_at', '-created_at', 'created_at'] as const;
export type ConversationSort = (typeof CONVERSATION_SORTS)[number];

type SortColumn = 'last_activity_at' | 'created_at' | 'updated_at' | 'team_updated_at';

/** Maximum number of conversations with one value whose ids are read for sorting. */
const MAX_SORTED = 2000;

/** Returns conversations by latest activity, unless `sort` or incremental reading (`updated`) sets another order. */
export async function listConversations(
  tenant: TenantStorage,
  filter: ConversationFilter,
  limit: number,
  after: string[] | null,
  limits?: SearchLimits,
): Promise<Page<ConversationRow>> {
  const few = await findFew(tenant, filter);
  if (filter.q !== undefined)
    return searchPage(
      tenant,
      searchableConversations(tenant, filter, few, limits ?? CONVERSATION_LIMITS),
      filter.q,
      limit,
      after,
    );
  const list = conversationList(tenant, filter);
  return few ? readPageOf(tenant, list, few, limit, after) : readPage(tenant, list, limit, after, limits?.lookAt);
}

function sortOf({ updated, side, sort }: ConversationFilter): { column: SortColumn; descending: boolean } {
  if (updated) return { column: side === 'team' ? 'team_updated_at' : 'updated_at', descending: false };
  const name = sort ?? '-last_activity_at';
  return { column: name.replace('-', '') as SortColumn, descending: name.startsWith('-') };
}

const isOfOne = ({ identity, verified }: ConversationFilter): boolean =>
  identity !== undefined && verified !== undefined;

/** Returns the filter with an index in the order of the list; of several, the most selective one. */
function indexedFilter(filter: ConversationFilter, column: SortColumn): keyof ConversationFilter | undefined {
  const { side, assignee, unread, tag, status } = filter;
  if (column === 'last_activity_at' || column === 'updated_at') if (isOfOne(filter)) return 'identity';
  if (column !== 'last_activity_at') return undefined;
  if (assignee && assignee !== 'none') return 'assignee';
  if (unread && side === 'team') return 'unread';
  if (tag) return 'tag';
  if (assignee) return 'assignee';
  return status ? 'status' : undefined;
}

function conversationList(tenant: TenantStorage, filter: ConversationFilter): List<ConversationRow> {
  const order = sortOf(filter);
  const indexed = indexedFilter(filter, order.column);
  const byNone = indexed === 'assignee' && filter.assignee === 'none';
  const list = createList<ConversationRow>(tenant, 'conversations', CONVERSATION_COLUMNS, {
    ...byTime<ConversationRow>(order.column, order.descending),
    ...(byNone ? { nullColumn: 'assignee_id' } : {}),
  });
  const { access, filters } = list;
  const where = (name: keyof ConversationFilter) => (name === indexed ? access : filters);
  const { updated, side } = filter;
  if (updated) access.and(`${order.column} >= $ and ${order.column} < $`, updated.since, updated.before);
  if (filter.identity !== undefined) where('identity').and('identity = $', filter.identity);
  if (filter.verified !== undefined) where('identity').and('identity_verified = $', filter.verified);
  whereAssignee(where('assignee'), filter.assignee);
  if (filter.unread !== undefined) where('unread').and(`${side}_unread ${filter.unread ? '>' : '='} 0`);
  if (indexed === 'tag') access.and("tags <> '{}'"); // selects the partial index
  if (filter.tag) filters.and('$ = any(tags)', filter.tag);
  if (filter.status && side === 'team') where('status').and('status = $', filter.status);
  else if (filter.status) whereStatusForUser(filters, filter.status);
  if (filter.priority) filters.and('priority = $', filter.priority);
  if (filter.source) filters.and('source_type = $', filter.source);
  return list;
}

/**
 * Returns the ids of all conversations with a rare value, if no index has them in the list's order. Undefined when the
 * value is frequent or there is no such filter.
 */
async function findFew(tenant: TenantStorage, filter: ConversationFilter): Promise<string[] | undefined> {
  const { column } = sortOf(filter);
  if (filter.updated || indexedFilter(filter, column) === 'identity') return undefined;
  const where = createWhere();
  where.and('tenant_id = $', tenant.tenantId);
  if (filter.identity !== undefined) where.and('identity = $', filter.identity);
  else if (column === 'last_activity_at') return undefined;
  else if (filter.assignee && filter.assignee !== 'none') whereAssignee(where, filter.assignee);
  else if (filter.unread && filter.side === 'team') where.and('team_unread > 0');
  else return undefined;
  const rows = await queryInOrder<{ id: string }>(
    tenant,
    `select id from conversations ${where.sql} limit ${MAX_SORTED + 1}`,
    where.params,
  );
  return rows.length > MAX_SORTED ? undefined : rows.map(({ id }) => id);
}

const searchableConversations = (
  tenant: TenantStorage,
  filter: ConversationFilter,
  few: string[] | undefined,
  limits: SearchLimits,
): SearchableList<ConversationRow> => ({
  list: () => {
    const list = conversationList(tenant, filter);
    if (few) list.filters.and('id = any($::uuid[])', few);
    return list;
  },
  narrow: isOfOne(filter) || filter.updated !== undefined,
  kinds: ['message', 'subject'],
  limits,
  matches: `(select true from message_words where message_words.tenant_id = conversations.tenant_id
    and message_words.conversation_id = conversations.id and words @@ $::tsquery limit 1)`,
  filterUnindexed: ({ filters }, search) => whereUnindexedWords(filters, tenant, search),
  find: terms => findConversations(tenant, terms, limits.found),
});

/** Maximum number of unread conversations that are counted, so that a count costs the same in every inbox. */
export const MAX_COUNTED = 1000;

/**
 * Counts conversations with unread messages of the other side, up to `MAX_COUNTED`; for the team, those of one assignee.
 * `more` is true beyond that.
 */
export async function countUnread(
  tenant: TenantStorage,
  side: Side,
  owner: Owner | undefined,
  assignee?: string,
): Promise<{ count: number; more: boolean }> {
  const where = createWhere();
  where.and(`tenant_id = $ and ${side}_unread > 0`, tenant.tenantId);
  if (owner) where.and('identity = $ and identity_verified = $', owner.identity, owner.verified);
  whereAssignee(where, assignee);
  const rows = await tenant.query<{ count: number }>(
    `select count(*)::int as count from (select from conversations ${where.sql} limit ${MAX_COUNTED + 1}) as counted`,
    where.params,
  );
  const count = rows[0]?.count ?? 0;
  return { count: Math.min(count, MAX_COUNTED), more: count > MAX_COUNTED };
}
