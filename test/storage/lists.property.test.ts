import fc from 'fast-check';
import { v7 } from 'uuid';
import { afterAll, describe, expect, test } from 'vitest';
import type { AcceptedAnswer } from '../../src/domain/answers/answers.ts';
import { CONVERSATION_SORTS } from '../../src/domain/conversations/conversation-filters.ts';
import type { ConversationStatus } from '../../src/domain/conversations/conversations.ts';
import type { Page } from '../../src/domain/pages.ts';
import { matchesTerms, searchTerms, wordsOf } from '../../src/domain/search-words.ts';
import { type AnswerFilter, type AnswerRow, deleteAnswer, listAnswers } from '../../src/storage/answers/answers.ts';
import { recordAnswers } from '../../src/storage/answers/recording.ts';
import { updateConversation } from '../../src/storage/conversations/conversation-changes.ts';
import { type ConversationFilter, listConversations } from '../../src/storage/conversations/conversation-lists.ts';
import type { ConversationRow } from '../../src/storage/conversations/conversation-rows.ts';
import { insertConversation } from '../../src/storage/conversations/conversation-starts.ts';
import { deleteConversation, findConversation } from '../../src/storage/conversations/conversations.ts';
import { insertMessage } from '../../src/storage/conversations/messages.ts';
import type { TenantStorage } from '../../src/storage/database/orm.ts';
import { writtenText } from '../../src/storage/search/search-index.ts';
import { createDatabase } from '../support/database.ts';
import { anAcceptedAnswer } from '../support/make.ts';

const database = await createDatabase();
afterAll(() => database[Symbol.asyncDispose]());
const app = database.storage();
const worker = database.storage('parley_worker');

/** Small enough that lists end early, use the index, and exceed its limit. */
const LIMITS = fc.record({
  lookAt: fc.integer({ min: 2, max: 9 }),
  found: fc.integer({ min: 1, max: 30 }),
});
const aText = fc
  .array(
    fc.constantFrom(
      'Müller',
      'mueller',
      'export',
      'Exportieren',
      'the',
      'THE',
      '東京',
      '京都',
      "l'avion",
      'a@b.example',
    ),
    {
      maxLength: 4,
    },
  )
  .map(words => words.join(' '));
const aSearch = fc.oneof(
  fc.constantFrom('the', 'exp', 'mull', 'müller', '京', 'avion', 'a@b', 'nowhere', 'the exp', '?'),
  aText.filter(text => text !== ''),
);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });

const matches = (text: string, q: string | undefined): boolean => {
  if (q === undefined) return true;
  const terms = searchTerms(q);
  return terms.length > 0 && matchesTerms(wordsOf(text), terms);
};

interface Walk<Row> {
  page(after: string[] | null): Promise<Page<Row>>;
  /** A change between two pages. */
  between(): Promise<unknown>;
}

/** The ids of a whole list in order, page by page; fails on an endless list. */
async function walk<Row extends { id: string }>({ page, between }: Walk<Row>, limit: number): Promise<string[]> {
  const ids: string[] = [];
  let after: string[] | null = null;
  for (let pages = 0; pages < 500; pages++) {
    const { rows, next, searchedTo }: Page<Row> = await page(after);
    expect(rows.length).toBeLessThanOrEqual(limit);
    if (next && rows.length < limit) expect(searchedTo).toBeInstanceOf(Date);
    ids.push(...rows.map(({ id }) => id));
    if (!next) return ids;
    expect(next).not.toEqual(after);
    after = next;
    await between();
  }
  throw new Error('the list has no end');
}

/**
 * Expects each row at most once, all matching rows that existed from start to end, and no row that never matched.
 * Returns the rows of the scans before and after the walk by id.
 */
function expectMatches<Row extends { id: string }>(
  ids: string[],
  before: Row[],
  after: Row[],
  matches: (row: Row) => boolean,
): Map<string, Row> {
  expect(new Set(ids).size).toBe(ids.length);
  const present = new Set(after.map(({ id }) => id));
  const kept = before.filter(row => present.has(row.id) && matches(row)).map(({ id }) => id);
  expect(ids).toEqual(expect.arrayContaining(kept));
  const all = new Map([...before, ...after].map(row => [row.id, row]));
  expect(ids.filter(id => !matches(all.get(id) as Row))).toEqual([]);
  return all;
}

