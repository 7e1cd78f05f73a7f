import { type ConversationSort, DEFAULT_SORT } from '../../domain/conversations/conversation-filters.ts';
import type { Side } from '../../domain/conversations/conversations.ts';
import { MAX_COUNTED } from '../../domain/conversations/views.ts';
import { type Page, valuesIn } from '../../domain/pages.ts';
import { byTime, createList, type List, readInOrder, readPage, readPageOf } from '../database/lists.ts';
import type { TenantStorage } from '../database/orm.ts';
import { createWhere, type Where } from '../database/sql.ts';
import {
  CONVERSATION_LIMITS,
  findConversations,
  type SearchableList,
  type SearchLimits,
  searchPage,
} from '../search/search.ts';
import { CONVERSATION_COLUMNS, type ConversationRow, type Owner } from './conversation-rows.ts';

export interface ConversationFilter {
  side: Side;
  /** One or several, separated by commas; likewise `priority` and `source`. */
  status?: string | undefined;
  identity?: string | undefined;
  verified?: boolean | undefined;
  /** `none` for unassigned conversations. */
  assignee?: string | undefined;
  tag?: string | undefined;
  priority?: string | undefined;
  source?: string | undefined;
  unread?: boolean | undefined;
  overdue?: boolean | undefined;
  /** A member, and whether a note mentions them. */
  mentioned?: { memberId: string; isMentioned: boolean } | undefined;
  /** Words in the subject, a message or a note. */
  q?: string | undefined;
  updated?: { since: Date; before: Date } | undefined;
  sort?: ConversationSort | undefined;
}

function whereAssignee(where: Where, assignee: string | undefined): void {
  if (assignee === 'none') where.and('assignee_id is null');
  else if (assignee) where.and('assignee_id = $', assignee);
}

/** Finds conversations by the statuses that their user sees (`statusForUser`). */
function whereStatusForUser(where: Where, statuses: string[]): void {
  const authors: Record<string, string> = { open: "= 'user'", pending: "<> 'user'" };
  const snoozed = statuses
    .filter(status => status in authors)
    .map(status => `or status = 'snoozed' and last_author_type ${authors[status]}`);
  where.and(`(status = any($::text[]) ${snoozed.join(' ')})`, statuses);
}

type SortColumn =
  | 'last_activity_at'
  | 'created_at'
  | 'updated_at'
  | 'team_updated_at'
  | 'reply_due_at'
  | 'waiting_since';

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
  const name = sort ?? DEFAULT_SORT;
  return { column: name.replace('-', '') as SortColumn, descending: name.startsWith('-') };
}

/** The conditions that some orders of a list imply. */
const SORTABLE: { [column in SortColumn]?: string } = {
  reply_due_at: 'reply_due_at is not null',
  waiting_since: "status = 'open' and waiting_since is not null",
};

/** Adds the condition for conversations that are in the list of a filter because of its order. */
export function whereSortable(where: Where, filter: ConversationFilter): void {
  const condition = SORTABLE[sortOf(filter).column];
  if (condition) where.and(condition);
}

const isOfOne = ({ identity, verified }: ConversationFilter): boolean =>
  identity !== undefined && verified !== undefined;

/** Returns the filters with an index in the order of the list; of several, the most selective one. */
function indexedFilters(filter: ConversationFilter, column: SortColumn): (keyof ConversationFilter)[] {
  const { side, assignee, unread, tag, status, mentioned } = filter;
  if (column === 'last_activity_at' || column === 'updated_at') if (isOfOne(filter)) return ['identity'];
  if (column === 'reply_due_at') return ['overdue'];
  if (column !== 'last_activity_at') return [];
  if (assignee && status === 'open') return ['assignee', 'status'];
  if (assignee && assignee !== 'none') return ['assignee'];
  if (unread && side === 'team') return ['unread'];
  if (mentioned?.isMentioned) return status === 'open' ? ['mentioned', 'status'] : ['mentioned'];
  if (tag) return ['tag'];
  if (assignee) return ['assignee'];
  return status && valuesIn(status).length === 1 ? ['status'] : [];
}

