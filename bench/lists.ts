import { createLog } from '../src/platform/log.ts';
import { type AnswerFilter, listAnswers } from '../src/storage/answers.ts';
import { type ConversationFilter, listConversations } from '../src/storage/conversation-lists.ts';
import { migrate } from '../src/storage/migrate.ts';
import { openStorage, type TenantStorage } from '../src/storage/orm.ts';
import type { Bench } from './bench.ts';
import type { Curve } from './curve.ts';
import { quantile } from './numbers.ts';
import { fillSkewed, type Skew, skewedQuestions, skewedTenants } from './skewed.ts';
import { createDatabase } from './stores.ts';
import { measureStoring } from './storing.ts';

const REQUESTS_A_POINT = 60;
const NEIGHBOUR_REQUESTS = 300;
const SEARCHES_AT_ONCE = 10;

type Request = (tenant: TenantStorage) => Promise<unknown>;

const answers =
  (filter: AnswerFilter): Request =>
  tenant =>
    listAnswers(tenant, filter, 10, null);
const conversations =
  (filter: Omit<ConversationFilter, 'side'>): Request =>
  tenant =>
    listConversations(tenant, { side: 'team', ...filter }, 10, null);

const everything = { since: new Date(0), before: new Date('2100-01-01') };
const [, question_id = ''] = skewedQuestions;

/** Requests of the large tenant, and of a small one. */
const LARGE: Record<string, Request> = {
  'answers, newest': answers({}),
  'answers q, a word in 6 % of all': answers({ q: 'everyday' }),
  'answers q, a rare word': answers({ q: 'needle' }),
  'answers q, no match': answers({ q: 'nowhere' }),
  'answers question_id + q, no match': answers({ question_id, q: 'nowhere' }),
  'answers updated_since + state, no match': answers({ updated: everything, state: 'partial' }),
  'answers version, no match': answers({ version: 7 }),
  'answers state, no match': answers({ state: 'partial' }),
  'answers question_id + state, no match': answers({ question_id, state: 'partial' }),
  'answers tag': answers({ tag: 'vip' }),
  'answers question_id': answers({ question_id }),
  'answers of an identity that has 25': answers({ identity: 'user|1' }),
  'answers of an identity that has every tenth': answers({ identity: 'user|busy' }),
  'answers of an identity + state, no match': answers({ identity: 'user|busy', state: 'partial' }),
  'conversations, latest activity': conversations({}),
  'conversations sort=created_at': conversations({ sort: 'created_at' }),
  'conversations q, prefix': conversations({ q: 'every' }),
  'conversations q, no match': conversations({ q: 'nowhere' }),
};
const SMALL: Record<string, Request> = {
  'small tenant: answers, newest': answers({}),
  'small tenant: answers state, no match': answers({ state: 'partial' }),
  'small tenant: answers q, no match': answers({ q: 'nowhere' }),
  'small tenant: conversations sort=created_at': conversations({ sort: 'created_at' }),
  'small tenant: conversations q, prefix': conversations({ q: 'w1' }),
};

/** As good as empty: curves are drawn over a logarithm. */
const EMPTY = 1;

const skewOf = (size: number): Skew => ({
  answers: size,
  conversations: Math.min(size / 10, 100_000),
  messagesEach: 3,
  identities: Math.min(Math.floor(size / 5), 200_000),
  entries: Math.min(size / 20, 50_000),
  tenants: 400,
});

/** Points of curves by their titles. */
function openCurves() {
  const curves = new Map<string, Curve>();
  return {
    add(title: string, unit: string, x: number, y: number, p95?: number) {
      const curve = curves.get(title) ?? { title, unit, over: 'stored answers', points: [] };
      curve.points.push(p95 === undefined ? { x, y } : { x, y, p95 });
      curves.set(title, curve);
    },
    all: () => [...curves.values()],
  };
}
type Curves = ReturnType<typeof openCurves>;

