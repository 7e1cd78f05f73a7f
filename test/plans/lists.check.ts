import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  fillSkewed,
  type Skew,
  skewedConversation,
  skewedQuestions,
  skewedTenants,
  uuidOf,
} from '../../bench/skewed.ts';
import type { Caller } from '../../src/api/caller.ts';
import type { Operation } from '../../src/api/operation.ts';
import { OPERATIONS } from '../../src/api/routes/index.ts';
import { createIncrementalReads, type IncrementalReads } from '../../src/api/watch/incremental-reads.ts';
import { toTypeId } from '../../src/domain/ids.ts';
import { MAX_SCANNED, type Page } from '../../src/domain/pages.ts';
import { createLog } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { openStorage, type Storage } from '../../src/storage/orm.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { type Explained, explainTo } from './explained.ts';

const SIZE = Number(process.env.PLANS_ANSWERS ?? 1_000_000);
const SKEW: Skew = {
  answers: SIZE,
  conversations: Number(process.env.PLANS_CONVERSATIONS ?? SIZE / 10),
  messagesEach: 3,
  identities: SIZE / 5,
  entries: SIZE / 20,
  tenants: 400,
};
const [LARGE = '', SMALL = ''] = skewedTenants(SKEW);

/**
 * The maximum number of pages that one statement may read. A scanned row needs one page of its table, and up to five of
 * the word index; a conversation needs several pages of its messages.
 */
const MOST_PAGES = 6 * MAX_SCANNED;
/** The maximum number of pages without a filter that needs a scan. */
const FEW_PAGES = 1000;

/** Values of each parameter: frequent, rare and absent ones. */
const VALUES: Record<string, string[]> = {
  question_id: [0, 9]
    .map(number => toTypeId('question', skewedQuestions[number] as string))
    .concat(toTypeId('question', uuidOf('none'))),
  state: ['completed', 'partial'],
  identity: ['user|1', 'user|busy', 'nobody'],
  verified: ['true', 'false'],
  version: ['1', '7'],
  value: ['9', '0', 'other'],
  step: ['main', 'reason', 'none'],
  counted: ['true', 'false'],
  from: ['2026-01-02', '2027-01-01'],
  to: ['2026-01-02', '2020-01-01'],
  tag: ['vip', 'none'],
  written: ['true'],
  q: ['everyday', 'needle', 'nowhere', 'w', 'w1 w2 w3', 'user|1'],
  updated_since: ['2026-01-01T00:00:00.000Z', '2026-01-10T00:00:00.000Z'],
  unread: ['true', 'false'],
  assignee: ['none', toTypeId('member', uuidOf('member'))],
  priority: ['none', 'urgent'],
  source: ['user', 'api'],
  sort: ['-last_activity_at', 'last_activity_at', '-created_at', 'created_at', 'reply_due_at'],
  overdue: ['true', 'false'],
  mentioned: ['true', 'false'],
  action: ['answer.tagged', 'api-key.revoked'],
  actor: [toTypeId('member', uuidOf('member'))],
  since: ['2026-01-02T00:00:00.000Z'],
  type: ['nps', 'text'],
  include: ['results'],
  after_seq: ['0', '2'],
  after_note_seq: ['0', '2'],
  deleted: ['true', 'false'],
  order: ['asc', 'desc'],
  after: ['0', '40000'],
};
/** Parameters whose values depend on the list. */
const OWN_VALUES: Record<string, string[]> = {
  'listConversations status': ['open', 'pending'],
  'listQuestions status': ['live', 'draft'],
  'listDeliveries status': ['delivered', 'waiting'],
};

const LISTS = OPERATIONS.filter(
  ({ method, query, credentials }) => method === 'get' && 'cursor' in shapeOf(query) && !credentials.includes('person'),
);

function shapeOf(query: z.ZodType | undefined): Record<string, z.ZodType> {
  return query instanceof z.ZodObject ? (query.shape as Record<string, z.ZodType>) : {};
}

const valuesOf = (list: Operation, name: string): string[] | undefined =>
  OWN_VALUES[`${list.id} ${name}`] ?? VALUES[name];
