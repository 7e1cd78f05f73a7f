import type { Storage } from '../database/orm.ts';
import type { Transaction } from '../database/transaction.ts';

/** The loop that a mark is for. */
export type MarkKind = 'assignment';

/**
 * Marks a tenant, in the transaction of a write after which the loop has to look at it. Writers never wait for each other:
 * concurrent ones may set several marks.
 */
export const markTenant = (tx: Pick<Transaction, 'query'>, tenantId: string, kind: MarkKind): Promise<unknown> =>
  tx.query('select mark_tenant($1, $2)', [tenantId, kind]);

/** A marked tenant whose marks were taken: from now on, writes set further ones. */
export interface MarkedTenant {
  tenantId: string;
  ids: string[];
  /** Whether every write that relied on these marks has ended. Until then, a look may miss some of them. */
  isSettled: boolean;
}

interface MarkRow extends MarkedTenant {
  /** Whether a mark is not taken, or was taken by a worker that was killed then. */
  isFresh: boolean;
}

/**
 * Reserves all marks for a loop, and returns their tenants in the order in which they were marked. The marks remain until
 * `removeMarks`, so that they survive a killed worker. For the worker.
 *
 * First the marks are taken, then another transaction allocates its id. Every write that relied on one of them has a lower id
 * (docs/decisions/0051).
 */
export async function takeMarks(storage: Storage, kind: MarkKind): Promise<MarkedTenant[]> {
  const rows = await readMarks(storage, kind);
  if (!rows.some(({ isFresh }) => isFresh)) return rows;
  await storage.query('update marked_tenants set taken = true where kind = $1 and not taken', [kind]);
  await storage.query(
    `update marked_tenants set taken_before = pg_current_xact_id()::text::bigint
     where kind = $1 and taken and taken_before is null`,
    [kind],
  );
  return readMarks(storage, kind);
}

/** Reads the taken marks. A transaction id that is not reached yet comes from another server: the database was restored. */
const readMarks = (storage: Storage, kind: MarkKind): Promise<MarkRow[]> =>
  storage.query<MarkRow>(
    `select tenant_id as "tenantId", coalesce(array_agg(id) filter (where taken), '{}') as ids,
       bool_or(taken_before is null) as "isFresh",
       coalesce(bool_and(taken_before <= oldest or taken_before >= next) filter (where taken), false) as "isSettled"
     from marked_tenants cross join (
       select pg_snapshot_xmin(present)::text::bigint as oldest, pg_snapshot_xmax(present)::text::bigint as next
       from pg_current_snapshot() as present
     ) as snapshot
     where kind = $1 group by tenant_id order by min(marked_at)`,
    [kind],
  );

/** Removes taken marks of a tenant, after a look that began when they were settled has found no work. */
export const removeMarks = (storage: Storage, kind: MarkKind, { tenantId, ids }: MarkedTenant): Promise<unknown> =>
  storage.query('delete from marked_tenants where tenant_id = $1 and kind = $2 and id = any($3::uuid[])', [
    tenantId,
    kind,
    ids,
  ]);