/** Adds conditions that no index answers as a whole. Literals select the partial indexes. */
function addOwnFilters(
  { access, filters }: List<ConversationRow>,
  filter: ConversationFilter,
  indexed: string[],
): void {
  if (indexed.includes('tag')) access.and("tags <> '{}'");
  if (filter.tag) filters.and('$ = any(tags)', filter.tag);
  if (indexed.includes('mentioned')) access.and("mentioned <> '{}'");
  const { mentioned } = filter;
  if (mentioned) filters.and(`${mentioned.isMentioned ? '' : 'not '}($ = any(mentioned))`, mentioned.memberId);
  if (filter.priority) filters.and('priority = any($::text[])', valuesIn(filter.priority));
  if (filter.source) filters.and('source_type = any($::text[])', valuesIn(filter.source));
}

/** `isSet` for lists with only conversations that are due at some time: an index then finds those that are not overdue. */
function whereOverdue(where: Where, overdue: boolean | undefined, isSet = false): void {
  if (overdue) where.and('reply_due_at <= now()');
  else if (overdue === false)
    where.and(isSet ? 'reply_due_at > now()' : '(reply_due_at is null or reply_due_at > now())');
}

function whereStatus({ access, filters }: List<ConversationRow>, filter: ConversationFilter, indexed: string[]): void {
  const { status, side } = filter;
  if (!status) return;
  if (side === 'user') whereStatusForUser(filters, valuesIn(status));
  else if (indexed.length === 2)
    access.and("status = 'open'"); // a literal selects the partial index
  else if (indexed.includes('status')) access.and('status = $', status);
  else filters.and('status = any($::text[])', valuesIn(status));
}

/** Returns the list of a filter, in the order of an index. */
export function conversationList(tenant: TenantStorage, filter: ConversationFilter): List<ConversationRow> {
  const sort = sortOf(filter);
  const indexed = indexedFilters(filter, sort.column);
  const byNone = indexed.includes('assignee') && filter.assignee === 'none';
  const order = {
    ...byTime<ConversationRow>(sort.column, sort.descending),
    ...(byNone ? { nullColumn: 'assignee_id' } : {}),
  };
  const list = createList<ConversationRow>(tenant, 'conversations', CONVERSATION_COLUMNS, order);
  const { access, filters } = list;
  const where = (name: keyof ConversationFilter) => (indexed.includes(name) ? access : filters);
  const { updated, side } = filter;
  if (updated) access.and(`${sort.column} >= $ and ${sort.column} < $`, updated.since, updated.before);
  whereSortable(access, filter);
  if (filter.identity !== undefined) where('identity').and('identity = $', filter.identity);
  if (filter.verified !== undefined) where('identity').and('identity_verified = $', filter.verified);
  whereAssignee(where('assignee'), filter.assignee);
  if (filter.unread !== undefined) where('unread').and(`${side}_unread ${filter.unread ? '>' : '='} 0`);
  whereOverdue(where('overdue'), filter.overdue, sort.column === 'reply_due_at');
  whereStatus(list, filter, indexed);
  addOwnFilters(list, filter, indexed);
  return list;
}

/**
 * Returns the ids of all conversations with a rare value, if no index has them in the list's order. Undefined when the
 * value is frequent or there is no such filter.
 */
async function findFew(tenant: TenantStorage, filter: ConversationFilter): Promise<string[] | undefined> {
  const { column } = sortOf(filter);
  if (filter.updated || indexedFilters(filter, column).includes('identity')) return undefined;
  const where = createWhere();
  where.and('tenant_id = $', tenant.tenantId);
  if (filter.identity !== undefined) where.and('identity = $', filter.identity);
  else if (filter.overdue && column !== 'reply_due_at') whereOverdue(where, true);
  else if (column === 'last_activity_at') return undefined;
  else if (filter.assignee && filter.assignee !== 'none') whereAssignee(where, filter.assignee);
  else if (filter.unread && filter.side === 'team') where.and('team_unread > 0');
  else return undefined;
  const rows = await readInOrder<{ id: string }>(
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
  limits,
  matches: `(select true from message_words where message_words.tenant_id = conversations.tenant_id
    and message_words.conversation_id = conversations.id and words @@ $::tsquery limit 1)`,
  find: terms => findConversations(tenant, terms, limits.found),
});

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
