import { isDeepStrictEqual } from 'node:util';
import { BY_SYSTEM, type EventActor } from '../../domain/events/events.ts';
import {
  type IdentityItem,
  type NewIdentity,
  patchProfile,
  type SavedStatus,
  SHOWN_VALUES,
} from '../../domain/people/identities.ts';
import {
  type ChangedFields,
  compareProfiles,
  PROFILE_CHANGES_KEPT,
  removedFields,
} from '../../domain/people/profile-changes.ts';
import type { Fault } from '../../domain/validation.ts';
import type { Owner } from '../conversations/conversation-rows.ts';
import type { TenantStorage } from '../database/orm.ts';
import { unnest, wantedRows } from '../database/sql.ts';
import type { Transaction } from '../database/transaction.ts';
import { forgetRemovedFields } from './profile-changes.ts';

/** A profile as it is stored: what the tenant said about one of its users. */
interface ProfileRow extends NewIdentity {
  identity: string;
  identity_verified: boolean;
}

/** A profile to write, with the fields that change; null for a new profile. */
interface ChangedProfile extends ProfileRow {
  changes: ChangedFields | null;
}

const EMPTY: NewIdentity = { attributes: {}, locale: null, platform: null, app_version: null };

/** The result of saving a profile, or the fault because of which it was not saved. */
export type SavedProfile = { status: SavedStatus } | { status: 'rejected'; fault: Fault };

const keyOf = ({ identity, verified }: Owner): string => `${verified} ${identity}`;

/**
 * Locks the profiles of some identities and returns those that exist, by `keyOf`.
 *
 * The advisory locks come first: a missing row cannot be locked, and two transactions might insert it. They are taken
 * in one order, so that two batches never wait for each other.
 */
async function lockProfiles(
  tx: Transaction,
  tenantId: string,
  owners: readonly Owner[],
): Promise<Map<string, NewIdentity>> {
  await tx.query(
    `select pg_advisory_xact_lock(lock) from (
       select distinct hashtextextended(name, 0) as lock from unnest($1::text[]) as name order by 1
     ) as locks`,
    [owners.map(owner => `${tenantId} ${keyOf(owner)}`)],
  );
  const rows = await tx.query<ProfileRow>(
    `with ${wantedRows('unnest($2::text[]) as identity, unnest($3::boolean[]) as identity_verified')}
     select identity, identity_verified, attributes, locale, platform, app_version
     from wanted join identities using (tenant_id, identity, identity_verified) for update of identities`,
    [tenantId, owners.map(({ identity }) => identity), owners.map(({ verified }) => verified)],
  );
  return new Map(
    rows.map(({ identity, identity_verified, ...profile }) => [
      keyOf({ identity, verified: identity_verified }),
      profile,
    ]),
  );
}

const COLUMNS = {
  identity: 'text',
  identity_verified: 'boolean',
  attributes: 'jsonb',
  locale: 'text',
  platform: 'text',
  app_version: 'text',
} as const;
const NAMES = Object.keys(COLUMNS).join(', ');

/**
 * Inserts or replaces profiles, each of another identity, with an event for each. Of those that exist, the change is
 * added to the last `PROFILE_CHANGES_KEPT`.
 */
async function writeProfiles(
  tx: Transaction,
  tenantId: string,
  rows: readonly ChangedProfile[],
  by: EventActor = BY_SYSTEM,
): Promise<void> {
  if (rows.length === 0) return;
  await forgetRemovedFields(
    tx,
    tenantId,
    rows.map(({ identity, identity_verified: verified, changes }) => ({
      identity,
      verified,
      paths: removedFields(changes ?? {}),
    })),
  );
  const { sql, params } = unnest<ChangedProfile>(rows, { ...COLUMNS, changes: 'jsonb' }, 3);
  await tx.query(
    `with written as materialized (select * from ${sql}), saved as (
       insert into identities as known (tenant_id, ${NAMES}, created_at, updated_at)
       select $1, ${NAMES}, clock_timestamp(), clock_timestamp() from written
       on conflict (tenant_id, identity, identity_verified) do update set attributes = excluded.attributes,
         locale = excluded.locale, platform = excluded.platform, app_version = excluded.app_version,
         updated_at = excluded.updated_at, id = coalesce(known.id, excluded.id)
       returning id, identity, identity_verified
     ), changed as (
       insert into profile_changes (tenant_id, identity_id, number, at, by, changes)
       select $1, id, 1 + coalesce((
         select max(number) from profile_changes as earlier where tenant_id = $1 and identity_id = saved.id
       ), 0), clock_timestamp(), $2, changes
       from saved join written using (identity, identity_verified) where changes is not null
       returning identity_id, number
     ), forgotten as (
       delete from profile_changes using changed where tenant_id = $1
         and profile_changes.identity_id = changed.identity_id
         and profile_changes.number = changed.number - ${PROFILE_CHANGES_KEPT}
     )
     insert into events (tenant_id, type, object_type, object_id, data)
     select $1, 'identity.updated', 'identity', id, jsonb_build_object('by', $2::jsonb) from saved`,
    [tenantId, JSON.stringify(by), ...params],
  );
}

