import { z } from 'zod';
import { presentAnswer, presentOwnAnswer, type StoredAnswer } from '../../domain/answers/answer-replies.ts';
import { Answer, AnswerPatch, AnswerState, AnswerStatus, NewAnswers, OwnAnswer } from '../../domain/answers/answers.ts';
import { Receipts } from '../../domain/answers/receipts.ts';
import { documentedAs } from '../../domain/documented.ts';
import { toTypeId, typeId } from '../../domain/ids.ts';
import { CHANGED_SINCE, filterOf, pageOf, pageQuery, queryBoolean, queryInt } from '../../domain/pages.ts';
import { notFound, Problem } from '../../domain/problem.ts';
import { Day, Identity, SEARCHED, SearchWords, Tag, Timestamp, text } from '../../domain/text.ts';
import {
  deleteAnswer as deleteAnswerRow,
  findAnswer,
  listAnswers as listAnswerRows,
  tagAnswer,
} from '../../storage/answers/answers.ts';
import {
  findTestAnswer,
  findTestedQuestion,
  storeTestAnswer,
  type TestAnswerRow,
} from '../../storage/questions/test-answers.ts';
import type { Sync } from '../cache/answer-validator.ts';
import { isTeam, type TestCaller } from '../caller.ts';
import { actorOf } from '../credentials/author.ts';
import type { ApiDeps } from '../deps.ts';
import { operation } from '../operation.ts';
import { withUpdatedUntil } from '../watch/incremental-reads.ts';
import { refuseReversedDays } from './results.ts';

const AnswerPath = z.object({
  id: z
    .uuid()
    .toLowerCase()
    .meta({ description: 'The id that the client chose', example: '019a8f3e-5b1c-7c33-9f4d-2a6b8c0d1e2f' }),
});

export const recordAnswers = operation({
  id: 'recordAnswers',
  method: 'post',
  path: '/v1/answers',
  tag: 'Answers',
  summary: 'Send answers',
  description:
    'A 202 means that the accepted answers are on disk in the queue and will be stored exactly once, however often they are sent. (With `QUEUE_DURABILITY=relaxed`, up to 1 s of answers may be lost on power failure; `/readyz` then reports this.) Each item has its own result, and an invalid item never affects the others. After 429, 503 or a lost response, send the items again with the same ids; `Idempotency-Key` is ignored. With an access token, each item counts as one request against the rate limit: a batch that exceeds the remaining limit is rejected with 429 as a whole, but an unused limit accepts any batch. With an API key, a batch counts as one request.',
  credentials: ['access-token', 'public-access-token', 'test-token', 'api-key'],
  lastKnownKeys: true,
  right: 'answers:write',
  ignoresIdempotencyKey: true, // storing a key would make intake depend on PostgreSQL
  body: NewAnswers,
  status: 202,
  response: Receipts,
  problems: ['queue-unavailable', 'database-unavailable', 'service-stopping'],
  items: ({ answers }) => answers.length,

  precheck(_, { queue }) {
    queue.refuseWhileBusy();
  },

  async handle({ caller, body, bodyBytes, receivedAt }, { answerValidator, queue, rejections, metrics, storage }) {
    const sync = { answers: body.answers, clientTime: body.client_time, receivedAt };
    if (caller.kind === 'test-token') return recordTest(caller, sync, { answerValidator, storage });
    const { receipts, accepted } = await answerValidator.validate(caller, sync);
    if (accepted.length > 0) await queue.enqueue(accepted, bodyBytes);
    answerValidator.remember(accepted);
    const rejected = receipts.filter(receipt => receipt.status === 'rejected');
    for (const { code } of rejected) metrics.answersRejected.inc({ reason: code ?? 'validation-failed' });
    if (rejected.length > 0) rejections.add(caller.tenantId, rejected.length);
    return { results: receipts };
  },
});

/** Stores the answers of a member who tries out a question at once, without the queue. */
async function recordTest(
  caller: TestCaller,
  sync: Sync,
  { answerValidator, storage }: Pick<ApiDeps, 'answerValidator' | 'storage'>,
) {
  const tenant = storage.forTenant(caller.tenantId);
  const question = await findTestedQuestion(tenant, caller);
  const { receipts, accepted } = answerValidator.validateTest(caller, sync, question);
  for (const answer of accepted) await storeTestAnswer(tenant, caller, answer);
  return { results: receipts };
}

/** An answer to a preview: of the test identity, and never counted. */
const presentTestAnswer = (row: TestAnswerRow) =>
  presentAnswer({
    ...row,
    identity: `test|${toTypeId('member', row.member_id)}`,
    identity_verified: true,
    tags: [],
    counted: false,
    over_quota: false,
    stored_at: row.received_at,
  });

