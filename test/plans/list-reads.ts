import { expect } from 'vitest';
import { z } from 'zod';
import { skewedConversation, skewedQuestions, uuidOf } from '../../bench/skewed.ts';
import type { Caller } from '../../src/api/caller.ts';
import type { Operation } from '../../src/api/operation.ts';
import { OPERATIONS } from '../../src/api/routes/index.ts';
import { createIncrementalReads } from '../../src/api/watch/incremental-reads.ts';
import { toTypeId } from '../../src/domain/ids.ts';
import { MAX_SCANNED, type Page } from '../../src/domain/pages.ts';
import { createLog } from '../../src/platform/log.ts';
import { createMetrics } from '../../src/platform/metrics.ts';
import { openStorage } from '../../src/storage/database/orm.ts';
import { type Explained, explainTo } from './explained.ts';

/**
 * The maximum number of pages that one statement may read. A scanned row needs one page of its table, and up to five of
 * the word index; a conversation needs several pages of its messages.
 */
export const MOST_PAGES = 6 * MAX_SCANNED;
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
  assignee: ['none', ...['member', 'member 0'].map(name => toTypeId('member', uuidOf(name)))],
  priority: ['none', 'urgent'],
  source: ['user', 'api'],
  sort: ['-last_activity_at', 'last_activity_at', '-created_at', 'created_at', 'reply_due_at', 'waiting_since'],
  overdue: ['true', 'false'],
  mentioned: ['true', 'false'],
  action: ['answer.tagged', 'api_key.revoked'],
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

export const LISTS = OPERATIONS.filter(
  ({ method, query, credentials }) => method === 'get' && 'cursor' in shapeOf(query) && !credentials.includes('person'),
);

function shapeOf(query: z.ZodType | undefined): Record<string, z.ZodType> {
  return query instanceof z.ZodObject ? (query.shape as Record<string, z.ZodType>) : {};
}

export const valuesOf = (list: Operation, name: string): string[] | undefined =>
  OWN_VALUES[`${list.id} ${name}`] ?? VALUES[name];
export const filtersOf = (list: Operation): string[] =>
  Object.keys(shapeOf(list.query)).filter(name => !['limit', 'cursor'].includes(name));

export type Query = Record<string, string>;

/**
 * Whether lists accept the combination: days in reverse order are refused, deleted conversations without a time, and an
 * order with one.
 */
const isAccepted = ({ from, to, deleted, sort, updated_since: since }: Query): boolean =>
  (!from || !to || from <= to) && (deleted !== 'true' || since !== undefined) && (!sort || since === undefined);

/** A list without filters, with each single value, and with each pair of them that it accepts. */
export function queriesOf(list: Operation): Query[] {
  const single = filtersOf(list).flatMap(name => (valuesOf(list, name) ?? []).map(value => ({ [name]: value })));
  const pairs = single.flatMap((one, index) =>
    single
      .slice(index + 1)
      .flatMap(other => (Object.keys(one)[0] === Object.keys(other)[0] ? [] : [{ ...one, ...other }])),
  );
  return [{}, ...single, ...pairs].filter(isAccepted);
}

export const callers = (tenantId: string): Record<string, Partial<Caller>> => ({
  session: { kind: 'session', tenantId, role: 'owner', memberId: uuidOf('member') },
  'access-token': { kind: 'access-token', tenantId, identity: 'user|1', verified: true },
});

/** The object in the path of a list, by its collection. */
const idsByPath: Record<string, string | undefined> = { questions: skewedQuestions[0], webhooks: uuidOf('webhook') };

/** Reads lists as the API does. */
export interface ListReads {
  /** One page and the execution of its statements, if they are explained. */
  read(list: Operation, caller: Partial<Caller>, sent: Query, after: string[] | null): Promise<Reading>;
  close(): Promise<void>;
}

interface Reading {
  statements: Explained[];
  page: Page<unknown>;
}

export function openListReads(databaseUrl: string, isExplained = true): ListReads {
  const log = createLog('warn', 'test');
  const storage = openStorage({ url: databaseUrl, role: 'parley_app', connections: 1, log });
  const incrementalReads = createIncrementalReads(storage, createMetrics('serve'), log);
  return {
    async read(list, caller, sent, after) {
      const statements: Explained[] = [];
      const query = await (list.query as z.ZodType).parseAsync(sent);
      const page = (rows: Page<unknown>) => ({ ...rows, body: { data: [] } }); // handlers may change the body
      const id = idsByPath[list.path.split('/')[2] as string] ?? skewedConversation;
      const params = { id, identity: 'user|1' };
      const request = { caller, params, query, after, page, receivedAt: new Date() };
      const result = await list.handle(
        request as never,
        {
          storage: isExplained ? explainTo(statements, storage) : storage,
          incrementalReads,
          now: () => new Date(),
        } as never,
      );
      return { statements, page: result as Page<unknown> };
    },
    close: () => storage.close(),
  };
}

/** The most expensive execution of each statement so far, with its request. */
const seen = new Map<string, Explained & { context: unknown }>();

/** Writes the ten statements that read the most pages, for `PLANS_REPORT`. */
export function reportDearest(title: string): string {
  const dearest = [...seen.values()].sort((one, other) => other.pages - one.pages).slice(0, 10);
  const sections = dearest.map(
    ({ sql, pages, executionMs, plan, context }) =>
      `## ${pages} pages, ${executionMs.toFixed(1)} ms\n\n${JSON.stringify(context)}\n\n\`\`\`sql\n${sql.trim()}\n\`\`\`\n\n\`\`\`\n${plan}\n\`\`\`\n`,
  );
  return `# The ten statements of lists that read the most pages, with ${title}\n\n${sections.join('\n')}`;
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
    'profile_changes',
  ];
  for (const { sql, pages, scanned } of statements) {
    const whole = scanned.filter(table => large.includes(table));
    const most = /row_number|search_|wanted as materialized \(select \*|found as/.test(sql) ? MOST_PAGES : FEW_PAGES;
    expect({ context, sql, whole, dear: pages > most ? pages : 0 }).toEqual({ context, sql, whole: [], dear: 0 });
  }
}

/** The filters that only the team has. */
const TEAM = [
  ...['identity', 'verified', 'assignee', 'tag', 'priority', 'source', 'overdue', 'mentioned', 'q', 'sort'],
  'after_note_seq',
];

/** Expects that the first two pages of a list read few pages of the database, with all filters and pairs of them. */
export async function expectCheapWithAnyFilters({ read }: ListReads, list: Operation, tenantId: string): Promise<void> {
  for (const [kind, caller] of Object.entries(callers(tenantId))) {
    if (!list.credentials.includes(kind as never)) continue;
    const isUser = kind === 'access-token';
    const queries = queriesOf(list).filter(query => !isUser || !Object.keys(query).some(name => TEAM.includes(name)));
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
}
