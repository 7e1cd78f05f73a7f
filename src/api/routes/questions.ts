import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Action } from '../../domain/audit-log.ts';
import { noCounts } from '../../domain/counts.ts';
import { toTypeId, typeId } from '../../domain/ids.ts';
import { pageOf, pageQuery } from '../../domain/pages.ts';
import { Problem } from '../../domain/problem.ts';
import {
  CONFIGS,
  immutableParts,
  NewQuestion,
  nextStatuses,
  possibleActions,
  QUESTION_ACTIONS,
  Question,
  type QuestionAction,
  type QuestionContent,
  QuestionPatch,
  QuestionStatus,
  QuestionType,
  QuestionVersion,
  versionChanges,
} from '../../domain/questions.ts';
import { figuresOf, ResultsSummary } from '../../domain/results.ts';
import { text } from '../../domain/text.ts';
import { bodyErrors, parseInput } from '../../domain/validation.ts';
import {
  deleteQuestion as deleteQuestionRow,
  findQuestion,
  insertQuestion,
  listQuestions as listQuestionRows,
  listQuestionVersions as listVersionRows,
  type QuestionRow,
  type QuestionVersionRow,
  updateQuestion,
} from '../../storage/questions.ts';
import { type CountsSummary, summarizeCounts } from '../../storage/results.ts';
import { operation, reply } from '../operation.ts';

const QuestionPath = z.object({ id: typeId('question') });
const shared = { tag: 'Questions' } as const;

const presentQuestion = (row: QuestionRow) => ({
  id: toTypeId('question', row.id),
  name: row.name,
  status: row.status,
  version: row.version,
  type: row.type,
  title: row.title,
  description: row.description,
  config: row.config,
  frequency: row.frequency,
  allow_public: row.allow_public,
  priority: row.priority,
  created_at: row.created_at,
  updated_at: row.updated_at,
  published_at: row.published_at,
  closed_at: row.closed_at,
});

const presentVersion = ({
  previous,
  question_id,
  ...version
}: QuestionVersionRow & { previous: QuestionContent | null }) => ({
  question_id: toTypeId('question', question_id),
  ...version,
  changes: previous ? versionChanges(previous, version) : [],
});

const NO_COUNTS: CountsSummary = { ...noCounts(), answered_7_days: 0 };

const presentSummary = ({ type }: QuestionRow, counts = NO_COUNTS) => ({
  ...figuresOf(type, counts),
  answered_7_days: counts.answered_7_days,
});

