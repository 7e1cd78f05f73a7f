import type { TenantStorage } from '../database/orm.ts';

/** Whether an identity has at most `most` answers. Reads that many entries of the index by identity. */
export async function hasAtMostAnswers(
  tx: Pick<TenantStorage, 'query'>,
  tenantId: string,
  identity: string,
  most: number,
): Promise<boolean> {
  const [row] = await tx.query<{ count: number }>(
    `select count(*)::int as count from (
       select from answers where tenant_id = $1 and identity = $2 limit $3
     ) as own`,
    [tenantId, identity, most + 1],
  );
  return (row?.count ?? 0) <= most;
}