const statusOf = (before: NewIdentity | undefined, after: NewIdentity): SavedStatus => {
  if (!before) return 'created';
  return isDeepStrictEqual(before, after) ? 'unchanged' : 'updated';
};

const changedProfile = (
  { identity, verified }: Owner,
  before: NewIdentity | undefined,
  after: NewIdentity,
): ChangedProfile => ({
  ...{ identity, identity_verified: verified, ...after },
  changes: before ? compareProfiles(before, after) : null,
});

/**
 * Changes the profile of an identity. `change` receives the previous one, which is empty if there is none, and throws
 * to prevent the change. Concurrent changes are serialized. A profile that stays the same is not written.
 */
export async function saveProfileIn(
  tx: Transaction,
  tenantId: string,
  owner: Owner,
  change: (profile: NewIdentity) => NewIdentity | Promise<NewIdentity>,
  by: EventActor = BY_SYSTEM,
): Promise<{ profile: NewIdentity; status: SavedStatus }> {
  const before = (await lockProfiles(tx, tenantId, [owner])).get(keyOf(owner));
  const profile = await change(before ?? EMPTY);
  const status = statusOf(before, profile);
  if (status !== 'unchanged') await writeProfiles(tx, tenantId, [changedProfile(owner, before, profile)], by);
  return { profile, status };
}

/** Changes a profile in a transaction of its own, like `saveProfileIn`. */
export const saveProfile = (
  tenant: TenantStorage,
  owner: Owner,
  change: (profile: NewIdentity) => NewIdentity,
  by: EventActor = BY_SYSTEM,
): Promise<NewIdentity> =>
  tenant.transaction(async tx => (await saveProfileIn(tx, tenant.tenantId, owner, change, by)).profile);

/**
 * Applies changes to the profiles of many identities, one after another, in one transaction with four statements.
 * Returns one result per item, in order. An item that cannot be applied changes nothing.
 */
export const patchProfiles = (
  tenant: TenantStorage,
  items: readonly IdentityItem[],
  by: EventActor = BY_SYSTEM,
): Promise<SavedProfile[]> =>
  tenant.transaction(async tx => {
    const stored = await lockProfiles(tx, tenant.tenantId, items);
    const profiles = new Map(stored);
    const changed = new Map<string, ChangedProfile>();
    const results = items.map(({ identity, verified, ...patch }): SavedProfile => {
      const key = keyOf({ identity, verified });
      const before = profiles.get(key);
      const patched = patchProfile(before ?? EMPTY, patch);
      if (!patched.success) return { status: 'rejected', fault: patched.faults[0] as Fault };
      const status = statusOf(before, patched.data);
      profiles.set(key, patched.data);
      const owner = { identity, verified };
      if (status !== 'unchanged') changed.set(key, changedProfile(owner, stored.get(key), patched.data));
      return { status };
    });
    await writeProfiles(tx, tenant.tenantId, [...changed.values()], by);
    return results;
  });

/** Number of profiles, those changed last, from which the names of attributes are taken. */
export const PROFILES_LOOKED_AT = 2000;

export interface AttributeRow {
  name: string;
  types: string[];
  values: (string | number | boolean)[];
}

/** Returns the attributes of the profiles that changed last: names, types and most frequent values. */
export const listAttributes = (tenant: TenantStorage): Promise<AttributeRow[]> =>
  tenant.transaction(tx =>
    tx.query<AttributeRow>(
      `with recent as (
         select attributes from identities where tenant_id = $1 order by updated_at desc limit ${PROFILES_LOOKED_AT}
       ), counted as (
         select name, value, count(*) as times from recent, jsonb_each(attributes) as each(name, value) group by name, value
       ), typed as (
         select name, value, row_number() over (partition by name order by times desc, value) as place,
           case when jsonb_typeof(value) = 'string' and value #>> '{}' ~ '^\\d{4}-\\d\\d-\\d\\d([Tt ][0-9:.]+([Zz]|[+-]\\d\\d:\\d\\d))?$'
             then 'date' else jsonb_typeof(value) end as type
         from counted
       )
       select name, array_agg(distinct type order by type) as types,
         jsonb_agg(value order by place) filter (where place <= ${SHOWN_VALUES}) as values
       from typed group by name order by name`,
      [tenant.tenantId],
    ),
  );
