import { BY_SYSTEM, type EventActor } from '../../domain/events/events.ts';
import { MAX_SCANNED, type Page, toPage } from '../../domain/pages.ts';
import type { Attributes, NewIdentity, SavedStatus } from '../../domain/people/identities.ts';
import { notFound } from '../../domain/problem.ts';
import type { Owner } from '../conversations/conversation-rows.ts';
import { type Order, readInOrder, startAfter, startReadingInOrder } from '../database/lists.ts';
import type { TenantStorage } from '../database/orm.ts';
import { createWhere } from '../database/sql.ts';
import type { Transaction } from '../database/transaction.ts';
import { saveProfileIn } from './profiles.ts';

export interface IdentityRow {
  identity: string;
  identity_verified: boolean;
  attributes: Attributes;
  locale: string | null;
  platform: string | null;
  app_version: string | null;
  first_seen_at: Date | null;
  last_seen_at: Date | null;
  answer_count: number;
  conversation_count: number;
}

/** The tables that contain identities: profiles, card records and conversations. */
const TRACES = ['identities', 'card_records', 'conversations'] as const;

/** Maximum number of answers and conversations counted per identity, since one user may have any number of them. */
export const COUNTED_ANSWERS = 1000;
export const COUNTED_CONVERSATIONS = 1000;
/**
 * Maximum number of conversations per identity, and of messages in each, read for the first and for the last message. A
 * page of 100 identities reads at most 100,000 messages, as many as answers.
 */
const DATED_CONVERSATIONS = 10;
const DATED_MESSAGES = 50;

export interface IdentityFilter {
  verified?: boolean | undefined;
  /** A prefix of the identity. */
  q?: string | undefined;
}

/** Returns the identities with a profile or other data, in byte order. */
export async function listIdentities(
  tenant: TenantStorage,
  filter: IdentityFilter,
  limit: number,
  after: string[] | null,
  lookAt = MAX_SCANNED,
): Promise<Page<IdentityRow>> {
  const { rows: owners, next } = await findOwners(tenant, filter, limit, after, lookAt);
  return { rows: await describeOwners(tenant, owners), next };
}

/** An entry of one of the tables: whether it passes the filter, and whether it is the last one to scan. */
interface Trace {
  identity: string;
  identity_verified: boolean;
  hit: boolean;
  last: boolean;
}

const BY_IDENTITY: Order<Trace> = {
  keys: [
    ['identity', 'text'],
    ['identity_verified', 'boolean'],
  ],
  descending: false,
};

/** Scans at most `lookAt` entries of each table. The page ends where the first of them ends. */
async function findOwners(
  tenant: TenantStorage,
  { verified, q }: IdentityFilter,
  limit: number,
  after: string[] | null,
  lookAt: number,
): Promise<Page<Owner>> {
  const where = createWhere();
  where.and('tenant_id = $', tenant.tenantId);
  if (q !== undefined) where.and('identity >= $ and identity < $', q, `${q}\u{10ffff}`);
  startAfter(where, BY_IDENTITY, after);
  const hit = verified === undefined ? 'true' : `identity_verified = ${where.param(verified)}`;
  const most = where.param(limit + 2); // a text for each limit would be prepared
  const traces = TRACES.map(
    table => `(select distinct identity, identity_verified, ${hit} as hit, place = ${lookAt} as last from (
      select identity, identity_verified, row_number() over (order by identity, identity_verified) as place
      from ${table} ${where.sql} order by identity, identity_verified limit ${lookAt}
    ) as looked where ${hit} or place = ${lookAt} order by 1, 2, 3, 4 limit ${most})`,
  );
  const rows = await readInOrder<Trace>(tenant, `${traces.join(' union all ')} order by 1, 2, 4`, where.params);
  return toOwners(rows, limit);
}

function toOwners(rows: Trace[], limit: number): Page<Owner> {
  const owners: Owner[] = [];
  const keyOf = ({ identity, verified }: Owner) => [identity, String(verified)];
  for (const { identity, identity_verified: verified, hit, last } of rows) {
    const previous = owners.at(-1);
    const isNew = previous?.identity !== identity || previous.verified !== verified;
    if (hit && isNew) owners.push({ identity, verified });
    if (owners.length > limit) break;
    if (last) return { rows: owners, next: keyOf({ identity, verified }) };
  }
  return toPage(owners, limit, keyOf);
}

const WHO = '(who.identity, who.identity_verified)';
/** Two comparisons instead of one: with `=` PostgreSQL would ignore the order. */
const storedAnswers = (direction: 'asc' | 'desc'): string => `
  select id, metadata, received_at, stored_at from answers where tenant_id = $1
    and (identity, identity_verified) >= ${WHO} and (identity, identity_verified) <= ${WHO}
  order by identity ${direction}, identity_verified ${direction} limit ${COUNTED_ANSWERS}`;

/**
 * Returns SQL for a row with the time of the first or the last message written by an identity, `who`.
 *
 * It reads the start of the conversations that were inactive longest, or the end of those that were active last. So it
 * is exact for up to `DATED_CONVERSATIONS` conversations, and an approximation for more.
 */