describe('answers', () => {
  const [one, two] = [v7(), v7()];
  const anAnswer: fc.Arbitrary<Partial<AcceptedAnswer> & { second: number }> = fc.record({
    comment: fc.option(aText),
    state: fc.constantFrom('seen' as const, 'partial' as const, 'completed' as const),
    question_id: fc.constantFrom(one, two),
    identity: fc.constantFrom('ada', 'bob'),
    identity_verified: fc.boolean(),
    question_version: fc.constantFrom(1, 2),
    second: fc.nat(20),
  });
  const aFilter = fc.record({
    q: maybe(aSearch),
    state: maybe(fc.constantFrom('seen', 'completed')),
    question_id: maybe(fc.constantFrom(one, two)),
    identity: maybe(fc.constantFrom('ada', 'nobody')),
    verified: maybe(fc.boolean()),
    version: maybe(fc.constantFrom(1, 2)),
    tag: maybe(fc.constantFrom('vip', 'other')),
    written: maybe(fc.constant(true as const)),
    incremental: fc.boolean(),
  });

  const make = (tenant: TenantStorage, specs: (Partial<AcceptedAnswer> & { second: number })[]): AcceptedAnswer[] =>
    specs.map(({ second, ...spec }) =>
      anAcceptedAnswer({
        ...spec,
        tenant_id: tenant.tenantId,
        received_at: new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString(),
      }),
    );
  const store = (answers: AcceptedAnswer[]) => recordAnswers(worker, [{ flush: v7(), answers }]);

  /** Applies the filters like a plain scan. */
  const passes = (row: AnswerRow, filter: AnswerFilter): boolean =>
    matches(writtenText(row), filter.q) &&
    (filter.state === undefined || row.state === filter.state) &&
    (filter.question_id === undefined || row.question_id === filter.question_id) &&
    (filter.identity === undefined || row.identity === filter.identity) &&
    (filter.verified === undefined || row.identity_verified === filter.verified) &&
    (filter.version === undefined || row.question_version === filter.version) &&
    (filter.tag === undefined || row.tags.includes(filter.tag)) &&
    (filter.written === undefined || (row.comment ?? '') !== '');

  const scan = (tenant: TenantStorage) =>
    database.query<AnswerRow>('select * from answers where tenant_id = $1', [tenant.tenantId]);

  test('of a complete walk through a list are those of a plain scan, each once, despite concurrent changes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anAnswer, { maxLength: 40 }),
        fc.array(anAnswer, { maxLength: 10 }),
        aFilter,
        LIMITS,
        fc.integer({ min: 1, max: 6 }),
        async (specs, later, { incremental, ...rest }, limits, limit) => {
          const tenant = app.forTenant(v7());
          await store(make(tenant, specs));
          await database.query(
            `update answers set tags = '{vip}' where tenant_id = $1 and question_version = 2 and state = 'completed'`,
            [tenant.tenantId],
          );
          const before = await scan(tenant);
          const updated = incremental ? { since: new Date(0), before: new Date('2100-01-01') } : undefined;
          const filter = { ...rest, updated } as AnswerFilter;
          const added = make(tenant, later);
          const doomed = before.filter((_, index) => index % 7 === 3);
          const ids = await walk(
            {
              page: after => listAnswers(tenant, filter, limit, after, limits),
              async between() {
                const [answer, gone] = [added.pop(), doomed.pop()];
                if (answer) await store([answer]);
                if (gone) await deleteAnswer(tenant, gone.id, () => undefined);
              },
            },
            limit,
          );
          const all = expectMatches(ids, before, await scan(tenant), row => passes(row, filter));
          const column = updated ? 'updated_at' : 'received_at';
          const times = ids.map(id => (all.get(id) as AnswerRow)[column].getTime());
          expect(times).toEqual(times.toSorted((a, b) => (updated ? a - b : b - a)));
        },
      ),
      { numRuns: 40 },
    );
  }, 300_000);
});

