import type { EntityManager } from '@mikro-orm/postgresql';
import { DAY_MS } from '../../domain/durations.ts';
import { BY_SYSTEM, type EventActor } from '../../domain/events/events.ts';
import { newUuid } from '../../domain/ids.ts';
import { canonicalJson } from '../../domain/json.ts';
import { type Page, toPage, valuesIn } from '../../domain/pages.ts';
import { notFound, Problem } from '../../domain/problem.ts';
import type { FollowUp } from '../../domain/questions/follow-ups.ts';
import { contentOf } from '../../domain/questions/question-changes.ts';
import { presentQuestion, type StoredQuestion } from '../../domain/questions/question-replies.ts';
import {
  MAX_LIVE_QUESTIONS,
  MAX_QUESTIONS,
  MAX_VERSIONS_A_DAY,
  type QuestionContent,
  type QuestionStatus,
} from '../../domain/questions/questions.ts';
import type { QuestionConfig, QuestionType } from '../../domain/questions/types/index.ts';
import type { CardRules, Frequency } from '../../domain/rules/card-rules.ts';
import { forgetPlaces } from '../answers/response-limits.ts';
import { byTime, createList, keyOf, readPage } from '../database/lists.ts';
import type { TenantStorage } from '../database/orm.ts';
import { likeContains } from '../database/sql.ts';
import type { Transaction } from '../database/transaction.ts';
import { QuestionEntity, QuestionVersionEntity } from '../entities/questions.ts';
import { type TenantEvent, writeEvents } from '../events/events.ts';
import { lockTenant, requireRoom } from '../tenants/tenants.ts';

export type QuestionRow = StoredQuestion;

export interface QuestionVersionRow extends QuestionContent {
  question_id: string;
  version: number;
  created_at: Date;
}

export type NewQuestionRow = QuestionContent &
  CardRules &
  Pick<QuestionRow, 'name' | 'locale' | 'priority' | 'placement'>;

const CONTENT = 'type, title, description, config, follow_ups, thanks, translations';
const RULES = 'audience, start_at, end_at, trigger, frequency, sampling_percent, response_limit, allow_public';
const COLUMNS = `id, name, status, version, ${CONTENT}, ${RULES}, locale, priority, placement, created_at, updated_at, published_at, closed_at`;
const VERSION_COLUMNS = `question_id, version, ${CONTENT}, created_at`;

/** Inserts a draft. Throws `limit-reached` at the tenant's maximum number of questions. */
export async function insertQuestion(tenant: TenantStorage, question: NewQuestionRow, now: Date): Promise<QuestionRow> {
  const row: QuestionRow = {
    ...question,
    id: newUuid(),
    status: 'draft',
    version: 1,
    created_at: now,
    updated_at: now,
    published_at: null,
    closed_at: null,
  };
  await tenant.unitOfWork(async (em, tx) => {
    const detail = `A tenant can have at most ${MAX_QUESTIONS} questions. Delete drafts that you no longer need.`;
    await requireRoom(tx, tenant.tenantId, { table: 'questions', most: MAX_QUESTIONS, detail });
    await em.insert(QuestionEntity, { tenant_id: tenant.tenantId, ...row });
  });
  return row;
}

/** Returns those of some questions that exist, in any order. */
export const findQuestionsById = (tenant: TenantStorage, ids: readonly string[]): Promise<QuestionRow[]> =>
  tenant.query<QuestionRow>(`select ${COLUMNS} from questions where tenant_id = $1 and id = any($2::uuid[])`, [
    tenant.tenantId,
    ids,
  ]);

export async function findQuestion(tenant: TenantStorage, id: string): Promise<QuestionRow> {
  const rows = await tenant.query<QuestionRow>(`select ${COLUMNS} from questions where tenant_id = $1 and id = $2`, [
    tenant.tenantId,
    id,
  ]);
  if (!rows[0]) throw notFound('question');
  return rows[0];
}

