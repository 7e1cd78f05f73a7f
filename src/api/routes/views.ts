import { z } from 'zod';
import { DEFAULT_SORT } from '../../domain/conversations/conversation-filters.ts';
import {
  MAX_COUNTED,
  MAX_LOOKED_AT,
  NewView,
  View,
  ViewCounts,
  type ViewFilter,
  ViewPatch,
} from '../../domain/conversations/views.ts';
import { toTypeId, typeId } from '../../domain/ids.ts';
import { pageOf, pageQuery } from '../../domain/pages.ts';
import { countConversations } from '../../storage/conversations/conversation-counts.ts';
import type { ConversationFilter } from '../../storage/conversations/conversation-lists.ts';
import {
  deleteView as deleteViewRow,
  findView,
  insertView,
  listViews as listViewRows,
  readViews,
  updateView,
  type ViewRow,
} from '../../storage/conversations/views.ts';
import { operation, reply } from '../operation.ts';
import { mentionedFilter } from './presenters/conversations.ts';

const shared = { tag: 'Views', credentials: ['session'] as 'session'[] };
const ViewPath = z.object({ id: typeId('view') });

const presentFilter = ({ assignee, ...filter }: ViewFilter) => ({
  ...filter,
  ...(assignee ? { assignee: assignee === 'none' ? assignee : toTypeId('member', assignee) } : {}),
});

const presentView = ({ id, filter, ...row }: ViewRow) => ({
  id: toTypeId('view', id),
  ...row,
  filter: presentFilter(filter),
});

export const listViews = operation({
  ...shared,
  id: 'listViews',
  method: 'get',
  path: '/v1/views',
  summary: 'List your views and the shared ones, oldest first',
  right: 'conversations:read',
  query: z.object(pageQuery),
  status: 200,
  response: pageOf(View),
  async handle({ caller, query, after, page }, { storage }) {
    const tenant = storage.forTenant(caller.tenantId);
    return page(await listViewRows(tenant, caller.memberId, query.limit, after), presentView);
  },
});

export const createView = operation({
  ...shared,
  id: 'createView',
  method: 'post',
  path: '/v1/views',
  summary: 'Save a view of the inbox',
  description: 'A view is a filter and an order of the list of conversations, with a name.',
  right: 'conversations:write',
  audit: 'view.created',
  body: NewView,
  status: 201,
  sends: ['Location'],
  response: View,
  etag: true,
  problems: ['limit-reached'],
  async handle({ caller, body, receivedAt }, { storage }) {
    const { name, filter = {}, sort = DEFAULT_SORT, shared = false } = body;
    const tenant = storage.forTenant(caller.tenantId);
    const view = presentView(await insertView(tenant, caller.memberId, { name, filter, sort, shared }, receivedAt));
    return reply({ headers: { Location: `/v1/views/${view.id}` }, body: view });
  },
});

export const readView = operation({
  ...shared,
  id: 'readView',
  method: 'get',
  path: '/v1/views/{id}',
  summary: 'Get a view',
  description: 'One of your own, or a shared one.',
  right: 'conversations:read',
  params: ViewPath,
  status: 200,
  response: View,
  etag: true,
  async handle({ caller, params }, { storage }) {
    const tenant = storage.forTenant(caller.tenantId);
    return presentView(await findView(tenant, caller.tenantId, caller.memberId, params.id));
  },
});

export const patchView = operation({
  ...shared,
  id: 'patchView',
  method: 'patch',
  path: '/v1/views/{id}',
  summary: 'Update a view',
  description:
    '`filter` replaces the whole filter. All members can change shared views. A view that is no longer shared belongs to the member who changed it.',
  right: 'conversations:write',
  audit: 'view.updated',
  params: ViewPath,
  body: ViewPatch,
  status: 200,
  response: View,
  ifMatch: true,
  etag: true,
  problems: ['limit-reached'],
  async handle({ caller, params, body, receivedAt, requireMatch }, { storage }) {
    const change = (before: ViewRow) => {
      requireMatch(presentView(before));
      return { ...before, ...body };
    };
    const tenant = storage.forTenant(caller.tenantId);
    const { view, isChanged } = await updateView(tenant, caller.memberId, params.id, change, receivedAt);
    return reply({ body: presentView(view), unchanged: !isChanged });
  },
});

export const deleteView = operation({
  ...shared,
  id: 'deleteView',
  method: 'delete',
  path: '/v1/views/{id}',
  summary: 'Delete a view',
  right: 'conversations:write',
  audit: 'view.deleted',
  params: ViewPath,
  status: 204,
  ifMatch: true,
  async handle({ caller, params, requireMatch }, { storage }) {
    const check = (before: ViewRow) => requireMatch(presentView(before));
    const row = await deleteViewRow(storage.forTenant(caller.tenantId), caller.memberId, params.id, check);
    return reply({ status: 204, body: presentView(row) });
  },
});

/** Returns the filters of all views with a count, by the name of the count. */
function countedFilters(memberId: string, saved: readonly ViewRow[]): Map<string, ConversationFilter> {
  const open = { side: 'team', status: 'open' } as const;
  const fixed: Record<string, ConversationFilter> = {
    mine: { ...open, assignee: memberId },
    unassigned: { ...open, assignee: 'none' },
    all: open,
    mentions: { ...open, mentioned: { memberId, isMentioned: true } },
  };
  const counted = saved.filter(({ filter }) => filter.q === undefined);
  return new Map([
    ...Object.entries(fixed),
    ...counted.map(({ id, filter: { mentioned, ...filter }, sort }): [string, ConversationFilter] => [
      toTypeId('view', id),
      { side: 'team', ...filter, sort, mentioned: mentionedFilter(memberId, mentioned) },
    ]),
  ]);
}

export const countConversationsOfViews = operation({
  ...shared,
  id: 'countConversationsOfViews',
  method: 'get',
  path: '/v1/conversations/counts',
  summary: 'Count the conversations of each view',
  description: `The counts of your views, the shared ones, and four that every inbox has. A count ends at ${MAX_COUNTED}, or after looking at the ${MAX_LOOKED_AT} conversations with the latest activity: \`more\` is then true. With \`If-None-Match\`, unchanged counts return 304.`,
  right: 'conversations:read',
  status: 200,
  response: ViewCounts,
  etag: true,
  async handle({ caller }, { storage }) {
    const tenant = storage.forTenant(caller.tenantId);
    const saved = await readViews(tenant, caller.memberId);
    return { views: await countConversations(tenant, countedFilters(caller.memberId, saved)) };
  },
});

/** Every operation on views. The counts come before a conversation's path. */
export const viewRoutes = [countConversationsOfViews, listViews, createView, readView, patchView, deleteView];
