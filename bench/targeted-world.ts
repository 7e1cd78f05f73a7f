import type { Bench } from './bench.ts';
import { CARDS_PATH, type Card, fetchUsers, makeTenants, publishQuestions, type Tenant, type User } from './world.ts';

/** The catalog of such a tenant has 2 MB, and the process keeps 16 MB of catalogs by default. */
const TENANTS = 4;
/** Live questions of a tenant with rules; each user sees three of them, as of three plain ones. */
const RULED_QUESTIONS = 200;
const SHOWN = 3;

/** An audience of 20 conditions. The last but one decides; the others apply to every user. */
const audienceOf = (group: string) => ({
  all: [
    { platform: { op: 'in', value: ['ios', 'android'] } },
    { app_version: { op: 'gte', value: '4.0.0' } },
    ...Array.from({ length: 16 }, (_, number) => ({ attribute: `fact_${number}`, op: 'eq', value: `value ${number}` })),
    { attribute: 'group', op: 'eq', value: group },
    { locale: { op: 'not_in', value: ['xx'] } },
  ],
});

const shown = (title: string) => ({ type: 'nps', title, audience: audienceOf('asked'), priority: 1 });

/** The attributes of every user: 50, of which questions compare 17. */
const ATTRIBUTES = {
  group: 'asked',
  ...Object.fromEntries(Array.from({ length: 49 }, (_, number) => [`fact_${number}`, `value ${number}`])),
};

/**
 * Publishes 200 live questions with 20 conditions each, of which a user sees three. The others are copies of one, whose locales
 * differ so that lists of three languages are kept separately.
 */
async function publishRuled(bench: Bench, url: string, tenants: Tenant[]): Promise<void> {
  const hidden = { type: 'nps', title: 'For others', audience: audienceOf('others') };
  const titles = ['How likely are you to recommend us?', 'How was your delivery?', 'How do you like the new search?'];
  await publishQuestions(url, tenants, [...titles.map(shown), hidden]);
  await bench.query(
    `insert into questions select (jsonb_populate_record(null::questions, to_jsonb(q) || jsonb_build_object(
       'id', gen_random_uuid(), 'audience', replace(q.audience::text, '"xx"', format('"%s"', (array['xx', 'de', 'fr'])[n % 3 + 1]))::jsonb
     ))).* from questions as q, generate_series(1, $2::int) as n where tenant_id = any($1::uuid[]) and title = 'For others'`,
    [tenants.map(({ uuid }) => uuid), RULED_QUESTIONS - SHOWN - 1],
  );
  await bench.query('analyze questions');
}

/** Stores the profiles of users whose names end in 0 to `count` - 1, of the tenant in rotation. */
const storeProfiles = (bench: Bench, tenants: Tenant[], count: number): Promise<unknown> =>
  bench.query(
    `insert into identities (tenant_id, identity, identity_verified, attributes, created_at, updated_at)
     select ($1::uuid[])[n % cardinality($1::uuid[]) + 1], 'user|' || n, true, $3::jsonb, now(), now()
     from generate_series(0, $2::int - 1) as n on conflict do nothing`,
    [tenants.map(({ uuid }) => uuid), count, JSON.stringify(ATTRIBUTES)],
  );

export interface TargetedWorld {
  /** Tenants with 200 live questions of 20 conditions each, and with three plain ones. */
  ruled: Tenant[];
  plain: Tenant[];
  users: { ruled: User[]; plain: User[] };
}

/** Number of users with a profile, none of whom a server sees twice in a run of first fetches. */
export const FIRST_USERS = 60_000;

async function createWorld(bench: Bench): Promise<TargetedWorld> {
  const { users: count } = bench.settings;
  const tenants = await makeTenants(bench.databaseUrl, bench.secretKey, 2 * TENANTS);
  const [ruled, plain] = [tenants.slice(0, TENANTS), tenants.slice(TENANTS)];
  for (const some of [ruled, plain]) await storeProfiles(bench, some, FIRST_USERS);
  await bench.query('vacuum analyze identities');
  {
    await using api = await bench.parley('serve', bench.stores.valkeyUrl ? 'valkey' : 'postgres');
    await publishRuled(bench, api.url, ruled);
    await publishQuestions(api.url, plain);
  }
  await using api = await bench.parley('serve', bench.stores.valkeyUrl ? 'valkey' : 'postgres'); // has read the copies
  return {
    ...{ ruled, plain },
    users: { ruled: await fetchUsers(api.url, ruled, count), plain: await fetchUsers(api.url, plain, count) },
  };
}

const created = new WeakMap<Bench, Promise<TargetedWorld>>();

/** Returns the tenants with rules and those without. The first call creates them. */
export function targetedWorld(bench: Bench): Promise<TargetedWorld> {
  const world = created.get(bench) ?? createWorld(bench);
  created.set(bench, world);
  return world;
}

/** Users of tenants whose questions all have a limit that is never reached. */
export async function limitedUsers(bench: Bench, how: 'each' | 'one'): Promise<User[]> {
  const { plain, users } = await targetedWorld(bench);
  await bench.query(
    `update questions set response_limit = '{"count": 1000000000, "per": "total"}' where tenant_id = any($1::uuid[])`,
    [plain.map(({ uuid }) => uuid)],
  );
  if (how === 'each') return users.plain;
  const [first] = users.plain as [User];
  const card = first.cards[0] as Card;
  return users.plain.map(user => ({ ...user, tenant: first.tenant, cards: [card] }));
}

/** The paths of one person on devices in three languages, for each of which a list is kept. */
export const CONTEXT_PATHS = ['en-US', 'de-DE', 'fr-FR'].map(locale => CARDS_PATH.replace('en-US', locale));