export interface QuestionFilter {
  /** One or several, separated by commas; likewise `type`. */
  status?: string | undefined;
  type?: string | undefined;
  q?: string | undefined;
}

/** Returns questions, newest first. */
export function listQuestions(
  tenant: TenantStorage,
  filter: QuestionFilter,
  limit: number,
  after: string[] | null,
): Promise<Page<QuestionRow>> {
  const list = createList(tenant, 'questions', COLUMNS, byTime<QuestionRow>('created_at', true));
  const { filters } = list;
  if (filter.status) filters.and('status = any($::text[])', valuesIn(filter.status));
  if (filter.type) filters.and('type = any($::text[])', valuesIn(filter.type));
  if (filter.q) filters.and('(name ilike $ or title ilike $)', likeContains(filter.q), likeContains(filter.q));
  return readPage(tenant, list, limit, after);
}

/**
 * Changes a question under a row lock. `change` mutates it, or throws to prevent the change; it may query the transaction.
 *
 * An immutable version is inserted when the question is published and whenever its content changes later. Throws
 * `limit-reached` beyond the live questions of a tenant, and beyond the versions of a question in 24 hours.
 */
export async function updateQuestion(
  tenant: TenantStorage,
  id: string,
  now: Date,
  change: (question: QuestionRow, tx: Transaction) => void | Promise<void>,
  by: EventActor = BY_SYSTEM,
): Promise<QuestionRow> {
  return tenant.unitOfWork(async (em, tx) => {
    const question = (await findLocked(em, tx, tenant, id)) as unknown as QuestionRow;
    const before = { status: question.status, version: question.version, isLimited: question.response_limit !== null };
    const shownBefore = canonicalJson(presentQuestion(question)); // PostgreSQL returns members in another order
    await change(question, tx);
    const isChanged = canonicalJson(presentQuestion(question)) !== shownBefore;
    if (isChanged) question.updated_at = now;
    await em.flush();
    if (question.response_limit && !before.isLimited)
      await forgetPlaces(tx, { tenant_id: tenant.tenantId, question_id: id });
    if (isLive(question.status) && !isLive(before.status)) await refuseTooManyLive(em, tx, tenant);
    if (before.status === 'draft' ? question.status !== 'draft' : question.version !== before.version) {
      await refuseTooManyVersions(em, tenant, id, now);
      const content = { ...contentOf(question), version: question.version, created_at: now };
      await em.insert(QuestionVersionEntity, { tenant_id: tenant.tenantId, question_id: id, ...content });
    }
    if (isChanged) await writeEvents(tx, [questionEvent(tenant, question, before.status, by)]);
    return { ...question };
  });
}

function questionEvent(
  { tenantId }: TenantStorage,
  { id, status }: QuestionRow,
  before: QuestionStatus,
  by: EventActor,
): TenantEvent {
  const isPublished = before === 'draft' && status !== 'draft';
  const isClosed = before !== 'closed' && status === 'closed';
  const type = isPublished ? 'question.published' : isClosed ? 'question.closed' : 'question.updated';
  return { tenantId, type, object: { type: 'question', id }, data: { by } };
}

/** The states in which the clock decides whether the card is shown. */
const LIVE_STATUSES: QuestionStatus[] = ['scheduled', 'live'];
const isLive = (status: QuestionStatus): boolean => LIVE_STATUSES.includes(status);

/** Locks a question's row until the transaction ends, and returns its entity. */
async function findLocked(em: EntityManager, tx: Transaction, { tenantId }: TenantStorage, id: string) {
  await tx.query('select from questions where tenant_id = $1 and id = $2 for update', [tenantId, id]);
  const question = await em.findOne(QuestionEntity, { tenant_id: tenantId, id });
  if (!question) throw notFound('question');
  return question;
}

