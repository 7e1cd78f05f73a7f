import { z } from 'zod';
import { noCounts } from '../../domain/answers/counts.ts';
import { figuresOf, ResultsSummary } from '../../domain/answers/results.ts';
import { toTypeId, typeId } from '../../domain/ids.ts';
import { filterOf, pageOf, pageQuery } from '../../domain/pages.ts';
import { notFound } from '../../domain/problem.ts';
import {
  applyPatch,
  contentOf,
  finishContent,
  refuseButtonInCooldown,
  refuseEnded,
  refuseOwnLanguage,
  startQuestion,
  wrongState,
} from '../../domain/questions/question-changes.ts';
import { presentQuestion, presentVersion } from '../../domain/questions/question-replies.ts';
import {
  NewQuestion,
  QUESTION_ACTIONS,
  Question,
  type QuestionAction,
  QuestionPatch,
  QuestionStatus,
  QuestionVersion,
} from '../../domain/questions/questions.ts';
import { QuestionTemplate, questionTemplates } from '../../domain/questions/templates/templates.ts';
import { QuestionType } from '../../domain/questions/types/index.ts';
import { copyRules, refuseRules, toCardRules } from '../../domain/rules/card-rules.ts';
import type { Action } from '../../domain/team/audit-log.ts';
import { text } from '../../domain/text.ts';
import { type CountsSummary, summarizeCounts } from '../../storage/answers/results.ts';
import type { Transaction } from '../../storage/database/transaction.ts';
import { requireKnownQuestions } from '../../storage/questions/audience-references.ts';
import {
  deleteQuestion as deleteQuestionRow,
  findQuestion,
  insertQuestion,
  listPublishedSteps,
  listQuestions as listQuestionRows,
  listQuestionVersions as listVersionRows,
  type QuestionRow,
  updateQuestion,
} from '../../storage/questions/questions.ts';
import { findTenant } from '../../storage/tenants/tenants.ts';
import { actorOf } from '../credentials/author.ts';
import { operation, reply } from '../operation.ts';

const QuestionPath = z.object({ id: typeId('question') });
const shared = { tag: 'Questions' } as const;

const NO_COUNTS: CountsSummary = { ...noCounts(), answered_7_days: 0 };

const presentSummary = ({ type }: QuestionRow, counts = NO_COUNTS) => ({
  ...figuresOf(type, counts),
  answered_7_days: counts.answered_7_days,
});

/** A question in the list. */
const QuestionListItem = Question.extend({
  results: ResultsSummary.optional().meta({ description: 'Only with `include=results`', example: {} }),
}).meta({ id: 'QuestionListItem' });

export const listQuestions = operation({
  ...shared,
  id: 'listQuestions',
  method: 'get',
  path: '/v1/questions',
  credentials: ['api-key', 'session'],
  summary: 'List questions, newest first',
  description: 'Filters combine with AND. With `include=results`, each question carries the figures of its results.',
  right: 'questions:read',
  query: z.object({
    ...pageQuery,
    status: filterOf(QuestionStatus.options, 'Status of the question'),
    type: filterOf(QuestionType.options, 'Type of the question'),
    q: text(200, 1).optional().meta({ description: 'Substring of the name or the title' }),
    include: z.literal('results').optional().meta({ description: '`results`: include the results of each question' }),
  }),
  status: 200,
  response: pageOf(QuestionListItem),
  async handle({ caller, query, after, page }, { storage, now }) {
    const tenant = storage.forTenant(caller.tenantId);
    const found = await listQuestionRows(tenant, query, query.limit, after);
    if (!query.include) return page(found, presentQuestion);
    const ids = found.rows.map(({ id }) => id);
    const counts = await summarizeCounts(tenant, ids, now());
    return page(found, row => ({ ...presentQuestion(row), results: presentSummary(row, counts.get(row.id)) }));
  },
});

export const createQuestion = operation({
  ...shared,
  id: 'createQuestion',
  method: 'post',
  path: '/v1/questions',
  credentials: ['api-key', 'session'],
  summary: 'Create a question as a draft',
  description: 'A tenant can have at most 2,000 questions, in any state.',
  right: 'questions:write',
  audit: 'question.created',
  body: NewQuestion,
  status: 201,
  sends: ['Location'],
  response: Question,
  etag: true,
  problems: ['limit-reached'],
  async handle({ caller, body }, { storage, now }) {
    refuseButtonInCooldown(body);
    const rules = toCardRules(body);
    refuseRules(rules, body, now());
    const tenant = storage.forTenant(caller.tenantId);
    await requireKnownQuestions(tenant, tenant.tenantId, body.audience);
    const locale = body.locale ?? (await findTenant(tenant))?.default_locale;
    if (!locale) throw notFound('tenant');
    const question = { ...rules, locale, name: body.name ?? nameFrom(body.title) };
    refuseOwnLanguage(question);
    return created(await insertQuestion(tenant, question, now()));
  },
});

