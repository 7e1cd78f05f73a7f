import { createLog } from '../src/platform/log.ts';
import { listAnswers } from '../src/storage/answers/answers.ts';
import { openStorage } from '../src/storage/database/orm.ts';
import type { Bench } from './bench.ts';
import { awaitQuiet, type Cost, startMeter } from './cpu.ts';
import type { Curve } from './curve.ts';
import { growLists } from './lists.ts';
import { type LoadRequest, measureLoad, openLoadSets } from './load.ts';
import { median } from './numbers.ts';
import { makeAnswers, storeAnswers } from './store-steps.ts';
import { cardsRequest, makeTenants, signToken, type Tenant } from './world.ts';

const STORED_A_POINT = 10_000;
const LISTS_A_POINT = 200;
const MAX_TOKENS = 10_000;
const LEAST_TOKENS = 500;
const FIRST_REQUESTS_A_SECOND = 350;
/** Room for the keys, catalogs and users of every point: beyond it, a fetch costs its queries. */
const ENVIRONMENT = { CACHE_MB: '512' };

const cpuMicros = (cost: Cost, count: number, roles: string[]): number =>
  (roles.reduce((sum, role) => sum + (cost.cpu[role] ?? 0), 0) / count) * 1e6;

const FILL_ANSWERS = `
  insert into answers (tenant_id, id, identity, identity_verified, card_id, question_id, question_version, revision, state,
    "values", metadata, content_hash, tags, received_at, stored_at, updated_at)
  select question.tenant_id, uuidv7(), 'past|' || n, true, gen_random_uuid(), question.id, 1, 1, 'completed',
    '{"main": 4}', '{"platform": "ios"}', '', '{}', at, at, at
  from generate_series($1::int, $2::int) as n
    join (select tenant_id, id, row_number() over () - 1 as place, count(*) over () as total from questions) as question
      on question.place = n % question.total,
    lateral (select now() - interval '30 days' + n * interval '1 millisecond' as at) as times`;

/** The cost of storing and listing answers as the number of stored answers grows. */
async function growAnswers(bench: Bench): Promise<Curve[]> {
  const stored: Curve = { title: 'CPU per stored answer', unit: 'µs', over: 'stored answers', points: [] };
  const listed: Curve = { title: 'list of answers, p50', unit: 'ms', over: 'stored answers', points: [] };
  await bench.empty();
  let present = 0;
  for (const size of bench.settings.growthAnswers) {
    await bench.query(FILL_ANSWERS, [present + 1, size]);
    await bench.query('vacuum analyze answers');
    present = size;
    await storeAnswers(bench.databaseUrl, makeAnswers(bench.users, STORED_A_POINT / 10));
    const answers = makeAnswers(bench.users, STORED_A_POINT);
    await bench.query('checkpoint');
    await awaitQuiet(bench.roles({}));
    const stopMeter = startMeter(bench.roles({}));
    await storeAnswers(bench.databaseUrl, answers);
    const cost = stopMeter();
    const y = cpuMicros(cost, STORED_A_POINT, ['database']) + (cost.load / STORED_A_POINT) * 1e6;
    stored.points.push({ x: size, y });
    listed.points.push({ x: size, y: await timeLists(bench) });
  }
  await bench.empty();
  return [stored, listed];
}

async function timeLists(bench: Bench): Promise<number> {
  const log = createLog('warn', 'bench');
  const storage = openStorage({ url: bench.databaseUrl, role: 'parley_app', connections: 1, log });
  const times: number[] = [];
  try {
    for (let turn = 0; turn < LISTS_A_POINT; turn++) {
      const { uuid } = bench.tenants[turn % bench.tenants.length] as Tenant;
      const startedAt = performance.now();
      await listAnswers(storage.forTenant(uuid), {}, 10, null);
      times.push(performance.now() - startedAt);
    }
  } finally {
    await storage.close();
  }
  return median(times.slice(LISTS_A_POINT / 10));
}