function selectMessageTime(which: 'first' | 'last'): string {
  const direction = which === 'first' ? 'asc' : 'desc';
  return `select ${which === 'first' ? 'min' : 'max'}(said.created_at) as at from (
       select id from conversations
       where tenant_id = $1 and identity = who.identity and identity_verified = who.identity_verified
       order by last_activity_at ${direction}, id ${direction} limit ${DATED_CONVERSATIONS}
     ) as dated cross join lateral (
       select author_type, created_at from messages where tenant_id = $1 and conversation_id = dated.id
       order by seq ${direction}, note_seq ${direction} limit ${DATED_MESSAGES}
     ) as said where said.author_type = 'user'`;
}

/**
 * Returns the profiles of some identities in their order, with or without other data.
 *
 * Reads at most `COUNTED_ANSWERS` answers of each that were stored first, and as many that were stored last: the index
 * by identity keeps them in the order of the table. `selectMessageTime` limits the messages.
 */
async function describeIdentities(tx: Transaction, tenantId: string, owners: readonly Owner[]): Promise<IdentityRow[]> {
  const inOrder = startReadingInOrder(tx); // a sort would return any of the answers of an identity, which are equal to the index
  const described = tx.query<IdentityRow>(
    `select who.identity, who.identity_verified, coalesce(attributes, '{}') as attributes,
       coalesce(profile.locale, device.locale) as locale, coalesce(profile.platform, device.platform) as platform,
       coalesce(profile.app_version, device.app_version) as app_version,
       least(earliest.first, first_message.at) as first_seen_at,
       greatest(latest.last, last_message.at) as last_seen_at,
       latest.count::int as answer_count, talked.count::int as conversation_count
     from unnest($2::text[], $3::boolean[]) with ordinality as who(identity, identity_verified, place)
     left join identities as profile on profile.tenant_id = $1 and profile.identity = who.identity
       and profile.identity_verified = who.identity_verified
     cross join lateral (
       select min(received_at) as first from (${storedAnswers('asc')}) as stored
     ) as earliest
     cross join lateral (
       select count(*) as count, max(stored_at) as last,
         (array_agg(metadata order by received_at desc, id desc))[1] as metadata
       from (${storedAnswers('desc')}) as stored
     ) as latest
     cross join lateral (
       select metadata->>'locale' as locale, metadata->>'platform' as platform, metadata->>'app_version' as app_version
     ) as device
     cross join lateral (
       select count(*) as count from (
         select from conversations
         where tenant_id = $1 and identity = who.identity and identity_verified = who.identity_verified
         limit ${COUNTED_CONVERSATIONS}
       ) as counted
     ) as talked
     cross join lateral (${selectMessageTime('first')}) as first_message
     cross join lateral (${selectMessageTime('last')}) as last_message
     order by place`,
    [tenantId, owners.map(({ identity }) => identity), owners.map(({ verified }) => verified)],
  );
  return (await Promise.all([inOrder, described]))[1];
}

/** Returns the full descriptions of some identities, in order. */
export const describeOwners = (tenant: TenantStorage, owners: readonly Owner[]): Promise<IdentityRow[]> =>
  tenant.transaction(tx => describeIdentities(tx, tenant.tenantId, owners));

/** Returns an identity with a profile or other data. */
export async function findIdentity(tenant: TenantStorage, owner: Owner): Promise<IdentityRow> {
  const row = await tenant.transaction(tx => readIdentity(tx, tenant.tenantId, owner));
  if (!row) throw notFound('identity');
  return row;
}

/** Returns the attributes of an identity's profile; none without a profile. */
export async function findAttributes(tenant: TenantStorage, owner: Owner): Promise<Attributes> {
  const [row] = await tenant.query<{ attributes: Attributes }>(
    'select attributes from identities where tenant_id = $1 and identity = $2 and identity_verified = $3',
    [tenant.tenantId, owner.identity, owner.verified],
  );
  return row?.attributes ?? {};
}

async function readIdentity(tx: Transaction, tenantId: string, owner: Owner): Promise<IdentityRow | null> {
  const traces = TRACES.map(
    table => `exists (select from ${table} where tenant_id = $1 and identity = $2 and identity_verified = $3)`,
  );
  const [known] = await tx.query<{ known: boolean }>(`select ${traces.join(' or ')} as known`, [
    tenantId,
    owner.identity,
    owner.verified,
  ]);
  if (!known?.known) return null;
  return (await describeIdentities(tx, tenantId, [owner]))[0] ?? null;
}

/**
 * Changes the profile of an identity, and returns its full description afterwards. `change` receives the description
 * before, or null if there was none, and the profile.
 */
export const saveIdentity = (
  tenant: TenantStorage,
  owner: Owner,
  change: (known: IdentityRow | null, profile: NewIdentity) => NewIdentity,
  by: EventActor = BY_SYSTEM,
): Promise<{ row: IdentityRow; status: SavedStatus }> =>
  tenant.transaction(async tx => {
    const { tenantId } = tenant;
    const changeKnown = async (profile: NewIdentity) => change(await readIdentity(tx, tenantId, owner), profile);
    const { status } = await saveProfileIn(tx, tenantId, owner, changeKnown, by);
    return { row: (await describeIdentities(tx, tenantId, [owner]))[0] as IdentityRow, status };
  });
