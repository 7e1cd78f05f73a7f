import { isDeepStrictEqual } from 'node:util';
import { MAX_MACROS, type MacroChange } from '../../domain/conversations/macros.ts';
import { newUuid } from '../../domain/ids.ts';
import type { Page } from '../../domain/pages.ts';
import { notFound } from '../../domain/problem.ts';
import { byTime, createList, readPage } from '../database/lists.ts';
import type { TenantStorage } from '../database/orm.ts';
import type { Transaction } from '../database/transaction.ts';
import { requireRoom } from '../tenants/tenants.ts';
import { requireReferences } from './conversation-changes.ts';
import { lockWithTarget } from './conversation-locks.ts';
import { lockMembers } from './member-references.ts';

export interface MacroRow {
  id: string;
  name: string;
  shortcut: string | null;
  body: string | null;
  kind: 'reply' | 'note';
  /** Members are given by their UUIDs. */
  changes: MacroChange;
  created_at: Date;
  updated_at: Date;
}

/** The fields of a macro that a request sets. */
export type MacroFields = Omit<MacroRow, 'id' | 'created_at' | 'updated_at'>;

const COLUMNS = 'id, name, shortcut, body, kind, changes, created_at, updated_at';
/** The pointer of the changes in a request. */
const CHANGES = '/changes';

/** Returns the tenant's macros, oldest first. */
export const listMacros = (tenant: TenantStorage, limit: number, after: string[] | null): Promise<Page<MacroRow>> =>
  readPage(tenant, createList(tenant, 'macros', COLUMNS, byTime<MacroRow>('created_at', false)), limit, after);

/** Returns a macro, or throws 404. */
export async function findMacro(tenant: Pick<TenantStorage, 'query' | 'tenantId'>, id: string): Promise<MacroRow> {
  const [row] = await tenant.query<MacroRow>(`select ${COLUMNS} from macros where tenant_id = $1 and id = $2`, [
    tenant.tenantId,
    id,
  ]);
  if (!row) throw notFound('macro');
  return row;
}

/** Inserts a macro. Throws 409 beyond the maximum of a tenant, and 422 for an invalid assignee or custom field. */
export const insertMacro = (tenant: TenantStorage, macro: MacroFields, now: Date): Promise<MacroRow> =>
  tenant.transaction(async tx => {
    const { tenantId } = tenant;
    const detail = `A tenant can have at most ${MAX_MACROS} macros.`;
    await requireRoom(tx, tenantId, { table: 'macros', most: MAX_MACROS, detail });
    await requireReferences(tx, tenantId, macro.changes, CHANGES);
    const rows = await tx.query<MacroRow>(
      `insert into macros (tenant_id, ${COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7::jsonb, $8, $8) returning ${COLUMNS}`,
      [tenantId, newUuid(), macro.name, macro.shortcut, macro.body, macro.kind, JSON.stringify(macro.changes), now],
    );
    return rows[0] as MacroRow;
  });

/**
 * Throws 422 for references that a change adds to a macro. Those that it has already may be to a member or custom field that
 * was removed since, which must not prevent other changes.
 */
async function requireNewReferences(
  tx: Transaction,
  tenantId: string,
  before: MacroChange,
  { assignee_id, custom = {} }: MacroChange,
): Promise<void> {
  const added = Object.fromEntries(Object.entries(custom).filter(([key, value]) => value !== before.custom?.[key]));
  await requireReferences(tx, tenantId, { assignee_id, custom: added }, CHANGES, before.assignee_id);
}

/** Changes a macro under a row lock. `change` receives the present one, and throws to prevent the change. */
export const updateMacro = (
  tenant: TenantStorage,
  id: string,
  change: (before: MacroRow) => MacroFields,
  now: Date,
): Promise<MacroRow> =>
  tenant.transaction(async tx => {
    const { tenantId } = tenant;
    const [before] = await tx.query<MacroRow>(
      `select ${COLUMNS} from macros where tenant_id = $1 and id = $2 for update`,
      [tenantId, id],
    );
    if (!before) throw notFound('macro');
    const after = change(before);
    const { name, shortcut, body, kind, changes } = after;
    if (isDeepStrictEqual({ ...before, ...after }, before)) return before;
    await requireNewReferences(tx, tenantId, before.changes, changes);
    const rows = await tx.query<MacroRow>(
      `update macros set name = $3, shortcut = $4, body = $5, kind = $6, changes = $7::jsonb, updated_at = $8
       where tenant_id = $1 and id = $2 returning ${COLUMNS}`,
      [tenantId, id, name, shortcut, body, kind, JSON.stringify(changes), now],
    );
    return rows[0] as MacroRow;
  });

/**
 * Locks the rows of a macro in the order of `conversation-locks.ts`: the member whom it assigns, and the conversation with
 * the one into which it was merged. The text is written to the second, and the first is changed.
 */
export async function lockForMacro(
  tenant: Pick<TenantStorage, 'query' | 'tenantId'>,
  id: string,
  { changes: { assignee_id } }: Pick<MacroRow, 'changes'>,
): Promise<void> {
  await lockMembers(tenant, tenant.tenantId, assignee_id ? [assignee_id] : []);
  await lockWithTarget(tenant, tenant.tenantId, id);
}

/** Deletes a macro. `check` throws to prevent it. */
export const deleteMacro = (tenant: TenantStorage, id: string, check: (macro: MacroRow) => void): Promise<void> =>
  tenant.transaction(async tx => {
    const [row] = await tx.query<MacroRow>(
      `select ${COLUMNS} from macros where tenant_id = $1 and id = $2 for update`,
      [tenant.tenantId, id],
    );
    if (!row) throw notFound('macro');
    check(row);
    await tx.query('delete from macros where tenant_id = $1 and id = $2', [tenant.tenantId, id]);
  });
