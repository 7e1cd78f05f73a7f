import type { Page } from '../../domain/pages.ts';
import type { StoredProfileChange } from '../../domain/people/profile-changes.ts';
import type { Owner } from '../conversations/conversation-rows.ts';
import { createList, type Order, readPage } from '../database/lists.ts';
import type { TenantStorage } from '../database/orm.ts';
import { unnest, wantedRows } from '../database/sql.ts';
import type { Transaction } from '../database/transaction.ts';

const LATEST_FIRST: Order<StoredProfileChange> = { keys: [['number', 'int']], descending: true };

/** Returns a page of the changes of a profile, latest first. Empty without a profile. */
export function listProfileChanges(
  tenant: TenantStorage,
  { identity, verified }: Owner,
  limit: number,
  after: string[] | null,
): Promise<Page<StoredProfileChange>> {
  const list = createList<StoredProfileChange>(tenant, 'profile_changes', 'number, at, by, changes', LATEST_FIRST);
  list.access.and(
    'identity_id = (select id from identities where tenant_id = $ and identity = $ and identity_verified = $)',
    tenant.tenantId,
    identity,
    verified,
  );
  return readPage(tenant, list, limit, after);
}

/** Fields that a change removes from a profile, by their path. */
export interface RemovedFields extends Owner {
  paths: string[];
}

/** Removes the values of removed fields from earlier changes of their profiles, which are locked. */
export async function forgetRemovedFields(
  tx: Transaction,
  tenantId: string,
  removed: readonly RemovedFields[],
): Promise<void> {
  const rows = removed.flatMap(({ paths, identity, verified }) =>
    paths.map(path => ({ identity, identity_verified: verified, path })),
  );
  if (rows.length === 0) return;
  const { sql, params } = unnest<(typeof rows)[number]>(
    rows,
    { identity: 'text', identity_verified: 'boolean', path: 'text' },
    2,
  );
  await tx.query(
    `with ${wantedRows(`* from ${sql}`)}, removed as materialized (
       select tenant_id, identities.id, array_agg(path) as paths
       from wanted join identities using (tenant_id, identity, identity_verified) group by 1, 2
     )
     update profile_changes set changes = changes || (
       select jsonb_object_agg(path, null::text) from unnest(removed.paths) as path where changes ? path
     )
     from removed where profile_changes.tenant_id = removed.tenant_id and identity_id = removed.id and changes ?| removed.paths`,
    [tenantId, ...params],
  );
}
