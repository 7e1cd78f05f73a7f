import { z } from 'zod';
import { Answer, AnswerPatch, AnswerState, AnswerStatus, NewAnswers, Receipt } from '../../domain/answers.ts';
import { documentedAs } from '../../domain/documented.ts';
import { toTypeId, typeId } from '../../domain/ids.ts';
import { pageOf, pageQuery, queryBoolean, queryInt } from '../../domain/pages.ts';
import { notFound } from '../../domain/problem.ts';
import { Identity, SEARCHED, SearchWords, Tag, Timestamp } from '../../domain/text.ts';
import {
  type AnswerRow,
  deleteAnswer as deleteAnswerRow,
  findAnswer,
  listAnswers as listAnswerRows,
  tagAnswer,
} from '../../storage/answers.ts';
import { isTeam } from '../caller.ts';
import { operation } from '../operation.ts';
import { withUpdatedUntil } from '../watch/incremental-reads.ts';

const AnswerPath = z.object({ id: z.uuid().toLowerCase() });

const presentAnswer = (row: AnswerRow) => ({
  id: row.id,
  revision: row.revision,
  card_id: toTypeId('card', row.card_id),
  question_id: toTypeId('question', row.question_id),
  question_version: row.question_version,
  state: row.state,
  values: row.values,
  comment: row.comment,
  displayed_at: row.displayed_at,
  answered_at: row.answered_at,
  duration_ms: row.duration_ms,
  metadata: row.metadata,
  identity: row.identity,
  identity_verified: row.identity_verified,
  received_at: row.received_at,
  stored_at: row.stored_at,
  updated_at: row.updated_at,
  clock_skew_ms: row.clock_skew_ms === null ? null : Number(row.clock_skew_ms),
  tags: row.tags,
  counted: row.counted,
  status: 'stored',
});

export const recordAnswers = operation({
  id: 'recordAnswers',
  method: 'post',
  path: '/v1/answers',
  tag: 'Answers',
  summary: 'Send answers',
  description:
    'A 202 means that the accepted answers are on disk in the queue and will be stored exactly once, however often they are sent. (With `QUEUE_DURABILITY=relaxed`, up to 1 s of answers may be lost on power failure; `/readyz` then reports this.) Each item has its own result, and an invalid item never affects the others. After 429, 503 or a lost response, send the items again with the same ids; `Idempotency-Key` is ignored. With an access token, each item counts as one request against the rate limit: a batch that exceeds the remaining limit is rejected with 429 as a whole, but an unused limit accepts any batch. With an API key, a batch counts as one request.',
  credentials: ['access-token', 'public-access-token', 'api-key'],
  lastKnownKeys: true,
  right: 'answers:write',
  ignoresIdempotencyKey: true, // storing a key would make intake depend on PostgreSQL
  body: NewAnswers,
  status: 202,
  response: z.object({ results: z.array(Receipt) }).meta({ id: 'Receipts' }),
  problems: ['queue-unavailable', 'database-unavailable', 'service-stopping'],
  items: ({ answers }) => answers.length,

  precheck(_, { queue }) {
    queue.refuseWhileBusy();
  },

  async handle({ caller, body, bodyBytes, receivedAt }, { answerValidator, queue, rejections, metrics }) {
    const sync = { answers: body.answers, clientTime: body.client_time, receivedAt };
    const { receipts, accepted } = await answerValidator.validate(caller, sync);
    if (accepted.length > 0) await queue.enqueue(accepted, bodyBytes);
    answerValidator.remember(accepted);
    const rejected = receipts.filter(receipt => receipt.status === 'rejected');
    for (const { code } of rejected) metrics.answersRejected.inc({ reason: code ?? 'validation-failed' });
    if (rejected.length > 0) rejections.add(caller.tenantId, rejected.length);
    return { results: receipts };
  },
});

export const readAnswer = operation({
  id: 'readAnswer',
  method: 'get',
  path: '/v1/answers/{id}',
  tag: 'Answers',
  summary: 'Get an answer; 404 until it is stored',
  description:
    'Returns 404 until the worker has stored the answer, usually within a second. A user sees only their own answers; with a public access token, only the id and the state.',
  credentials: ['api-key', 'access-token', 'public-access-token', 'session'],
  right: 'answers:read',
  params: AnswerPath,
  status: 200,
  response: z
    .union([Answer, AnswerStatus])
    .meta({ id: 'AnswerView', description: '`PublicAnswer` with a public access token, otherwise `Answer`' }),
  etag: true,
  async handle({ caller, params }, { storage }) {
    const row = await findAnswer(storage.forTenant(caller.tenantId), params.id);
    const isOwn = isTeam(caller) || (row.identity === caller.identity && row.identity_verified === caller.verified);
    if (!isOwn) throw notFound('answer');
    if (caller.kind === 'public-access-token') return { id: row.id, state: row.state, status: 'stored' };
    return presentAnswer(row);
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
    state: AnswerState.optional(),
    identity: Identity.optional(),
    verified: queryBoolean.optional(),
    version: queryInt(1, 2_147_483_647).optional().meta({ description: 'Question version' }),
    tag: Tag.optional(),
    written: z
      .literal('true')
      .transform(() => true as const)
      .meta({ override: documentedAs({ type: 'boolean', const: true }) })
      .optional()
      .meta({ description: '`true`: only answers with a comment or text' }),
    q: SearchWords.optional().meta({ description: `Search in comments and texts: ${SEARCHED}` }),
    updated_since: Timestamp.optional(),
  }),
  status: 200,
  response: pageOf(Answer),
  async handle({ caller, query, after, page }, { storage, incrementalReads }) {
    const { updated_since, limit, ...filter } = query;
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
    return presentAnswer(await tagAnswer(tenant, params.id, body.tags, row => requireMatch(presentAnswer(row))));
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
    await deleteAnswerRow(storage.forTenant(caller.tenantId), params.id, row => requireMatch(presentAnswer(row)));
  },
});

/** Every operation on answers. */
export const answerRoutes = [recordAnswers, readAnswer, listAnswers, patchAnswer, deleteAnswer];
