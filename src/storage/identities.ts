import type { Attributes, NewIdentity } from '../domain/identities.ts';
import { MAX_SCANNED, type Page, toPage } from '../domain/pages.ts';
import { notFound } from '../domain/problem.ts';
import type { Owner } from './conversation-rows.ts';
import { queryInOrder } from './lists.ts';
import type { TenantStorage } from './orm.ts';
import { createWhere } from './sql.ts';
import type { Transaction } from './transaction.ts';

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

/** Where an identity leaves itself: what the tenant said of it, its cards, its conversations. */
const TRACES = ['identities', 'card_records', 'conversations'] as const;

/** How many answers and conversations of an identity are counted: one user may have any number of them. */
export const COUNTED_ANSWERS = 1000;
export const COUNTED_CONVERSATIONS = 1000;
/**
 * How many conversations of an identity are read for its first message, and how many for its last one, and how many
 * messages of each: a page of 100 identities reads at most 100,000 messages, as many as answers.
 */
const DATED_CONVERSATIONS = 10;
const DATED_MESSAGES = 50;

export interface IdentityFilter {
  verified?: boolean | undefined;
  /** The beginning of the identity. */
  q?: string | undefined;
}

/** The identities that are known by what they left, or by what the tenant said of them, in the order of their bytes. */
export async function listIdentities(
  tenant: TenantStorage,
  filter: IdentityFilter,
  limit: number,
  after: string[] | null,
  lookAt = MAX_SCANNED,
): Promise<Page<IdentityRow>> {
  const { rows: owners, next } = await findOwners(tenant, filter, limit, after, lookAt);
  return { rows: await describeIdentities(tenant, tenant.tenantId, owners), next };
}

/** An entry of one of the tables: whether it passes the filter, and whether it is the last that may be looked at. */
interface Trace {
  identity: string;
  identity_verified: boolean;
  hit: boolean;
  last: boolean;
}

/** At most `lookAt` entries of each table are looked at: where the first of them ends, the page ends. */
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
  if (after) where.and('(identity, identity_verified) > ($, $::boolean)', ...after);
  const hit = verified === undefined ? 'true' : `identity_verified = ${where.param(verified)}`;
  const traces = TRACES.map(
    table => `(select distinct identity, identity_verified, ${hit} as hit, place = ${lookAt} as last from (
      select identity, identity_verified, row_number() over (order by identity, identity_verified) as place
      from ${table} ${where.sql} order by identity, identity_verified limit ${lookAt}
    ) as looked where ${hit} or place = ${lookAt} order by 1, 2, 3, 4 limit ${limit + 2})`,
  );
  const rows = await queryInOrder<Trace>(tenant, `${traces.join(' union all ')} order by 1, 2, 4`, where.params);
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
 * SQL for a row with the time of the first or the last message that an identity, `who`, has written.
 *
 * It reads the beginning of the conversations that were quiet longest, or the end of those that were active last. So it
 * is exact for up to `DATED_CONVERSATIONS` conversations, and close to it for more.
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
 * Returns what is known of some identities, in their order, whether they left anything or not.
 *
 * Looks at `COUNTED_ANSWERS` answers of each at most that were stored first, and as many that were stored last: the index
 * by identity keeps them in the order in which they lie in the table. `selectMessageTime` bounds the messages.
 */
function describeIdentities(
  session: Pick<TenantStorage, 'query'>,
  tenantId: string,
  owners: readonly Owner[],
): Promise<IdentityRow[]> {
  return session.query<IdentityRow>(
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
}

/** An identity that left something, or of which the tenant said something. */
export async function findIdentity(tenant: TenantStorage, owner: Owner): Promise<IdentityRow> {
  const row = await readIdentity(tenant, tenant.tenantId, owner);
  if (!row) throw notFound('identity');
  return row;
}

async function readIdentity(
  session: Pick<TenantStorage, 'query'>,
  tenantId: string,
  owner: Owner,
): Promise<IdentityRow | null> {
  const traces = TRACES.map(
    table => `exists (select from ${table} where tenant_id = $1 and identity = $2 and identity_verified = $3)`,
  );
  const [known] = await session.query<{ known: boolean }>(`select ${traces.join(' or ')} as known`, [
    tenantId,
    owner.identity,
    owner.verified,
  ]);
  if (!known?.known) return null;
  return (await describeIdentities(session, tenantId, [owner]))[0] ?? null;
}

/** What the tenant itself said of an identity; nothing, as long as it did not. */
async function lockProfile(session: Transaction, tenantId: string, owner: Owner): Promise<NewIdentity> {
  const rows = await session.query<NewIdentity>(
    `select attributes, locale, platform, app_version from identities
     where tenant_id = $1 and identity = $2 and identity_verified = $3 for update`,
    [tenantId, owner.identity, owner.verified],
  );
  return rows[0] ?? { attributes: {}, locale: null, platform: null, app_version: null };
}

/**
 * Changes the profile of an identity, and returns the new one. `change` makes it from the one before, and throws to leave
 * it as it is; `read` gives it everything that is known of the identity, null for nothing. Concurrent changes take turns.
 */
export const saveProfile = (
  tenant: TenantStorage,
  owner: Owner,
  change: (profile: NewIdentity, read: () => Promise<IdentityRow | null>) => NewIdentity | Promise<NewIdentity>,
): Promise<NewIdentity> => tenant.transaction(session => saveProfileIn(session, tenant.tenantId, owner, change));

/** Changes the profile like `saveProfile`, given and returning everything that is known of the identity. */
export const saveIdentity = (
  tenant: TenantStorage,
  owner: Owner,
  change: (known: IdentityRow | null, profile: NewIdentity) => NewIdentity,
): Promise<IdentityRow> =>
  tenant.transaction(async session => {
    const { tenantId } = tenant;
    await saveProfileIn(session, tenantId, owner, async (profile, read) => change(await read(), profile));
    return (await describeIdentities(session, tenantId, [owner]))[0] as IdentityRow;
  });

async function saveProfileIn(
  session: Transaction,
  tenantId: string,
  owner: Owner,
  change: Parameters<typeof saveProfile>[2],
): Promise<NewIdentity> {
  // before anything is read: a profile that is not there can't be locked, and two might make it
  await session.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
    `${tenantId} ${owner.verified} ${owner.identity}`,
  ]);
  const profile = await lockProfile(session, tenantId, owner);
  const next = await change(profile, () => readIdentity(session, tenantId, owner));
  await session.query(
    `insert into identities values ($1, $2, $3, $4, $5, $6, $7, clock_timestamp(), clock_timestamp())
     on conflict (tenant_id, identity, identity_verified) do update set attributes = excluded.attributes,
       locale = excluded.locale, platform = excluded.platform, app_version = excluded.app_version,
       updated_at = excluded.updated_at`,
    [
      ...[tenantId, owner.identity, owner.verified],
      ...[JSON.stringify(next.attributes), next.locale, next.platform, next.app_version],
    ],
  );
  return next;
}