/** The default name of a question. Never cuts a character of two UTF-16 units in half. */
const nameFrom = (title: string): string => title.slice(0, 120).replace(/[\uD800-\uDBFF]$/, '');

const created = (row: QuestionRow) =>
  reply({ body: presentQuestion(row), headers: { Location: `/v1/questions/${toTypeId('question', row.id)}` } });

export const readQuestion = operation({
  ...shared,
  id: 'readQuestion',
  method: 'get',
  path: '/v1/questions/{id}',
  credentials: ['api-key', 'session'],
  summary: 'Get a question',
  description: 'Returns the current version. Send the `ETag` in `If-Match` to change exactly this state.',
  right: 'questions:read',
  params: QuestionPath,
  status: 200,
  response: Question,
  etag: true,
  async handle({ caller, params }, { storage }) {
    return presentQuestion(await findQuestion(storage.forTenant(caller.tenantId), params.id));
  },
});

export const patchQuestion = operation({
  ...shared,
  id: 'patchQuestion',
  method: 'patch',
  path: '/v1/questions/{id}',
  credentials: ['api-key', 'session'],
  summary: 'Update a question',
  description:
    'In a draft, everything can change. For a live or paused question, a change of title, description, config, follow-ups, thanks or translations creates a new immutable version, at most 50 within 24 hours. Translations are replaced as a whole; of a published question they are complete, and texts without an original are removed.',
  right: 'questions:write',
  audit: 'question.updated',
  params: QuestionPath,
  body: QuestionPatch,
  status: 200,
  response: Question,
  problems: ['immutable-field', 'invalid-transition', 'limit-reached', 'upgrade-unfinished'],
  ifMatch: true,
  etag: true,
  async handle({ caller, params, body, requireMatch }, { storage, now }) {
    const { tenantId } = caller;
    const change = async (question: QuestionRow, tx: Transaction) => {
      requireMatch(presentQuestion(question));
      const isPublished = question.status !== 'draft' && body.follow_ups !== undefined;
      applyPatch(question, body, isPublished ? await listPublishedSteps(tx, tenantId, params.id) : [], now());
      await requireKnownQuestions(tx, tenantId, body.audience);
    };
    return presentQuestion(
      await updateQuestion(storage.forTenant(tenantId), params.id, now(), change, actorOf(caller)),
    );
  },
});

export const deleteQuestion = operation({
  ...shared,
  id: 'deleteQuestion',
  method: 'delete',
  path: '/v1/questions/{id}',
  credentials: ['api-key', 'session'],
  summary: 'Delete a draft',
  description:
    'Only drafts can be deleted. Close and archive published questions, so that their answers keep their question.',
  right: 'questions:write',
  audit: 'question.deleted',
  params: QuestionPath,
  status: 204,
  problems: ['invalid-transition'],
  ifMatch: true,
  async handle({ caller, params, requireMatch }, { storage }) {
    await deleteQuestionRow(storage.forTenant(caller.tenantId), params.id, question => {
      requireMatch(presentQuestion(question));
      if (question.status !== 'draft') throw wrongState(question, 'Only drafts can be deleted.');
    });
  },
});

const SUMMARIES: Record<QuestionAction, string> = {
  publish: 'Publish a draft',
  pause: 'Pause a live question: its card is no longer shown',
  resume: 'Resume a paused question',
  close: 'Close a question: answers are accepted for 7 more days',
  archive: 'Archive a closed question',
};

const DESCRIPTIONS: Record<QuestionAction, string> = {
  publish:
    'From now on the question is shown as a card, or from `schedule.start_at` on: until then its status is `scheduled`. Publishing a scheduled question starts it now. Its language, and type, scale and option ids of its steps, can no longer change. Follow-ups, translations and recalls of attributes must be complete, and the audience must fit the questions that it refers to: 422 with a pointer into the question for each fault. Translations of texts that the question does not have are removed. A tenant can have at most 200 live questions.',
  pause: 'Answers to cards that were already fetched are still accepted.',
  resume: 'The question is shown again, with its results continued. A tenant can have at most 200 live questions.',
  close: 'The card is no longer shown. A closed question cannot be reopened; clone it instead.',
  archive: 'Its answers and results stay readable. An archived question cannot be published again.',
};

/** The audit log's name of each action. */
const ACTIONS_DONE = {
  publish: 'question.published',
  pause: 'question.paused',
  resume: 'question.resumed',
  close: 'question.closed',
  archive: 'question.archived',
} as const satisfies Record<QuestionAction, Action>;

