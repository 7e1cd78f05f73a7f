import type { Page } from '../domain/pages.ts';
import { PROFILE_CHANGES_KEPT_DAYS, type StoredProfileChange } from '../domain/profile-changes.ts';
import type { Owner } from './conversation-rows.ts';
import { createList, type Order, readPage } from './lists.ts';
import type { Storage, TenantStorage } from './orm.ts';
import { unnest } from './sql.ts';
import type { Transaction } from './transaction.ts';

/** Maximum number of changes that one statement deletes. */
const DELETED_AT_ONCE = 1000;

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
  const rows = removed.flatMap(({ paths, ...owner }) => paths.map(path => ({ ...owner, path })));
  if (rows.length === 0) return;
  const { sql, params } = unnest<(typeof rows)[number]>(
    rows,
    { identity: 'text', verified: 'boolean', path: 'text' },
    2,
  );
  await tx.query(
    `with removed as materialized (
       select identities.id, array_agg(path) as paths from ${sql}
       join identities on tenant_id = $1 and identities.identity = incoming.identity and identity_verified = verified
       group by 1
     )
     update profile_changes set changes = changes || (
       select jsonb_object_agg(path, null::text) from unnest(removed.paths) as path where changes ? path
     )
     from removed where tenant_id = $1 and identity_id = removed.id and changes ?| removed.paths`,
    [tenantId, ...params],
  );
}

/** Deletes a batch of old changes, and returns their number. For the worker. `now` is its clock; the earlier counts. */
export async function deleteOldProfileChanges(storage: Storage, now: Date): Promise<number> {
  const [row] = await storage.query<{ count: number }>(
    `with old as (
       delete from profile_changes where (tenant_id, identity_id, number) in (
         select tenant_id, identity_id, number from profile_changes
         where at < least(clock_timestamp(), $1::timestamptz) - make_interval(days => $2)
         order by at limit $3 for update skip locked
       ) returning 1
     )
     select count(*)::int as count from old`,
    [now, PROFILE_CHANGES_KEPT_DAYS, DELETED_AT_ONCE],
  );
  return row?.count ?? 0;
}
