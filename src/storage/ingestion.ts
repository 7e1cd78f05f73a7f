import { type Page, toPage } from '../domain/pages.ts';
import { notFound } from '../domain/problem.ts';
import type { Storage, TenantStorage } from './orm.ts';
import type { RecordedCounts } from './recording.ts';
import { createWhere } from './sql.ts';

export type IngestionTotals = RecordedCounts & { rejected: number };

/** What the queue still holds: a flush, or one answer that is dealt with by itself. */
interface Pending {
  flush: string;
  part_of?: string | undefined;
}

/**
 * What the worker and the API have counted for a tenant since it exists, and which of `pending` are in those totals.
 *
 * Both come from one snapshot, so that a flush that is still in the queue though it was just stored counts once. An
 * isolated answer is in them too when its flush was recorded whole after all; a flush that is recorded in parts is not,
 * because its parts are pending in its place.
 */
export async function findIngestionTotals(
  tenant: TenantStorage,
  pending: readonly Pending[],
): Promise<{ totals: IngestionTotals; recorded: ReadonlySet<string>; firstCardAt: Date | null }> {
  const rows = await tenant.query<
    Record<keyof IngestionTotals, string> & { recorded: string[]; first_card_at: Date | null }
  >(
    `select stored, repeated, quarantined, rejected,
       (select first_card_at from tenants where id = tenant_id) as first_card_at,
       array(
         select flush::text from unnest($2::uuid[], $3::uuid[]) as pending(flush, part_of)
         where exists (select from recorded_flushes where id = flush and not in_parts)
           or exists (select from recorded_flushes where id = part_of and not in_parts)
       ) as recorded
     from (select $1::uuid as tenant_id) as this left join ingestion_totals using (tenant_id)`,
    [tenant.tenantId, pending.map(({ flush }) => flush), pending.map(({ part_of }) => part_of ?? null)],
  );
  const total = (name: keyof IngestionTotals) => Number(rows[0]?.[name] ?? 0);
  const totals = {
    stored: total('stored'),
    repeated: total('repeated'),
    quarantined: total('quarantined'),
    rejected: total('rejected'),
  };
  const { recorded, first_card_at: firstCardAt = null } = rows[0] ?? {};
  return { totals, recorded: new Set(recorded), firstCardAt };
}

/** Adds items that were refused at once; a batch of many tenants. */
export const countRejected = (storage: Storage, counts: ReadonlyMap<string, number>): Promise<unknown> =>
  storage.query('select count_rejected($1, $2)', [[...counts.keys()], [...counts.values()]]);

export interface QuarantinedRow {
  id: string;
  answer_id: string;
  reason: string;
  detail: string;
  payload: string;
  quarantined_at: Date;
}

const COLUMNS = 'id, answer_id, reason, detail, payload, quarantined_at';

/** What could not be stored, newest first. */
export async function listQuarantined(
  tenant: TenantStorage,
  limit: number,
  after: string[] | null,
): Promise<Page<QuarantinedRow>> {
  const where = createWhere();
  where.and('tenant_id = $', tenant.tenantId);
  if (after) where.and('(quarantined_at, id) < ($::timestamptz, $::uuid)', ...after);
  const rows = await tenant.query<QuarantinedRow>(
    `select ${COLUMNS} from quarantined_answers ${where.sql} order by quarantined_at desc, id desc limit ${where.param(limit + 1)}`,
    where.params,
  );
  return toPage(rows, limit, row => [row.quarantined_at.toISOString(), row.id]);
}

export async function findQuarantined(tenant: TenantStorage, id: string): Promise<QuarantinedRow> {
  const rows = await tenant.query<QuarantinedRow>(
    `select ${COLUMNS} from quarantined_answers where tenant_id = $1 and id = $2`,
    [tenant.tenantId, id],
  );
  if (!rows[0]) throw notFound('quarantined answer');
  return rows[0];
}

/** Discards a quarantined answer for good. */
export async function deleteQuarantined(tenant: TenantStorage, id: string): Promise<void> {
  const rows = await tenant.query('delete from quarantined_answers where tenant_id = $1 and id = $2 returning id', [
    tenant.tenantId,
    id,
  ]);
  if (!rows[0]) throw notFound('quarantined answer');
}
