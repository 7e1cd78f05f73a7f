import type { Caller } from '../src/api/caller.ts';
import { createHeavyReads } from '../src/api/http/heavy-reads.ts';
import { createLog } from '../src/platform/log.ts';
import { createMetrics } from '../src/platform/metrics.ts';
import { type AnswerFilter, listAnswers } from '../src/storage/answers/answers.ts';
import { type ConversationFilter, listConversations } from '../src/storage/conversations/conversation-lists.ts';
import { migrate } from '../src/storage/database/migrate.ts';
import { openStorage, type TenantStorage } from '../src/storage/database/orm.ts';
import type { Bench } from './bench.ts';
import type { Curve } from './curve.ts';
import { quantile } from './numbers.ts';
import { fillSkewed, type Skew, skewedQuestions, skewedTenants } from './skewed.ts';
import { createDatabase } from './stores.ts';
import { measureStoring } from './storing.ts';

const REQUESTS_A_POINT = 60;
const NEIGHBOUR_REQUESTS = 1000;
/** How often the neighbour is measured without and with the searches, in alternation. */
const NEIGHBOUR_TURNS = 5;
const SEARCHES_AT_ONCE = 10;
/** Connections of an API process (`DATABASE_POOL`). */
const CONNECTIONS = 10;

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

/** Requests of the large tenant and of a small one. */
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

/** Stands for an empty table, because the axis is logarithmic. */
const EMPTY = 1;

const skewOf = (size: number): Skew => ({
  answers: size,
  conversations: Math.min(size / 10, 100_000),
  messagesEach: 3,
  identities: Math.min(Math.floor(size / 5), 200_000),
  entries: Math.min(size / 20, 50_000),
  tenants: 400,
});

/** Points of curves by title. */
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

async function createFilled(bench: Bench, name: string, skew: Skew): Promise<string> {
  const url = await createDatabase(bench.stores, name);
  await migrate(url, createLog('warn', 'bench'));
  await fillSkewed(url, skew);
  return url;
}

/** A database with as many answers as `skew` says. */
interface Filled {
  skew: Skew;
  url: string;
}

/** Lists, filters, sorts and searches over more and more answers of one tenant; and the cost of storing an answer. */
export async function growLists(bench: Bench): Promise<Curve[]> {
  const curves = openCurves();
  const filled: Filled[] = [];
  for (const size of bench.settings.growthLists) {
    const skew = skewOf(size);
    filled.push({ skew, url: await createFilled(bench, `parley_lists_${size}`, skew) });
  }
  await timeRequests(filled, curves);
  for (const { url, skew } of filled) {
    const { idle, duringSearches } = await timeNeighbour(url, skew);
    curves.add("a neighbour's list, p99", 'ms', skew.answers, idle);
    curves.add(`the same next to ${SEARCHES_AT_ONCE} searches at once, p99`, 'ms', skew.answers, duringSearches);
  }
  await growStored(bench, curves, false);
  await growStored(bench, curves, true);
  return curves.all();
}

async function growStored(bench: Bench, curves: Curves, randomIds: boolean): Promise<void> {
  const ids = randomIds ? 'version 4' : 'version 7';
  for (const size of [EMPTY, ...bench.settings.growthLists]) {
    const skew = { ...skewOf(size), conversations: 0, entries: 0, randomIds };
    const url = await createFilled(bench, 'parley_storing', skew);
    const { walBytes, perSecond } = await measureStoring(url, skew, bench.settings.growthStored);
    curves.add(`WAL per stored answer, ids of ${ids}`, 'bytes', size, walBytes);
    curves.add(`answers stored a second, ids of ${ids}`, '/s', size, perSecond);
  }
}

const openReader = (url: string, connections: number) =>
  openStorage({ url, role: 'parley_app', connections, log: createLog('warn', 'bench') });

/** Times each request on all databases in turn, so that a change of the machine's speed affects them alike. */
async function timeRequests(filled: Filled[], curves: Curves): Promise<void> {
  const readers = filled.map(({ skew, url }) => ({ size: skew.answers, skew, storage: openReader(url, 1) }));
  try {
    for (const [place, requests] of [LARGE, SMALL].entries())
      for (const [title, request] of Object.entries(requests)) {
        const series = readers.map(({ size, skew, storage }) => ({
          size,
          tenant: storage.forTenant(skewedTenants(skew)[place] as string),
          times: [] as number[],
        }));
        for (let turn = 0; turn < REQUESTS_A_POINT; turn++)
          for (const { tenant, times } of series) times.push(await timeOf(() => request(tenant)));
        for (const { size, times } of series) {
          const warm = times.slice(REQUESTS_A_POINT / 10);
          curves.add(title, 'ms', size, quantile(warm, 0.5), quantile(warm, 0.95));
        }
      }
  } finally {
    for (const { storage } of readers) await storage.close();
  }
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/**
 * Returns the p99 of a small tenant's list, without load and during searches of the large tenant through the same pool,
 * with the limits of the API.
 */
async function timeNeighbour(url: string, skew: Skew): Promise<{ idle: number; duringSearches: number }> {
  const storage = openReader(url, CONNECTIONS);
  const heavyReads = createHeavyReads(CONNECTIONS, createMetrics('serve'));
  const [large = '', small = ''] = skewedTenants(skew);
  const list = (tenantId: string, query: AnswerFilter) => {
    const read = {
      operation: { method: 'get', path: '/v1/answers', heavy: true },
      caller: { tenantId } as Caller,
      query,
      storage,
    };
    return heavyReads.run(read, reader => answers(query)(reader.forTenant(tenantId)));
  };
  const measure = async (times: number[]) => {
    for (let turn = 0; turn < NEIGHBOUR_REQUESTS; turn++) times.push(await timeOf(() => list(small, {})));
  };
  const search = async (isOver: () => boolean) => {
    while (!isOver()) await list(large, { q: 'nowhere', state: 'partial' });
  };
  const measureNextToSearches = async (times: number[]) => {
    let isOver = false;
    const searches = Array.from({ length: SEARCHES_AT_ONCE }, () => search(() => isOver));
    await measure(times).finally(() => (isOver = true));
    await Promise.all(searches);
  };
  const [idle, duringSearches]: [number[], number[]] = [[], []];
  try {
    await measure([]); // warms up
    for (let turn = 0; turn < NEIGHBOUR_TURNS; turn++) {
      await measure(idle);
      await measureNextToSearches(duringSearches);
    }
    return { idle: quantile(idle, 0.99), duringSearches: quantile(duringSearches, 0.99) };
  } finally {
    await storage.close();
  }
}
