import type { Page } from '../../domain/pages.ts';
import { notFound } from '../../domain/problem.ts';
import type { RecordedCounts } from '../answers/recording.ts';
import { byTime, createList, readPage } from '../database/lists.ts';
import type { Storage, TenantStorage } from '../database/orm.ts';

export type IngestionTotals = RecordedCounts & { rejected: number };

/** A queued flush, or one isolated answer. */
interface Pending {
  flush: string;
  part_of?: string | undefined;
}

/**
 * Returns a tenant's totals, and which of `pending` are included in them.
 *
 * Both come from one snapshot, so that a flush that was just stored but is still queued counts once. An isolated answer
 * is included if its flush was recorded as a whole after all. A flush recorded in parts is not, because its parts are
 * pending instead.
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

/** Adds rejected items, in one batch for many tenants. */
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

/** Returns quarantined answers, newest first. */
export function listQuarantined(
  tenant: TenantStorage,
  limit: number,
  after: string[] | null,
): Promise<Page<QuarantinedRow>> {
  const order = byTime<QuarantinedRow>('quarantined_at', true);
  return readPage(tenant, createList(tenant, 'quarantined_answers', COLUMNS, order), limit, after);
}

export async function findQuarantined(tenant: TenantStorage, id: string): Promise<QuarantinedRow> {
  const rows = await tenant.query<QuarantinedRow>(
    `select ${COLUMNS} from quarantined_answers where tenant_id = $1 and id = $2`,
    [tenant.tenantId, id],
  );
  if (!rows[0]) throw notFound('quarantined answer');
  return rows[0];
}

/** Permanently deletes a quarantined answer. */
export async function deleteQuarantined(tenant: TenantStorage, id: string): Promise<void> {
  const rows = await tenant.query('delete from quarantined_answers where tenant_id = $1 and id = $2 returning id', [
    tenant.tenantId,
    id,
  ]);
  if (!rows[0]) throw notFound('quarantined answer');
}
