import { createLog } from '../src/platform/log.ts';
import { readCardHistory } from '../src/storage/answers/cards.ts';
import { openStorage } from '../src/storage/database/orm.ts';
import type { Bench, Measured } from './bench.ts';
import { peakMb } from './cpu.ts';
import { costRow } from './http-steps.ts';
import { measureLoad } from './load.ts';
import { median } from './numbers.ts';
import { CONTEXT_PATHS, FIRST_USERS, targetedWorld } from './targeted-world.ts';
import { cardsRequest, fetchUsers, signToken, type Tenant, unchangedCardsRequest } from './world.ts';

type Whose = 'ruled' | 'plain';

const serve = (bench: Bench) => bench.parley('serve', bench.stores.valkeyUrl ? 'valkey' : 'postgres');

/** `GET /v1/cards` of users with three cards, in a fresh process. */
export const measureTargetedCards =
  (figure: string, whose: Whose, isUnchanged: boolean, program: string) =>
  async (bench: Bench): Promise<Measured> => {
    const world = await targetedWorld(bench);
    const users = world.users[whose];
    const set = bench.createLoadSet(
      users.map(user => {
        const token = signToken(user.tenant, user.identity);
        return isUnchanged ? unchangedCardsRequest(user, token) : cardsRequest(token);
      }),
    );
    await using api = await serve(bench);
    await fetchUsers(api.url, world[whose], users.length); // reads the questions
    const result = await measureLoad(api.url, set, bench.plan, bench.roles({ api: api.pid }));
    return { figures: { [figure]: result.rate }, costs: [costRow(program, result)] };
  };

/** The first fetch of each person: the token is verified, the history read, and every question decided. */
export const measureFirstFetches =
  (figure: string, whose: Whose, program: string) =>
  async (bench: Bench): Promise<Measured> => {
    const tenants = (await targetedWorld(bench))[whose];
    const set = bench.createLoadSet(
      Array.from({ length: FIRST_USERS }, (_, number) =>
        cardsRequest(signToken(tenants[number % tenants.length] as Tenant, `user|${number}`)),
      ),
    );
    await using api = await serve(bench);
    await fetchUsers(api.url, tenants, tenants.length); // reads the questions
    const result = await measureLoad(api.url, set, bench.plan, bench.roles({ api: api.pid }));
    const { seconds, warmUpSeconds } = bench.plan;
    if (result.rate * (seconds + warmUpSeconds) > FIRST_USERS) throw new Error('some users fetched their cards twice');
    return { figures: { [figure]: result.rate }, costs: [costRow(program, result)] };
  };

const FEW = 10;
const MANY = 10_000;
const READS = 2000;

/** The time to read what decides on the cards of a person with few answers, and of one with many, in turn. */
export async function measureHistories(bench: Bench): Promise<Measured> {
  const [tenant] = (await targetedWorld(bench)).plain as [Tenant];
  await bench.empty();
  const people = Object.entries({ few: FEW, many: MANY });
  for (const [identity, count] of people) {
    await bench.query(
      `insert into answers (tenant_id, id, identity, identity_verified, card_id, question_id, question_version, revision, state,
         "values", metadata, content_hash, tags, received_at, stored_at, updated_at)
       select $1, uuidv7(), $2, true, gen_random_uuid(), q.id, 1, 1, 'completed', '{"main": 4}', '{}', '', '{}', now(), now(), now()
       from generate_series(1, $3::int), (select id from questions where tenant_id = $1 limit 1) as q`,
      [tenant.uuid, identity, count],
    );
    await bench.query(
      `insert into card_records (tenant_id, identity, identity_verified, question_id, shown_at, answered_at, displays)
       select $1, $2, true, id, now(), now(), $3 from questions where tenant_id = $1`,
      [tenant.uuid, identity, count],
    );
  }
  await bench.query('vacuum analyze answers, card_records');
  const log = createLog('warn', 'bench');
  const storage = openStorage({ url: bench.databaseUrl, role: 'parley_app', connections: 1, log });
  const times: Record<string, number[]> = { few: [], many: [] };
  try {
    for (let turn = 0; turn < READS; turn++)
      for (const [identity] of people) {
        const startedAt = performance.now();
        await readCardHistory(storage.forTenant(tenant.uuid), identity, true);
        times[identity]?.push(performance.now() - startedAt);
      }
  } finally {
    await storage.close();
  }
  const [few, many] = ['few', 'many'].map(identity => 1000 / median(times[identity]?.slice(READS / 10) ?? []));
  return { figures: { 'few answers': few as number, 'many answers': many as number }, costs: [] };
}

const MANY_USERS = 50_000;
const FETCHES_AT_ONCE = 64;

/** The memory of an API after 50,000 users have fetched their cards in three languages each. */
export async function measureManyContexts(bench: Bench): Promise<Measured> {
  const { ruled } = await targetedWorld(bench);
  await using api = await serve(bench);
  let next = 0;
  const lane = async () => {
    for (let number = next++; number < MANY_USERS; number = next++) {
      const token = signToken(ruled[number % ruled.length] as Tenant, `user|${number}`);
      for (const path of CONTEXT_PATHS) {
        const reply = await fetch(api.url + path, { headers: { Authorization: `Bearer ${token}` } });
        if (!reply.ok) throw new Error(`${path}: ${reply.status}`);
        await reply.arrayBuffer();
      }
    }
  };
  await Promise.all(Array.from({ length: FETCHES_AT_ONCE }, lane));
  return { figures: { 'contexts peak MB': peakMb(api.pid) }, costs: [] };
}