async function refuseTooManyLive(em: EntityManager, tx: Transaction, tenant: TenantStorage): Promise<void> {
  await lockTenant(tx, tenant.tenantId);
  const live = await em.count(QuestionEntity, { tenant_id: tenant.tenantId, status: { $in: LIVE_STATUSES } });
  if (live > MAX_LIVE_QUESTIONS)
    throw new Problem('limit-reached', `A tenant can have at most ${MAX_LIVE_QUESTIONS} live questions.`);
}

/** Call it under the question's lock, so that versions are counted in order. */
async function refuseTooManyVersions(em: EntityManager, tenant: TenantStorage, id: string, now: Date): Promise<void> {
  const versions = { tenant_id: tenant.tenantId, question_id: id };
  const [oldest] = await em.find(QuestionVersionEntity, versions, {
    fields: ['created_at'],
    orderBy: { version: 'desc' },
    offset: MAX_VERSIONS_A_DAY - 1,
    limit: 1,
  });
  if (oldest && now.getTime() - oldest.created_at.getTime() < DAY_MS)
    throw new Problem('limit-reached', `A question can have at most ${MAX_VERSIONS_A_DAY} new versions in 24 hours.`);
}

/** Deletes a draft. `check` throws to prevent it. */
export const deleteQuestion = (
  tenant: TenantStorage,
  id: string,
  check: (question: QuestionRow) => void,
): Promise<void> =>
  tenant.unitOfWork(async (em, tx) => {
    const question = await findLocked(em, tx, tenant, id);
    check(question as unknown as QuestionRow);
    em.remove(question);
    await em.flush();
  });

/** Returns the versions of a question, newest first, each with the content of the previous one. */
export async function listQuestionVersions(
  tenant: TenantStorage,
  questionId: string,
  limit: number,
  after: string[] | null,
): Promise<Page<QuestionVersionRow & { previous: QuestionContent | null }>> {
  const list = createList<QuestionVersionRow>(tenant, 'question_versions', VERSION_COLUMNS, {
    keys: [['version', 'int']],
    descending: true,
  });
  list.access.and('question_id = $', questionId);
  const { rows } = await readPage(tenant, list, limit + 1, after); // the last row only as the previous one
  const versions = rows.map((row, index) => ({ ...row, previous: rows[index + 1] ?? null }));
  return toPage(versions, limit, row => keyOf(list.order, row));
}

/** The columns of a live question that its card shows. */
export type LiveQuestionRow = QuestionContent &
  CardRules &
  Pick<QuestionRow, 'id' | 'status' | 'version' | 'locale' | 'priority' | 'placement'> & {
    /** The end of the last period in which the limit was reached; null if it was not since it was set. */
    full_until: Date | null;
  };

/** The rules for accepting answers to a published question. `config` is null once it is closed to answers. */
export interface QuestionTermsRow {
  id: string;
  version: number;
  type: QuestionType;
  config: QuestionConfig | null;
  follow_ups: FollowUp[];
  closed_at: Date | null;
  repeat: Frequency['repeat'];
  every_days: number | null;
  ignore_cooldown: boolean;
}

/** A version with its steps, and the part of its config that validates answers and may differ between versions. */
export interface VersionRulesRow {
  question_id: string;
  version: number;
  config: Partial<QuestionConfig>;
  follow_ups: FollowUp[];
}

/** A tenant's questions for intake and card lists. */
export interface PublishedQuestions {
  /** Live questions in the order in which cards are shown. */
  live: LiveQuestionRow[];
  /** Every question that has ever been published. */
  terms: QuestionTermsRow[];
  /** The latest earlier versions of questions that accept answers. Those with equal steps share one array. */
  earlier: VersionRulesRow[];
}

/** Earlier versions loaded with each question. Older ones are looked up when an answer names them. */
export const EARLIER_VERSIONS = 9;

/** The columns of a question that its card shows. */
export const LIVE_COLUMNS = `id, status, version, ${CONTENT}, ${RULES}, locale, priority, placement, full_until`;
/** Excludes texts, and scale and option ids, which are the same in every version. */
const VARYING_CONFIG = "config - '{scale,options,labels,style,shuffle,url}'::text[]";
const ACCEPTS_ANSWERS = "(q.status in ('scheduled', 'live', 'paused') or q.closed_at > $2)";