async function createMigrated(bench: Bench, name: string): Promise<string> {
  const url = await createDatabase(bench.stores, name);
  await migrate(url, createLog('warn', 'bench'));
  return url;
}

/** Lists, filters, sorts and searches while one tenant has more and more answers; and what an answer costs to store. */
export async function growLists(bench: Bench): Promise<Curve[]> {
  const curves = openCurves();
  const url = await createMigrated(bench, 'parley_lists');
  let filled: Skew | undefined;
  for (const size of bench.settings.growthLists) {
    const skew = skewOf(size);
    await fillSkewed(url, skew, filled);
    filled = skew;
    for (const { title, p50, p95 } of await timeRequests(url, skew)) curves.add(title, 'ms', size, p50, p95);
    const { alone, besideSearches } = await timeNeighbour(url, skew);
    curves.add("a neighbour's list, p99", 'ms', size, alone);
    curves.add(`the same next to ${SEARCHES_AT_ONCE} searches at once, p99`, 'ms', size, besideSearches);
  }
  await growStored(bench, curves, false);
  await growStored(bench, curves, true);
  return curves.all();
}

/** In a database of its own, since stored answers are newer than those that the next fill would add. */
async function growStored(bench: Bench, curves: Curves, randomIds: boolean): Promise<void> {
  const ids = randomIds ? 'version 4' : 'version 7';
  for (const size of [EMPTY, ...bench.settings.growthLists]) {
    const url = await createMigrated(bench, 'parley_storing');
    const skew = { ...skewOf(size), conversations: 0, entries: 0, randomIds };
    await fillSkewed(url, skew);
    const { walBytes, perSecond } = await measureStoring(url, skew, bench.settings.growthStored);
    curves.add(`WAL per stored answer, ids of ${ids}`, 'bytes', size, walBytes);
    curves.add(`answers stored a second, ids of ${ids}`, '/s', size, perSecond);
  }
}

/** Milliseconds of the requests to a list. */
interface Times {
  title: string;
  p50: number;
  p95: number;
}

const openReader = (url: string, connections: number) =>
  openStorage({ url, role: 'parley_app', connections, log: createLog('warn', 'bench') });

async function timeRequests(url: string, skew: Skew): Promise<Times[]> {
  const storage = openReader(url, 1);
  const [large = '', small = ''] = skewedTenants(skew);
  try {
    const times: Times[] = [];
    for (const [tenantId, requests] of [
      [large, LARGE],
      [small, SMALL],
    ] as const)
      for (const [title, request] of Object.entries(requests)) {
        const taken = await timeRequest(storage.forTenant(tenantId), request, REQUESTS_A_POINT);
        times.push({ title, p50: quantile(taken, 0.5), p95: quantile(taken, 0.95) });
      }
    return times;
  } finally {
    await storage.close();
  }
}

/** Sorted milliseconds, without the first tenth of the requests. */
async function timeRequest(tenant: TenantStorage, request: Request, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let turn = 0; turn < count; turn++) {
    const startedAt = performance.now();
    await request(tenant);
    times.push(performance.now() - startedAt);
  }
  return times.slice(count / 10).sort((one, other) => one - other);
}

/** Returns the p99 of a small tenant's list, without load and during searches of the large tenant through the same pool. */
async function timeNeighbour(url: string, skew: Skew): Promise<{ alone: number; besideSearches: number }> {
  const storage = openReader(url, 10);
  const [large = '', small = ''] = skewedTenants(skew);
  const measure = async () =>
    quantile(await timeRequest(storage.forTenant(small), answers({}), NEIGHBOUR_REQUESTS), 0.99);
  let isOver = false;
  const search = async () => {
    while (!isOver) await answers({ q: 'nowhere', state: 'partial' })(storage.forTenant(large));
  };
  try {
    const alone = await measure();
    const searches = Promise.all(Array.from({ length: SEARCHES_AT_ONCE }, search));
    const besideSearches = await measure().finally(() => (isOver = true));
    await searches;
    return { alone, besideSearches };
  } finally {
    await storage.close();
  }
}