/** CPU time of API and database per card fetch, in a fresh process that has seen each token before. */
async function costOfCards(bench: Bench, requests: LoadRequest[]): Promise<number> {
  using sets = openLoadSets();
  await using api = await bench.parley('serve', bench.stores.valkeyUrl ? 'valkey' : 'postgres', {
    environment: ENVIRONMENT,
  });
  const seconds = bench.settings.growthSeconds;
  // Long enough to see each token once, at the cost of a first verification.
  const warmUpSeconds = seconds * 2 + Math.ceil(requests.length / FIRST_REQUESTS_A_SECOND);
  const plan = { connections: 64, warmUpSeconds, seconds };
  const { cost, requests: count } = await measureLoad(
    api.url,
    sets.create(requests),
    plan,
    bench.roles({ api: api.pid }),
  );
  return cpuMicros(cost, count, ['api', 'database']);
}

const GIVE_QUESTIONS = `
  with given as (
    insert into questions (tenant_id, id, name, status, version, type, title, description, config, frequency, allow_public,
      priority, created_at, updated_at, published_at)
    select tenants.id, gen_random_uuid(), questions.name, status, version, type, title, description, config, frequency,
      allow_public, priority, questions.created_at, updated_at, published_at
    from tenants cross join questions
    where questions.tenant_id = $1 and not exists (select from questions own where own.tenant_id = tenants.id)
    returning *
  )
  insert into question_versions (tenant_id, question_id, version, type, title, description, config, created_at)
  select tenant_id, id, version, type, title, description, config, created_at from given`;

/** The cost of a card fetch as the number of requesting tenants grows. */
async function growTenants(bench: Bench): Promise<Curve> {
  const curve: Curve = { title: 'CPU per card fetch', unit: 'µs', over: 'tenants', points: [] };
  const tenants = [...bench.tenants];
  for (const size of bench.settings.growthTenants) {
    if (size > tenants.length) {
      tenants.push(...(await makeTenants(bench.databaseUrl, bench.secretKey, size - tenants.length)));
      await bench.query(GIVE_QUESTIONS, [tenants[0]?.uuid]);
      await bench.query('analyze');
    }
    const tokens = Math.min(MAX_TOKENS, Math.max(LEAST_TOKENS, size));
    const requests = Array.from({ length: tokens }, (_, number) =>
      cardsRequest(signToken(tenants[number % size] as Tenant, `user|${number}`)),
    );
    curve.points.push({ x: size, y: await costOfCards(bench, requests) });
  }
  return curve;
}

const FILL_IDENTITIES = `
  insert into card_records (tenant_id, identity, identity_verified, question_id, shown_at, answered_at)
  select questions.tenant_id, 'user|' || n, true, questions.id, now(), now()
  from generate_series($1::int, $2::int) as n
    join unnest($3::uuid[]) with ordinality as tenant(id, place) on tenant.place = n % cardinality($3::uuid[]) + 1
    join questions on questions.tenant_id = tenant.id
  on conflict do nothing`;

/** The cost of a card fetch as the number of identities with a history of three cards grows. */
async function growIdentities(bench: Bench): Promise<Curve> {
  const curve: Curve = { title: 'CPU per card fetch', unit: 'µs', over: 'identities with a history', points: [] };
  const { tenants } = bench;
  await bench.empty();
  let present = 0;
  for (const size of bench.settings.growthIdentities) {
    await bench.query(FILL_IDENTITIES, [present, size - 1, tenants.map(({ uuid }) => uuid)]);
    await bench.query('vacuum analyze card_records');
    present = size;
    const tokens = Math.min(size, MAX_TOKENS);
    const requests = Array.from({ length: tokens }, (_, index) => {
      const number = Math.floor((index * size) / tokens);
      return cardsRequest(signToken(tenants[number % tenants.length] as Tenant, `user|${number}`));
    });
    curve.points.push({ x: size, y: await costOfCards(bench, requests) });
  }
  await bench.empty();
  return curve;
}

/** Measures all growth curves. The goal is a flat curve: its last point costs as much as its first. */
export async function measureGrowth(bench: Bench, log: (text: string) => void): Promise<Curve[]> {
  log('growth: identities');
  const identities = await growIdentities(bench);
  log('growth: stored answers');
  const answers = await growAnswers(bench);
  log('growth: lists');
  const lists = await growLists(bench);
  log('growth: tenants');
  return [...answers, ...lists, await growTenants(bench), identities];
}
