import { createLog } from '../src/platform/log.ts';
import { withClient } from '../src/platform/postgres-client.ts';
import { type AnswerFilter, listAnswers } from '../src/storage/answers.ts';
import { type ConversationFilter, listConversations } from '../src/storage/conversation-lists.ts';
import { migrate } from '../src/storage/migrate.ts';
import { openStorage, type TenantStorage } from '../src/storage/orm.ts';
import type { Bench } from './bench.ts';
import type { Curve } from './curve.ts';
import { median } from './numbers.ts';
import { fillSkewed, type Skew, skewedQuestions, skewedTenants } from './skewed.ts';
import { makeAnswers, storeAnswers } from './store-steps.ts';
import { createDatabase } from './stores.ts';

const REQUESTS_A_POINT = 30;
const STORED_A_POINT = 60_000;
/** 80 characters, in each third answer. */
const COMMENT = 'The export takes far too long since the last update please make it faster for us';

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
  'conversations, latest activity': conversations({}),
  'conversations sort=created_at': conversations({ sort: 'created_at' }),
  'conversations q, prefix': conversations({ q: 'every' }),
  'conversations q, no match': conversations({ q: 'nowhere' }),
};
const SMALL: Record<string, Request> = {
  'small tenant: answers q, no match': answers({ q: 'nowhere' }),
  'small tenant: conversations q, prefix': conversations({ q: 'w1' }),
};

const skewOf = (size: number): Skew => ({
  answers: size,
  conversations: Math.min(size / 10, 100_000),
  messagesEach: 3,
  identities: Math.min(size / 5, 200_000),
  entries: Math.min(size / 20, 50_000),
  tenants: 400,
});

/** Lists, filters, sorts and searches while one tenant has more and more answers; and what an answer costs to store. */
export async function growLists(bench: Bench): Promise<Curve[]> {
  const url = await createDatabase(bench.stores, 'parley_lists');
  await migrate(url, createLog('warn', 'bench'));
  const curves = new Map<string, Curve>();
  const add = (title: string, unit: string, x: number, y: number) => {
    const curve = curves.get(title) ?? { title, unit, over: 'stored answers', points: [] };
    curve.points.push({ x, y });
    curves.set(title, curve);
  };
  let filled: Skew | undefined;
  for (const size of bench.settings.growthLists) {
    const skew = skewOf(size);
    await fillSkewed(url, skew, filled);
    filled = skew;
    for (const [title, ms] of await timeRequests(url, skew)) add(title, 'ms', size, ms);
    const stored = await storeMore(bench, url);
    add('WAL per stored answer', 'bytes', size, stored.walBytes);
    add('answers stored a second', '/s', size, stored.perSecond);
  }
  return [...curves.values()];
}

async function timeRequests(url: string, skew: Skew): Promise<[string, number][]> {
  const storage = openStorage({ url, role: 'parley_app', connections: 1, log: createLog('warn', 'bench') });
  const [large = '', small = ''] = skewedTenants(skew);
  try {
    const times: [string, number][] = [];
    for (const [tenantId, requests] of [
      [large, LARGE],
      [small, SMALL],
    ] as const)
      for (const [title, request] of Object.entries(requests))
        times.push([title, await timeRequest(storage.forTenant(tenantId), request)]);
    return times;
  } finally {
    await storage.close();
  }
}

async function timeRequest(tenant: TenantStorage, request: Request): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn < REQUESTS_A_POINT; turn++) {
    const startedAt = performance.now();
    await request(tenant);
    times.push(performance.now() - startedAt);
  }
  return median(times.slice(REQUESTS_A_POINT / 10));
}

/** Stores answers of which a third have a comment, on top of those that are there; the index of words is up to date after. */
async function storeMore(bench: Bench, url: string): Promise<{ walBytes: number; perSecond: number }> {
  const more = makeAnswers(bench.users, STORED_A_POINT).map((answer, number) => ({
    ...answer,
    comment: number % 3 === 0 ? COMMENT : null,
  }));
  const position = async () =>
    withClient(url, async client => {
      const { rows } = await client.query<{ bytes: string }>(
        "select gin_clean_pending_list('answer_words_found'), pg_current_wal_lsn() - '0/0' as bytes",
      );
      return Number(rows[0]?.bytes);
    });
  await withClient(url, client => client.query('checkpoint'));
  const before = await position();
  const startedAt = performance.now();
  await storeAnswers(url, more);
  const seconds = (performance.now() - startedAt) / 1000;
  return { walBytes: ((await position()) - before) / STORED_A_POINT, perSecond: STORED_A_POINT / seconds };
}