describe('conversations', () => {
  const ADA = { type: 'user', id: 'ada', name: null } as const;
  const TEAM = { type: 'api', id: v7(), name: null } as const;
  interface Spec {
    identity: string;
    verified: boolean;
    subject: string;
    messages: string[];
    tagged: boolean;
    status: ConversationStatus;
    /** When a reply is due, in minutes from now. */
    due: number | null;
  }
  const aConversation: fc.Arbitrary<Spec> = fc.record({
    identity: fc.constantFrom('ada', 'bob'),
    verified: fc.boolean(),
    subject: aText,
    messages: fc.array(aText, { minLength: 1, maxLength: 3 }),
    tagged: fc.boolean(),
    status: fc.constantFrom('open' as const, 'pending' as const, 'resolved' as const),
    due: fc.constantFrom(null, -90, -60, 60),
  });
  const aFilter = fc.record({
    q: maybe(aSearch),
    status: maybe(fc.constantFrom('open', 'pending')),
    identity: maybe(fc.constantFrom('ada', 'nobody')),
    verified: maybe(fc.boolean()),
    assignee: maybe(fc.constantFrom('none', v7())),
    tag: maybe(fc.constantFrom('vip', 'other')),
    priority: maybe(fc.constantFrom('none', 'high')),
    source: maybe(fc.constantFrom('user', 'api')),
    unread: maybe(fc.boolean()),
    overdue: maybe(fc.boolean()),
    sort: maybe(fc.constantFrom(...CONVERSATION_SORTS)),
    side: fc.constantFrom('team', 'user'),
    incremental: fc.boolean(),
  });

  async function start(tenant: TenantStorage, spec: Spec): Promise<void> {
    const { identity, verified, subject, messages, tagged, status, due } = spec;
    const [message = '', ...more] = messages;
    const author = tagged ? TEAM : ADA;
    const { conversation } = await insertConversation(tenant, { identity, verified }, author, { subject, message });
    const kind = tagged ? 'note' : 'reply';
    for (const body of more)
      await insertMessage(tenant, conversation.id, undefined, TEAM, { body, format: 'text', kind });
    const { status: now } = await findConversation(tenant, conversation.id, undefined);
    const patch = { ...(tagged ? { tags: ['vip'] } : {}), ...(status === now ? {} : { status }) };
    await updateConversation(tenant, { id: conversation.id, owner: undefined }, TEAM, patch, () => undefined);
    await database.query('update conversations set reply_due_at = now() + make_interval(mins => $2) where id = $1', [
      conversation.id,
      due,
    ]);
  }

  type Scanned = ConversationRow & { texts: string[] };
  const scan = (tenant: TenantStorage) =>
    database.query<Scanned>(
      `select *, array(select subject union all select body from messages where conversation_id = conversations.id
         and kind <> 'event') as texts from conversations where tenant_id = $1`,
      [tenant.tenantId],
    );

  const isOverdue = ({ reply_due_at }: Scanned) => reply_due_at !== null && reply_due_at.getTime() <= Date.now();
  /** Two orders leave conversations out. An incremental read has its own order, whatever `sort` is. */
  const isSortable = (row: Scanned, { sort, updated }: ConversationFilter): boolean => {
    if (updated) return true;
    if (sort === 'reply_due_at') return row.reply_due_at !== null;
    return sort !== 'waiting_since' || (row.status === 'open' && row.waiting_since !== null);
  };
  const passes = (row: Scanned, filter: ConversationFilter): boolean =>
    (filter.q === undefined || row.texts.some(text => matches(text, filter.q))) &&
    (filter.status === undefined || row.status === filter.status) &&
    (filter.identity === undefined || row.identity === filter.identity) &&
    (filter.verified === undefined || row.identity_verified === filter.verified) &&
    (filter.assignee === undefined || (filter.assignee === 'none') === (row.assignee_id === null)) &&
    (filter.tag === undefined || row.tags.includes(filter.tag)) &&
    (filter.priority === undefined || row.priority === filter.priority) &&
    (filter.source === undefined || row.source_type === filter.source) &&
    (filter.unread === undefined || row[`${filter.side}_unread`] > 0 === filter.unread) &&
    (filter.overdue === undefined || isOverdue(row) === filter.overdue) &&
    isSortable(row, filter);

  test('of a complete walk through a list are those of a plain scan, each once, despite concurrent changes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(aConversation, { maxLength: 16 }),
        fc.array(aConversation, { maxLength: 3 }),
        aFilter,
        LIMITS,
        fc.integer({ min: 1, max: 5 }),
        async (specs, later, { incremental, ...rest }, limits, limit) => {
          const tenant = app.forTenant(v7());
          for (const spec of specs) await start(tenant, spec);
          const before = await scan(tenant);
          const updated = incremental ? { since: new Date(0), before: new Date('2100-01-01') } : undefined;
          const filter = { ...rest, updated } as ConversationFilter;
          const added = [...later];
          const doomed = before.filter((_, index) => index % 7 === 3);
          const ids = await walk(
            {
              page: after => listConversations(tenant, filter, limit, after, limits),
              async between() {
                const [spec, gone] = [added.pop(), doomed.pop()];
                if (spec) await start(tenant, spec);
                if (gone) await deleteConversation(tenant, gone.id, () => undefined);
              },
            },
            limit,
          );
          expectMatches(ids, before, await scan(tenant), row => passes(row, filter));
        },
      ),
      { numRuns: 25 },
    );
  }, 300_000);
});
