import { type EntityManager, LockMode } from '@mikro-orm/postgresql';
import { newUuid } from '../domain/ids.ts';
import { type Page, toPage } from '../domain/pages.ts';
import { notFound, Problem } from '../domain/problem.ts';
import type { Frequency, QuestionContent, QuestionStatus, QuestionType } from '../domain/questions.ts';
import { QuestionEntity, QuestionVersionEntity } from './entities/index.ts';
import type { TenantStorage } from './orm.ts';
import { createWhere, likeContains } from './sql.ts';
import { lockTenant } from './tenants.ts';

/** How many live questions one tenant may have. */
export const MAX_LIVE_QUESTIONS = 200;

export interface QuestionRow extends QuestionContent {
  id: string;
  name: string;
  status: QuestionStatus;
  version: number;
  frequency: Frequency;
  allow_public: boolean;
  priority: number;
  created_at: Date;
  updated_at: Date;
  published_at: Date | null;
  closed_at: Date | null;
}

export interface QuestionVersionRow extends QuestionContent {
  question_id: string;
  version: number;
  created_at: Date;
}

export type NewQuestionRow = Pick<
  QuestionRow,
  'name' | 'type' | 'title' | 'description' | 'config' | 'frequency' | 'allow_public' | 'priority'
>;

const COLUMNS =
  'id, name, status, version, type, title, description, config, frequency, allow_public, priority, created_at, updated_at, published_at, closed_at';
const VERSION_COLUMNS = 'question_id, version, type, title, description, config, created_at';

/** Makes a draft. */
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
  await tenant.unitOfWork(em => em.insert(QuestionEntity, { tenant_id: tenant.tenantId, ...row }));
  return row;
}

export async function findQuestion(tenant: TenantStorage, id: string): Promise<QuestionRow> {
  const rows = await tenant.query<QuestionRow>(`select ${COLUMNS} from questions where tenant_id = $1 and id = $2`, [
    tenant.tenantId,
    id,
  ]);
  if (!rows[0]) throw notFound('question');
  return rows[0];
}

export interface QuestionFilter {
  status?: QuestionStatus | undefined;
  type?: QuestionType | undefined;
  q?: string | undefined;
}

/** Questions, newest first. */
export async function listQuestions(
  tenant: TenantStorage,
  filter: QuestionFilter,
  limit: number,
  after: string[] | null,
): Promise<Page<QuestionRow>> {
  const where = createWhere();
  where.and('tenant_id = $', tenant.tenantId);
  if (filter.status) where.and('status = $', filter.status);
  if (filter.type) where.and('type = $', filter.type);
  if (filter.q) where.and('(name ilike $ or title ilike $)', likeContains(filter.q), likeContains(filter.q));
  if (after) where.and('(created_at, id) < ($::timestamptz, $::uuid)', ...after);
  const sql = `select ${COLUMNS} from questions ${where.sql} order by created_at desc, id desc limit ${where.param(limit + 1)}`;
  const rows = await tenant.query<QuestionRow>(sql, where.params);
  return toPage(rows, limit, row => [row.created_at.toISOString(), row.id]);
}

/**
 * Changes a question under a row lock. `change` mutates it, or throws to leave it as it is.
 *
 * A version is written, immutable from then on, when the question is published and whenever its content changes later.
 */
export async function updateQuestion(
  tenant: TenantStorage,
  id: string,
  now: Date,
  change: (question: QuestionRow) => void,
): Promise<QuestionRow> {
  return tenant.unitOfWork(async em => {
    const entity = await em.findOne(
      QuestionEntity,
      { tenant_id: tenant.tenantId, id },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    if (!entity) throw notFound('question');
    const question = entity as unknown as QuestionRow;
    const before = { status: question.status, version: question.version };
    change(question);
    question.updated_at = now;
    await em.flush();
    if (question.status === 'live' && before.status !== 'live') await refuseTooManyLive(em, tenant);
    if (before.status === 'draft' ? question.status !== 'draft' : question.version !== before.version) {
      const { type, title, description, config, version } = question;
      const content = { type, title, description, config, version, created_at: now };
      await em.insert(QuestionVersionEntity, { tenant_id: tenant.tenantId, question_id: id, ...content });
    }
    return { ...question };
  });
}

async function refuseTooManyLive(em: EntityManager, tenant: TenantStorage): Promise<void> {
  await lockTenant(em, tenant.tenantId);
  const live = await em.count(QuestionEntity, { tenant_id: tenant.tenantId, status: 'live' });
  if (live > MAX_LIVE_QUESTIONS)
    throw new Problem('limit-reached', `A tenant may have ${MAX_LIVE_QUESTIONS} live questions.`);
}

/** Deletes a draft; `check` throws to keep it. */
export const deleteQuestion = (
  tenant: TenantStorage,
  id: string,
  check: (question: QuestionRow) => void,
): Promise<void> =>
  tenant.unitOfWork(async em => {
    const question = await em.findOne(
      QuestionEntity,
      { tenant_id: tenant.tenantId, id },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    if (!question) throw notFound('question');
    check(question as unknown as QuestionRow);
    em.remove(question);
    await em.flush();
  });

/** The versions of one question, newest first, each with the content of the one before it. */
export async function listQuestionVersions(
  tenant: TenantStorage,
  questionId: string,
  limit: number,
  after: string[] | null,
): Promise<Page<QuestionVersionRow & { previous: QuestionContent | null }>> {
  const where = createWhere();
  where.and('tenant_id = $ and question_id = $', tenant.tenantId, questionId);
  if (after) where.and('version < $::int', ...after);
  const sql = `select ${VERSION_COLUMNS} from question_versions ${where.sql} order by version desc limit ${where.param(limit + 1)}`;
  const rows = await tenant.query<QuestionVersionRow>(sql, where.params);
  const versions = rows.map((row, index) => ({ ...row, previous: rows[index + 1] ?? null }));
  return toPage(versions, limit, row => [String(row.version)]);
}

/** What intake and cards need of a tenant's questions: all that were ever published, with all their versions. */
export interface PublishedQuestions {
  questions: QuestionRow[];
  versions: QuestionVersionRow[];
}

export async function loadPublishedQuestions(tenant: TenantStorage): Promise<PublishedQuestions> {
  const [questions, versions] = await Promise.all([
    tenant.query<QuestionRow>(
      `select ${COLUMNS} from questions where tenant_id = $1 and status <> 'draft' order by priority desc, published_at, id`,
      [tenant.tenantId],
    ),
    tenant.query<QuestionVersionRow>(`select ${VERSION_COLUMNS} from question_versions where tenant_id = $1`, [
      tenant.tenantId,
    ]),
  ]);
  return { questions, versions };
}