export const readAnswer = operation({
  id: 'readAnswer',
  method: 'get',
  path: '/v1/answers/{id}',
  tag: 'Answers',
  summary: 'Get an answer; 404 until it is stored',
  description:
    'Returns 404 until the worker has stored the answer, usually within a second. A user sees only their own answers, without `tags` and `updated_at`; with a public access token, only the id and the state.',
  credentials: ['api-key', 'access-token', 'public-access-token', 'test-token', 'session'],
  right: 'answers:read',
  params: AnswerPath,
  status: 200,
  response: z.union([Answer, OwnAnswer, AnswerStatus]).meta({
    id: 'AnswerView',
    description: '`OwnAnswer` with an access token, `PublicAnswer` with a public one, otherwise `Answer`',
  }),
  etag: true,
  async handle({ caller, params }, { storage }) {
    const tenant = storage.forTenant(caller.tenantId);
    if (caller.kind === 'test-token')
      return presentTestAnswer(await findTestAnswer(tenant, params.id, caller.memberId));
    const row = await findAnswer(tenant, params.id).catch(async error => {
      if (!isTeam(caller) || !(error instanceof Problem) || error.kind !== 'not-found') throw error;
      return presentTestAnswer(await findTestAnswer(tenant, params.id));
    });
    if ('status' in row) return row;
    const isOwn = isTeam(caller) || (row.identity === caller.identity && row.identity_verified === caller.verified);
    if (!isOwn) throw notFound('answer');
    if (caller.kind === 'public-access-token') return { id: row.id, state: row.state, status: 'stored' };
    return isTeam(caller) ? presentAnswer(row) : presentOwnAnswer(row);
  },
});

export const listAnswers = operation({
  id: 'listAnswers',
  method: 'get',
  path: '/v1/answers',
  tag: 'Answers',
  summary: 'List answers, most recently received first',
  description:
    'With `updated_since`, answers are ordered by their last change, for incremental reads that never miss a write: once `has_more` is false, all changes before the time in the `Updated-Until` header have been returned.',
  credentials: ['api-key', 'session'],
  right: 'answers:read',
  query: z.object({
    ...pageQuery,
    question_id: typeId('question').optional(),
    state: filterOf(AnswerState.options, 'State of the answer'),
    identity: Identity.optional(),
    verified: queryBoolean.optional().meta({
      description:
        '`true`: users whose identity is proven by an access token or an API key; `false`: claimed identities',
    }),
    version: queryInt(1, 2_147_483_647).optional().meta({ description: 'Question version' }),
    step: text(64, 1).optional().meta({
      description:
        'Key of the step that `value` is about, by default `main`, the question itself; without `value`: only answers with a value for this step',
    }),
    value: text(40, 1).optional().meta({
      description:
        'Only answers with this value of the step, as `values` of the results: a score, `true` or `false`, the id of an option, or `other`',
    }),
    counted: queryBoolean.optional().meta({ description: 'Whether the answer is counted in the results' }),
    from: Day.optional().meta({ description: 'First day (UTC) of the first receipt, as in the results' }),
    to: Day.optional().meta({ description: 'Last day (UTC) of the first receipt, inclusive' }),
    tag: Tag.optional().meta({ description: 'Answers with this tag' }),
    written: z
      .literal('true')
      .transform(() => true as const)
      .meta({ override: documentedAs({ type: 'boolean', const: true }) })
      .optional()
      .meta({ description: '`true`: only answers with a comment or text' }),
    q: SearchWords.optional().meta({ description: `Search in comments and texts: ${SEARCHED}` }),
    updated_since: Timestamp.optional().meta({ description: CHANGED_SINCE }),
  }),
  status: 200,
  response: pageOf(Answer),
  async handle({ caller, query, after, page }, { storage, incrementalReads }) {
    const { updated_since, limit, ...filter } = query;
    refuseReversedDays(filter);
    const updated = await incrementalReads.open(updated_since);
    const rows = await listAnswerRows(storage.forTenant(caller.tenantId), { ...filter, updated }, limit, after);
    return withUpdatedUntil(page(rows, presentAnswer), updated);
  },
});

export const patchAnswer = operation({
  id: 'patchAnswer',
  method: 'patch',
  path: '/v1/answers/{id}',
  tag: 'Answers',
  summary: 'Set the tags of an answer',
  description:
    'The tags replace the previous ones. They do not change the answer itself, so a later revision keeps them.',
  credentials: ['api-key', 'session'],
  right: 'answers:write',
  audit: 'answer.tagged',
  params: AnswerPath,
  body: AnswerPatch,
  status: 200,
  response: Answer,
  ifMatch: true,
  etag: true,
  async handle({ caller, params, body, requireMatch }, { storage }) {
    const tenant = storage.forTenant(caller.tenantId);
    const check = (row: StoredAnswer) => requireMatch(presentAnswer(row));
    return presentAnswer(await tagAnswer(tenant, params.id, body.tags, check, actorOf(caller)));
  },
});

export const deleteAnswer = operation({
  id: 'deleteAnswer',
  method: 'delete',
  path: '/v1/answers/{id}',
  tag: 'Answers',
  summary: 'Delete an answer; its id cannot be reused',
  description: 'The answer leaves the results at once. A later sync with the same id is rejected as `answer-deleted`.',
  credentials: ['api-key', 'session'],
  right: 'answers:write',
  audit: 'answer.deleted',
  params: AnswerPath,
  status: 204,
  ifMatch: true,
  async handle({ caller, params, requireMatch }, { storage }) {
    const check = (row: StoredAnswer) => requireMatch(presentAnswer(row));
    await deleteAnswerRow(storage.forTenant(caller.tenantId), params.id, check, actorOf(caller));
  },
});

/** Every operation on answers. */
export const answerRoutes = [recordAnswers, readAnswer, listAnswers, patchAnswer, deleteAnswer];
