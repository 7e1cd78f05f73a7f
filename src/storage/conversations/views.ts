import { isDeepStrictEqual } from 'node:util';
import type { ConversationSort } from '../../domain/conversations/conversation-filters.ts';
import { MAX_VIEWS, type ViewFilter } from '../../domain/conversations/views.ts';
import { newUuid } from '../../domain/ids.ts';
import type { Page } from '../../domain/pages.ts';
import { notFound, Problem } from '../../domain/problem.ts';
import { byTime, createList, readPage } from '../database/lists.ts';
import type { TenantStorage } from '../database/orm.ts';
import type { Transaction } from '../database/transaction.ts';
import { lockTenant } from '../tenants/tenants.ts';

export interface ViewRow {
  id: string;
  name: string;
  /** Members are given by their UUIDs. */
  filter: ViewFilter;
  sort: ConversationSort;
  shared: boolean;
  created_at: Date;
  updated_at: Date;
}

/** The fields of a view that a request sets. */
export type ViewFields = Pick<ViewRow, 'name' | 'filter' | 'sort' | 'shared'>;

const COLUMNS = 'id, name, filter, sort, shared, created_at, updated_at';

/** Returns the views that a member sees, oldest first. */
export function listViews(
  tenant: TenantStorage,
  memberId: string,
  limit: number,
  after: string[] | null,
): Promise<Page<ViewRow>> {
  const list = createList(tenant, 'views', COLUMNS, byTime<ViewRow>('created_at', false));
  list.access.and('(shared or member_id = $)', memberId);
  return readPage(tenant, list, limit, after);
}

/** Returns all views that a member sees: at most as many as a member can have, and as many shared ones. */
export const readViews = (tenant: TenantStorage, memberId: string): Promise<ViewRow[]> =>
  tenant.query<ViewRow>(
    `select ${COLUMNS} from views where tenant_id = $1 and (shared or member_id = $2) order by created_at, id
     limit ${2 * MAX_VIEWS}`,
    [tenant.tenantId, memberId],
  );

/** Throws 409 if the member has `MAX_VIEWS` views of their own, or the tenant as many shared ones. The tenant is locked. */
async function requireRoom(tx: Transaction, tenantId: string, memberId: string, shared: boolean): Promise<void> {
  const [row] = await tx.query<{ count: number }>(
    `select count(*)::int as count from views where tenant_id = $1 and shared = $3 and (shared or member_id = $2)`,
    [tenantId, memberId, shared],
  );
  if ((row?.count ?? 0) < MAX_VIEWS) return;
  const detail = shared
    ? `A tenant can have at most ${MAX_VIEWS} shared views.`
    : `A member can have at most ${MAX_VIEWS} views that are not shared.`;
  throw new Problem('limit-reached', detail);
}

/** Inserts a view of a member. Throws 409 beyond the maximum. */
export const insertView = (
  tenant: TenantStorage,
  memberId: string,
  { name, filter, sort, shared }: ViewFields,
  now: Date,
): Promise<ViewRow> =>
  tenant.transaction(async tx => {
    await lockTenant(tx, tenant.tenantId);
    await requireRoom(tx, tenant.tenantId, memberId, shared);
    const rows = await tx.query<ViewRow>(
      `insert into views (tenant_id, member_id, ${COLUMNS}) values ($1, $2, $3, $4, $5::jsonb, $6, $7, $8, $8)
       returning ${COLUMNS}`,
      [tenant.tenantId, memberId, newUuid(), name, JSON.stringify(filter), sort, shared, now],
    );
    return rows[0] as ViewRow;
  });

/** Returns a view that a member sees, locked for a change if `lock` says so. 404 for those of others. */
export async function findView(
  tx: Pick<TenantStorage, 'query'>,
  tenantId: string,
  memberId: string,
  id: string,
  lock: '' | 'for update' = '',
): Promise<ViewRow> {
  const [row] = await tx.query<ViewRow>(
    `select ${COLUMNS} from views where tenant_id = $1 and id = $2 and (shared or member_id = $3) ${lock}`,
    [tenantId, id, memberId],
  );
  if (!row) throw notFound('view');
  return row;
}

/**
 * Changes a view that a member sees. One that is no longer shared becomes the view of that member. Throws 409 beyond the
 * maximum. `isChanged` is false if the view was already like that.
 */
export const updateView = (
  tenant: TenantStorage,
  memberId: string,
  id: string,
  change: (before: ViewRow) => ViewFields,
  now: Date,
): Promise<{ view: ViewRow; isChanged: boolean }> =>
  tenant.transaction(async tx => {
    const { tenantId } = tenant;
    await lockTenant(tx, tenantId); // before the view
    const before = await findView(tx, tenantId, memberId, id, 'for update');
    const after = change(before);
    if (isDeepStrictEqual({ ...before, ...after }, before)) return { view: before, isChanged: false };
    const { name, filter, sort, shared } = after;
    if (shared !== before.shared) await requireRoom(tx, tenantId, memberId, shared);
    const rows = await tx.query<ViewRow>(
      `update views set name = $3, filter = $4::jsonb, sort = $5, shared = $6, updated_at = $7,
         member_id = case when $6 then member_id else $8 end
       where tenant_id = $1 and id = $2 returning ${COLUMNS}`,
      [tenantId, id, name, JSON.stringify(filter), sort, shared, now, memberId],
    );
    return { view: rows[0] as ViewRow, isChanged: true };
  });

/** Deletes a view that a member sees, and returns it. `check` may refuse it. */
export const deleteView = (
  tenant: TenantStorage,
  memberId: string,
  id: string,
  check: (before: ViewRow) => void,
): Promise<ViewRow> =>
  tenant.transaction(async tx => {
    const view = await findView(tx, tenant.tenantId, memberId, id, 'for update');
    check(view);
    await tx.query('delete from views where tenant_id = $1 and id = $2', [tenant.tenantId, id]);
    return view;
  });

/** Deletes the views of a removed member that are not shared. */
export const deleteViewsOf = (tx: Transaction, tenantId: string, memberId: string): Promise<unknown> =>
  tx.query('delete from views where tenant_id = $1 and member_id = $2 and not shared', [tenantId, memberId]);