const filtersOf = (list: Operation): string[] =>
  Object.keys(shapeOf(list.query)).filter(name => !['limit', 'cursor'].includes(name));

type Query = Record<string, string>;

/** Whether lists accept the combination: days in reverse order are refused, and deleted conversations without a time. */
const isAccepted = ({ from, to, deleted, updated_since: since }: Query): boolean =>
  (!from || !to || from <= to) && (deleted !== 'true' || since !== undefined);

/** A list without filters, with each single value, and with each pair of them that it accepts. */
function queriesOf(list: Operation): Query[] {
  const single = filtersOf(list).flatMap(name => (valuesOf(list, name) ?? []).map(value => ({ [name]: value })));
  const pairs = single.flatMap((one, index) =>
    single
      .slice(index + 1)
      .flatMap(other => (Object.keys(one)[0] === Object.keys(other)[0] ? [] : [{ ...one, ...other }])),
  );
  return [{}, ...single, ...pairs].filter(isAccepted);
}

let database: TestDatabase;
let storage: Storage;
let incrementalReads: IncrementalReads;

beforeAll(async () => {
  database = await createDatabase();
  await fillSkewed(database.url, SKEW);
  await makeDeliveries();
  const log = createLog('warn', 'test');
  storage = openStorage({ url: database.url, role: 'parley_app', connections: 1, log });
  incrementalReads = createIncrementalReads(storage, createMetrics('serve'), log);
});
afterAll(async () => {
  if (process.env.PLANS_REPORT) writeFileSync(process.env.PLANS_REPORT, reportDearest(seen));
  await storage.close();
  await database[Symbol.asyncDispose]();
});

const callers = (tenantId: string): Record<string, Partial<Caller>> => ({
  session: { kind: 'session', tenantId, role: 'owner', memberId: uuidOf('member') },
  'access-token': { kind: 'access-token', tenantId, identity: 'user|1', verified: true },
});

/** The object in the path of a list, by its collection. */
const idsByPath: Record<string, string | undefined> = { questions: skewedQuestions[0], webhooks: uuidOf('webhook') };

/** A webhook of each of two tenants, with many deliveries in the larger one. */
async function makeDeliveries(): Promise<void> {
  for (const [tenant, count] of [
    [LARGE, SIZE / 20],
    [SMALL, 100],
  ] as const) {
    await database.query(
      `insert into webhooks (tenant_id, id, url, description, event_types, payload, ordered, status, secret_sealed,
         feed_position, created_at, updated_at)
       values ($1, $2, 'https://hooks.acme.example', '', '{}', 'full', false, 'enabled', '', $3, now(), now())`,
      [tenant, uuidOf('webhook'), count],
    );
    await database.query(
      `insert into deliveries (tenant_id, id, webhook_id, event_id, sequence, type, object_id, event_at, attempt, at, status)
       select $1, gen_random_uuid(), $2, gen_random_uuid(), number, 'answer.stored', gen_random_uuid(), now(), 1,
         now() - number * interval '1 second', case when number % 1000 = 0 then 'failed' else 'delivered' end
       from generate_series(1, $3::int) as number`,
      [tenant, uuidOf('webhook'), count],
    );
  }
  await database.query('vacuum analyze deliveries');
}

/** One page and the execution of its statements. */
async function read(list: Operation, caller: Partial<Caller>, sent: Query, after: string[] | null) {
  const statements: Explained[] = [];
  const query = await (list.query as z.ZodType).parseAsync(sent);
  const page = (rows: Page<unknown>) => rows;
  const params = { id: idsByPath[list.path.split('/')[2] as string] ?? skewedConversation };
  const request = { caller, params, query, after, page, receivedAt: new Date() };
  const result = await list.handle(
    request as never,
    { storage: explainTo(statements, storage), incrementalReads, now: () => new Date() } as never,
  );
  return { statements, page: result as Page<unknown> };
}

/** The most expensive execution of each statement so far, with its request. */
const seen = new Map<string, Explained & { context: unknown }>();