const actionOperation = (action: QuestionAction) =>
  operation({
    ...shared,
    id: `${action}Question`,
    method: 'post',
    path: `/v1/questions/{id}/${action}`,
    credentials: ['api-key', 'session'],
    summary: SUMMARIES[action],
    description: DESCRIPTIONS[action],
    right: 'questions:write',
    audit: ACTIONS_DONE[action],
    params: QuestionPath,
    status: 200,
    response: Question,
    problems: [
      'invalid-transition',
      'limit-reached',
      ...(action === 'publish' ? (['upgrade-unfinished'] as const) : []),
    ],
    ifMatch: true,
    etag: true,
    async handle({ caller, params, requireMatch }, { storage, now }) {
      const at = now();
      const change = async (question: QuestionRow, tx: Transaction) => {
        requireMatch(presentQuestion(question));
        const { from, to } = QUESTION_ACTIONS[action];
        if (!(from as readonly QuestionStatus[]).includes(question.status))
          throw wrongState(question, `"${action}" requires the status ${from.join(' or ')}.`);
        if (action === 'publish') {
          finishContent(question);
          await requireKnownQuestions(tx, caller.tenantId, question.audience); // others may have changed or be gone
        }
        if (to === 'live') refuseEnded(question, at);
        if (action === 'publish') startQuestion(question, at);
        else question.status = to;
        if (action === 'close') question.closed_at = at;
      };
      return presentQuestion(
        await updateQuestion(storage.forTenant(caller.tenantId), params.id, at, change, actorOf(caller)),
      );
    },
  });

export const publishQuestion = actionOperation('publish');
export const pauseQuestion = actionOperation('pause');
export const resumeQuestion = actionOperation('resume');
export const closeQuestion = actionOperation('close');
export const archiveQuestion = actionOperation('archive');

export const cloneQuestion = operation({
  ...shared,
  id: 'cloneQuestion',
  method: 'post',
  path: '/v1/questions/{id}/clone',
  credentials: ['api-key', 'session'],
  summary: 'Clone a question into a new draft',
  description:
    'Copies everything but the state, the version, the schedule and the results. Also works for closed and archived questions.',
  right: 'questions:write',
  audit: 'question.cloned',
  params: QuestionPath,
  status: 201,
  sends: ['Location'],
  response: Question,
  etag: true,
  problems: ['limit-reached'],
  async handle({ caller, params }, { storage, now }) {
    const tenant = storage.forTenant(caller.tenantId);
    const question = await findQuestion(tenant, params.id);
    const { name, locale, priority, placement } = question;
    const copy = { ...contentOf(question), ...copyRules(question), name, locale, priority, placement };
    return created(await insertQuestion(tenant, copy, now()));
  },
});

export const listQuestionVersions = operation({
  ...shared,
  id: 'listQuestionVersions',
  method: 'get',
  path: '/v1/questions/{id}/versions',
  credentials: ['api-key', 'session'],
  summary: 'List versions of a question, newest first',
  description: 'Each version lists the changes since the previous one; the first has none.',
  right: 'questions:read',
  params: QuestionPath,
  query: z.object(pageQuery),
  status: 200,
  response: pageOf(QuestionVersion),
  async handle({ caller, params, query, after, page }, { storage }) {
    const tenant = storage.forTenant(caller.tenantId);
    const { locale } = await findQuestion(tenant, params.id);
    const versions = await listVersionRows(tenant, params.id, query.limit, after);
    return page(versions, row => ({ toJSON: () => presentVersion(row, locale) })); // compared as each is serialized
  },
});

export const readQuestionTemplates = operation({
  id: 'readQuestionTemplates',
  method: 'get',
  path: '/v1/question-templates',
  tag: 'Questions',
  summary: 'Get question templates',
  description:
    'Common questions with their follow-ups: NPS, CSAT, CES, product-market fit, cancellation, onboarding, feature request and bug report. The `question` of a template is a body for `POST /v1/questions`.',
  credentials: ['api-key', 'session'],
  right: 'questions:read',
  query: z.object({
    locale: text(35, 2)
      .default('en')
      .meta({ description: 'Language of the texts (BCP 47): German for `de` and its regions, otherwise English' }),
  }),
  status: 200,
  response: z.object({ data: z.array(QuestionTemplate) }).meta({ id: 'QuestionTemplates' }),
  etag: true,
  handle: ({ query }) => ({ data: questionTemplates(query.locale) }),
});

/** Every operation on questions. */
export const questionRoutes = [
  readQuestionTemplates,
  listQuestions,
  createQuestion,
  readQuestion,
  patchQuestion,
  deleteQuestion,
  cloneQuestion,
  listQuestionVersions,
  publishQuestion,
  pauseQuestion,
  resumeQuestion,
  closeQuestion,
  archiveQuestion,
];
