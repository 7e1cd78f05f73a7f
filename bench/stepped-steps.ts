import { createCatalog } from '../src/api/cache/catalog.ts';
import type { Notices } from '../src/coordination/notices.ts';
import { createCaches } from '../src/platform/caches.ts';
import { createLog } from '../src/platform/log.ts';
import { openStorage } from '../src/storage/database/orm.ts';
import { collectAfterTurn } from '../test/support/memory.ts';
import type { Bench, Measured } from './bench.ts';
import { peakMb } from './cpu.ts';
import { checkAccepted, costRow } from './http-steps.ts';
import { type LoadRequest, measureLoad, sendLoad } from './load.ts';
import {
  makeTenantOfMany,
  STEPPED_VALUES,
  type SteppedUsers,
  steppedQuestion,
  steppedUsers,
  WEB_PATH,
} from './stepped-world.ts';
import {
  answersRequest,
  cardsRequest,
  makeTenants,
  publishQuestions,
  signToken,
  type User,
  unchangedCardsRequest,
} from './world.ts';

type MakeRequest = (user: User, token: string) => LoadRequest;

const MAKERS = {
  cards: (_, token) => cardsRequest(token, WEB_PATH),
  unchanged: (user, token) => unchangedCardsRequest(user, token, WEB_PATH),
} satisfies Record<string, MakeRequest>;

const requestsOf = (users: User[], make: MakeRequest): LoadRequest[] =>
  users.map(user => make(user, signToken(user.tenant, user.identity)));

/** `GET /v1/cards` of one card, in a fresh process. */
export const measureSteppedCards =
  (figure: string, whose: keyof SteppedUsers, what: keyof typeof MAKERS, program: string) =>
  async (bench: Bench): Promise<Measured> => {
    const users = (await steppedUsers(bench))[whose];
    const set = bench.createLoadSet(requestsOf(users, MAKERS[what]));
    await using api = await bench.parley('serve', bench.stores.valkeyUrl ? 'valkey' : 'postgres');
    const result = await measureLoad(api.url, set, bench.plan, bench.roles({ api: api.pid }));
    return { figures: { [figure]: result.rate }, costs: [costRow(program, result)] };
  };

/** `POST /v1/answers` with one answer of five steps. */
export async function measureSteppedAnswers(bench: Bench): Promise<Measured> {
  const { stepped } = await steppedUsers(bench);
  await bench.empty();
  const set = bench.createLoadSet(requestsOf(stepped, (user, token) => answersRequest(user, token, 1, STEPPED_VALUES)));
  await using api = await bench.parley('serve', 'valkey');
  const result = await measureLoad(api.url, set, bench.plan, bench.roles({ api: api.pid }));
  await checkAccepted(api, result.requests);
  return { figures: { 'stepped answers': result.rate }, costs: [costRow('POST, 1 answer of five steps', result)] };
}

const MANY_USERS = 50_000;
const USERS_A_SET = 5000;
const RUNS_A_SET = 10;

/** The memory of an API after 50,000 users with 20 cards each have fetched them. */
export async function measureManyUsers(bench: Bench): Promise<Measured> {
  const tenant = await makeTenantOfMany(bench);
  await using api = await bench.parley('serve', bench.stores.valkeyUrl ? 'valkey' : 'postgres');
  for (let first = 0; first < MANY_USERS; first += USERS_A_SET) {
    const users = Array.from({ length: USERS_A_SET }, (_, index) => signToken(tenant, `user|${first + index}`));
    const set = bench.createLoadSet(users.map(token => cardsRequest(token, WEB_PATH)));
    let most = 0; // in one run, which begins anywhere in the rotation
    for (let run = 0; most < USERS_A_SET; run++) {
      if (run === RUNS_A_SET) throw new Error(`only ${most} of ${USERS_A_SET} users fetched their cards in one run`);
      const { requests } = await sendLoad(api.url, set, bench.plan, bench.roles({ api: api.pid }));
      most = Math.max(most, requests);
    }
  }
  return { figures: { 'many users peak MB': peakMb(api.pid) }, costs: [] };
}

const CATALOG_QUESTIONS = 200;
const CATALOG_VERSIONS = 50;
const CATALOG_READS = 5;

/** Notices that never arrive: every read of the catalog is requested here. */
const SILENT: Notices = {
  onChange: () => undefined,
  onRecords: () => undefined,
  onGap: () => undefined,
  isListening: () => true,
  unconfirmedMs: () => 0,
  close: async () => undefined,
};

/** Copies a tenant's only question, and its version, until there are as many as a tenant may have live. */
async function fillCatalog(bench: Bench, tenantId: string): Promise<void> {
  await bench.query(
    `insert into questions select (jsonb_populate_record(null::questions, to_jsonb(q) || jsonb_build_object(
       'id', gen_random_uuid(), 'version', $2::int))).* from questions as q, generate_series(1, $3::int) where tenant_id = $1`,
    [tenantId, CATALOG_VERSIONS, CATALOG_QUESTIONS],
  );
  await bench.query('delete from questions where tenant_id = $1 and version <> $2', [tenantId, CATALOG_VERSIONS]);
  await bench.query(
    `insert into question_versions select (jsonb_populate_record(null::question_versions, to_jsonb(v) || jsonb_build_object(
       'question_id', q.id, 'version', n, 'title', v.title || ' ' || n))).*
     from question_versions as v, questions as q, generate_series(1, $2::int) as n
     where v.tenant_id = $1 and q.tenant_id = $1`,
    [tenantId, CATALOG_VERSIONS],
  );
  await bench.query('analyze questions, question_versions');
}

/** The heap and the time that a catalog of the largest tenant takes, with five steps in five languages a question. */
export async function measureCatalog(bench: Bench): Promise<Measured> {
  const [tenant] = await makeTenants(bench.databaseUrl, bench.secretKey, 1);
  if (!tenant) throw new Error('no tenant was created');
  {
    await using api = await bench.parley('serve', bench.stores.valkeyUrl ? 'valkey' : 'postgres');
    await publishQuestions(api.url, [tenant], [steppedQuestion()]);
  }
  await fillCatalog(bench, tenant.uuid);
  const log = createLog('warn', 'bench');
  const storage = openStorage({ url: bench.databaseUrl, role: 'parley_app', connections: 5, log });
  try {
    const read = async () => {
      const startedAt = performance.now();
      const catalog = createCatalog(storage, SILENT, createCaches());
      const { live, bytes } = await catalog.of(tenant.uuid);
      if (live.length !== CATALOG_QUESTIONS) throw new Error(`the catalog has ${live.length} live questions`);
      return { catalog, bytes, ms: performance.now() - startedAt };
    };
    const times: number[] = [];
    for (let count = 0; count < CATALOG_READS; count++) times.push((await read()).ms);
    const before = await collectAfterTurn();
    const { catalog, bytes } = await read();
    const heap = (await collectAfterTurn()) - before;
    catalog.cached(tenant.uuid); // keeps it until here
    const median = times.toSorted((a, b) => a - b)[Math.floor(CATALOG_READS / 2)] as number;
    const figures = { 'catalog MB': heap / 1e6, 'catalog estimate MB': bytes / 1e6, 'catalog ms': median };
    return { figures, costs: [] };
  } finally {
    await storage.close();
  }
}