/** Writes the ten statements that read the most pages, for `PLANS_REPORT`. */
function reportDearest(executions: typeof seen): string {
  const dearest = [...executions.values()].sort((one, other) => other.pages - one.pages).slice(0, 10);
  const sections = dearest.map(
    ({ sql, pages, executionMs, plan, context }) =>
      `## ${pages} pages, ${executionMs.toFixed(1)} ms\n\n${JSON.stringify(context)}\n\n\`\`\`sql\n${sql.trim()}\n\`\`\`\n\n\`\`\`\n${plan}\n\`\`\`\n`,
  );
  return `# The ten statements of lists that read the most pages, with ${SIZE} answers\n\n${sections.join('\n')}`;
}

function expectCheap(statements: Explained[], context: unknown): void {
  for (const statement of statements)
    if (statement.pages > (seen.get(statement.sql)?.pages ?? -1)) seen.set(statement.sql, { ...statement, context });
  const large = [
    'answers',
    'answer_words',
    'conversations',
    'messages',
    'message_words',
    'card_records',
    'audit_log',
    'quarantined_answers',
  ];
  for (const { sql, pages, scanned } of statements) {
    const whole = scanned.filter(table => large.includes(table));
    const most = /row_number|search_|wanted/.test(sql) ? MOST_PAGES : FEW_PAGES;
    expect({ context, sql, whole, dear: pages > most ? pages : 0 }).toEqual({ context, sql, whole: [], dear: 0 });
  }
}

test('the answers of one identity read few pages, and those of one with very many as many as any list', async () => {
  const list = LISTS.find(({ id }) => id === 'listAnswers') as Operation;
  const caller = callers(LARGE).session as Partial<Caller>;
  const pages = async (query: Query) => {
    const { statements, page } = await read(list, caller, query, null);
    return { pages: statements.reduce((sum, statement) => sum + statement.pages, 0), rows: page.rows.length };
  };
  for (const more of [{}, { state: 'partial' }, { q: 'w' }, { updated_since: '2026-01-01T00:00:00.000Z' }] as Query[]) {
    expect((await pages({ identity: 'user|1', ...more })).pages).toBeLessThan(200);
    expect((await pages({ identity: 'nobody', ...more })).pages).toBeLessThan(50);
    expect((await pages({ identity: 'user|busy', ...more })).pages).toBeLessThan(MOST_PAGES);
  }
  expect(await pages({ identity: 'user|1' })).toMatchObject({ rows: SIZE / 200_000 });
  expect((await pages({ identity: 'user|busy' })).rows).toBe(10);
});

test('there are values for each parameter of each list', () => {
  const missing = LISTS.flatMap(list =>
    filtersOf(list)
      .filter(name => !valuesOf(list, name))
      .map(name => `${list.id} ${name}`),
  );
  expect(missing).toEqual([]);
  expect(LISTS.length).toBeGreaterThan(8);
});

describe.each(LISTS.map(list => [list.id, list] as const))('%s', (_, list) => {
  test.each([
    ['of the large tenant', LARGE],
    ['of a small tenant', SMALL],
  ])(
    '%s reads few pages with any filters',
    async (__, tenantId) => {
      for (const [kind, caller] of Object.entries(callers(tenantId))) {
        if (!list.credentials.includes(kind as never)) continue;
        const isUser = kind === 'access-token';
        const team = [
          'identity',
          'verified',
          'assignee',
          'tag',
          'priority',
          'source',
          'overdue',
          'mentioned',
          'q',
          'sort',
        ];
        const queries = queriesOf(list).filter(
          query => !isUser || !Object.keys(query).some(name => team.includes(name)),
        );
        for (const query of queries) {
          const first = await read(list, caller, query, null).catch(error => {
            if (error?.code === 'resource-not-found') return undefined; // a conversation of another tenant
            throw error;
          });
          if (!first) continue;
          expectCheap(first.statements, { list: list.id, kind, query });
          if (!first.page.next) continue;
          const second = await read(list, caller, query, first.page.next);
          expectCheap(second.statements, { list: list.id, kind, query, page: 2 });
        }
      }
    },
    1_200_000,
  );
});