/** A question in the list. */
const QuestionListItem = Question.extend({
  results: ResultsSummary.optional().meta({ description: 'Only with `include=results`' }),
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
    status: QuestionStatus.optional(),
    type: QuestionType.optional(),
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
    const row = await insertQuestion(
      storage.forTenant(caller.tenantId),
      { ...body, name: body.name ?? nameFrom(body.title) },
      now(),
    );
    return created(row);
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

/** Validates a config by its type. Throws 422 with pointers into the body. */
function parseConfig(type: QuestionType, config: unknown): QuestionRow['config'] {
  const parsed = parseInput<QuestionRow['config']>(CONFIGS[type], config);
  if (parsed.success) return parsed.data;
  throw new Problem('validation-failed', `The config is not valid for a question of type ${type}.`, {
    errors: bodyErrors(parsed.faults, '/config'),
  });
}

/** The versioned content, as plain JSON, because the database returns fields in a different order. */
const contentOf = ({ type, title, description, config }: QuestionRow): QuestionContent =>
  JSON.parse(JSON.stringify({ type, title, description, config }));

/** Applies a patch. A change of visible content creates a new version once the question was published. */
function applyPatch(row: QuestionRow, { frequency, config, type, ...rest }: QuestionPatch): void {
  if (row.status === 'closed' || row.status === 'archived')
    throw wrongState(row, 'It can be edited until it is closed.');
  const before = contentOf(row);
  if (row.status !== 'draft') refuseImmutable({ '/type': row.type }, { '/type': type ?? row.type });
  if (type && type !== row.type && !config) row.config = parseConfig(type, {});
  Object.assign(row, rest, type ? { type } : {});
  if (config) row.config = parseConfig(row.type, config);
  if (frequency) row.frequency = { ...row.frequency, ...frequency };
  if (row.status === 'draft') return;
  refuseImmutable(immutableParts(before), immutableParts(row));
  if (!isDeepStrictEqual(before, contentOf(row))) row.version++;
}

function refuseImmutable(before: Record<string, unknown>, after: Record<string, unknown>): void {
  const changed = Object.keys(before).filter(
    pointer => JSON.stringify(before[pointer]) !== JSON.stringify(after[pointer]),
  );
  if (changed.length === 0) return;
  throw new Problem('immutable-field', 'Type, scale and option ids of a published question cannot change.', {
    errors: changed.map(pointer => ({ pointer, code: 'immutable-field', detail: 'Cannot change once published.' })),
  });
}

export const patchQuestion = operation({
  ...shared,
  id: 'patchQuestion',
  method: 'patch',
  path: '/v1/questions/{id}',
  credentials: ['api-key', 'session'],
  summary: 'Update a question',
  description:
    'In a draft, everything can change. For a live or paused question, a change of title, description or config creates a new immutable version, at most 50 within 24 hours.',
  right: 'questions:write',
  audit: 'question.updated',
  params: QuestionPath,
  body: QuestionPatch,
  status: 200,
  response: Question,
  problems: ['immutable-field', 'invalid-transition', 'limit-reached'],
  ifMatch: true,
  etag: true,
  async handle({ caller, params, body, requireMatch }, { storage, now }) {
    const row = await updateQuestion(storage.forTenant(caller.tenantId), params.id, now(), question => {
      requireMatch(presentQuestion(question));
      applyPatch(question, body);
    });
    return presentQuestion(row);
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

/** The 409 for a question in another state than required, with the actions that are possible instead. */
const wrongState = ({ status }: QuestionRow, requirement: string) =>
  new Problem('invalid-transition', `The question is ${status}. ${requirement} ${insteadIn(status)}`, {
    extra: { from: status, allowed: nextStatuses(status) },
  });

const insteadIn = (status: QuestionStatus): string =>
  `Possible now: ${[...possibleActions(status), 'clone'].join(', ')}.`;

const SUMMARIES: Record<QuestionAction, string> = {
  publish: 'Publish a draft',
  pause: 'Pause a live question: its card is no longer shown',
  resume: 'Resume a paused question',
  close: 'Close a question: answers are accepted for 7 more days',
  archive: 'Archive a closed question',
};

const DESCRIPTIONS: Record<QuestionAction, string> = {
  publish:
    'From now on the question is shown as a card. Type, scale and option ids can no longer change. A tenant can have at most 200 live questions.',
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
    problems: ['invalid-transition', 'limit-reached'],
    ifMatch: true,
    etag: true,
    async handle({ caller, params, requireMatch }, { storage, now }) {
      const at = now();
      const row = await updateQuestion(storage.forTenant(caller.tenantId), params.id, at, question => {
        requireMatch(presentQuestion(question));
        const { from, to } = QUESTION_ACTIONS[action];
        if (!(from as readonly QuestionStatus[]).includes(question.status))
          throw wrongState(question, `"${action}" requires the status ${from.join(' or ')}.`);
        question.status = to;
        if (action === 'publish') question.published_at = at;
        if (action === 'close') question.closed_at = at;
      });
      return presentQuestion(row);
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
    'Copies everything but the state, the version and the results. Also works for closed and archived questions.',
  right: 'questions:write',
  audit: 'question.cloned',
  params: QuestionPath,
  status: 200,
  sends: ['Location'],
  response: Question,
  etag: true,
  problems: ['limit-reached'],
  async handle({ caller, params }, { storage, now }) {
    const tenant = storage.forTenant(caller.tenantId);
    const { name, type, title, description, config, frequency, allow_public, priority } = await findQuestion(
      tenant,
      params.id,
    );
    const copy = { name, type, title, description, config, frequency, allow_public, priority };
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
    await findQuestion(tenant, params.id);
    return page(await listVersionRows(tenant, params.id, query.limit, after), presentVersion);
  },
});

/** Every operation on questions. */
export const questionRoutes = [
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