/** Returns the tenant's published questions. Those closed before `closedSince` have no rules. */
export async function loadPublishedQuestions(tenant: TenantStorage, closedSince: Date): Promise<PublishedQuestions> {
  const params = [tenant.tenantId, closedSince];
  const [live, terms, earlier] = await Promise.all([
    tenant.query<LiveQuestionRow>(
      `select ${LIVE_COLUMNS} from questions where tenant_id = $1 and status in ('scheduled', 'live') order by priority desc, published_at, id`,
      [tenant.tenantId],
    ),
    tenant.query<QuestionTermsRow>(
      `select id, version, type, case when ${ACCEPTS_ANSWERS} then config - '{labels}'::text[] end as config, follow_ups, closed_at,
         frequency->>'repeat' as repeat, (frequency->>'every_days')::int as every_days,
         coalesce((frequency->>'ignore_cooldown')::boolean, false) as ignore_cooldown
       from questions q where tenant_id = $1 and status <> 'draft'`,
      params,
    ),
    tenant.query<Omit<VersionRulesRow, 'follow_ups'> & { follow_ups: string }>(
      `select v.* from questions q cross join lateral (
         select question_id, version, ${VARYING_CONFIG} as config, follow_ups::text as follow_ups from question_versions
         where tenant_id = q.tenant_id and question_id = q.id and version < q.version
         order by version desc limit ${EARLIER_VERSIONS}
       ) as v where q.tenant_id = $1 and q.version > 1 and q.status <> 'draft' and ${ACCEPTS_ANSWERS}`,
      params,
    ),
  ]);
  const parseSteps = createSharedParser<FollowUp[]>();
  return { live, terms, earlier: earlier.map(row => ({ ...row, follow_ups: parseSteps(row.follow_ups) })) };
}

/** Returns a parser of JSON that returns the same value for equal texts. */
function createSharedParser<Value>(): (text: string) => Value {
  const parsed = new Map<string, Value>();
  return text => {
    const value = parsed.get(text) ?? (JSON.parse(text) as Value);
    parsed.set(text, value);
    return value;
  };
}

/** A question and version named in an answer. */
export interface NamedVersion {
  questionId: string;
  version: number;
}

/** Returns the current versions of those questions that were published. */
export const findPresentVersions = (tenant: TenantStorage, ids: string[]): Promise<{ id: string; version: number }[]> =>
  tenant.query(
    "select id, version from questions where tenant_id = $1 and id = any($2::uuid[]) and status <> 'draft'",
    [tenant.tenantId, ids],
  );

/** Returns the rules of those named versions that exist. */
export const findVersionRules = (tenant: TenantStorage, named: NamedVersion[]): Promise<VersionRulesRow[]> =>
  tenant.query(
    `select question_id, version, ${VARYING_CONFIG} as config, follow_ups from question_versions
     where tenant_id = $1 and (question_id, version) in (select * from unnest($2::uuid[], $3::int[]))`,
    [tenant.tenantId, named.map(({ questionId }) => questionId), named.map(({ version }) => version)],
  );

/** Returns the steps of every published version by key, each as in its latest version, in order of that version. */
export const listPublishedSteps = (
  queries: Pick<Transaction, 'query'>,
  tenantId: string,
  questionId: string,
): Promise<FollowUp[]> =>
  queries
    .query<{ step: FollowUp }>(
      `select step from (
         select distinct on (step->>'key') step, version, place
         from question_versions, jsonb_array_elements(follow_ups) with ordinality as each(step, place)
         where tenant_id = $1 and question_id = $2 and follow_ups <> '[]'
         order by step->>'key', version desc
       ) as latest order by version desc, place`,
      [tenantId, questionId],
    )
    .then(rows => rows.map(({ step }) => step));
