import { isDeepStrictEqual } from 'node:util';
import type { StoredAnswer } from '../../domain/answers/answer-replies.ts';
import { DAY_MS } from '../../domain/durations.ts';
import { BY_SYSTEM, type EventActor, type EventType } from '../../domain/events/events.ts';
import { type Page, valuesIn } from '../../domain/pages.ts';
import { notFound } from '../../domain/problem.ts';
import { MAIN_STEP } from '../../domain/steps.ts';
import { byTime, createList, type List, readPage } from '../database/lists.ts';
import type { TenantStorage } from '../database/orm.ts';
import { WANTED_IDS, type Where } from '../database/sql.ts';
import type { Transaction } from '../database/transaction.ts';
import { type TenantEvent, writeEvents } from '../events/events.ts';
import { ANSWER_LIMITS, findAnswers, type SearchableList, type SearchLimits, searchPage } from '../search/search.ts';
import { hasAtMostAnswers } from './answers-of-identity.ts';
import { changesByDeletion, lockPlace, STORED_ROW, type StoredRow } from './counted-answers.ts';
import { IS_COUNTED } from './counted-columns.ts';
import { countAnswers } from './results.ts';

export type AnswerRow = StoredAnswer;

const COLUMNS = `id, identity, identity_verified, card_id, question_id, question_version, revision, state, "values", comment, displayed_at, answered_at, duration_ms, metadata, clock_skew_ms, tags, received_at, stored_at, updated_at, over_quota, ${IS_COUNTED} as counted`;

/** Returns those of some answers that exist, in any order. */
export const findAnswersById = (tenant: TenantStorage, ids: readonly string[]): Promise<AnswerRow[]> =>
  tenant.query<AnswerRow>(`with ${WANTED_IDS} select ${COLUMNS} from wanted join answers using (tenant_id, id)`, [
    tenant.tenantId,
    ids,
  ]);

export async function findAnswer(tenant: TenantStorage, id: string): Promise<AnswerRow> {
  const rows = await tenant.query<AnswerRow>(`select ${COLUMNS} from answers where tenant_id = $1 and id = $2`, [
    tenant.tenantId,
    id,
  ]);
  if (!rows[0]) throw notFound('answer');
  return rows[0];
}

export interface AnswerFilter {
  question_id?: string | undefined;
  /** One or several, separated by commas. */
  state?: string | undefined;
  identity?: string | undefined;
  verified?: boolean | undefined;
  /** The version of the question. */
  version?: number | undefined;
  tag?: string | undefined;
  /** The key of a step: only answers that have a value for it; `main` is the question itself. */
  step?: string | undefined;
  /** A value of the step as the results name it: a score, `true` or `false`, an option's id, or `other`. */
  value?: string | undefined;
  /** Whether the answer is counted in the results. */
  counted?: boolean | undefined;
  /** UTC days of the first receipt, both inclusive. */
  from?: string | undefined;
  to?: string | undefined;
  /** Whether the user wrote a comment, a text, or the text of "other". */
  written?: true | undefined;
  /** Words, or beginnings of words, all of which the user's text must contain. */
  q?: string | undefined;
  /** Changed at or after `since`, and before the oldest open write; oldest change first. */
  updated?: { since: Date; before: Date } | undefined;
}

/** Returns answers, newest received first; with `updated` in the order of their last change. */
export async function listAnswers(
  tenant: TenantStorage,
  filter: AnswerFilter,
  limit: number,
  after: string[] | null,
  limits = ANSWER_LIMITS,
): Promise<Page<AnswerRow>> {
  const { identity, q } = filter;
  const readsAll = identity !== undefined && (await hasAtMostAnswers(tenant, tenant.tenantId, identity, limits.lookAt));
  if (q === undefined) return readPage(tenant, answerList(tenant, filter, readsAll), limit, after, limits.lookAt);
  return searchPage(tenant, searchableAnswers(tenant, filter, readsAll, limits), q, limit, after);
}

/**
 * The index by identity has no order. If an identity has few answers, all of them are read; otherwise the list is
 * scanned for them.
 */
function answerList(tenant: TenantStorage, filter: AnswerFilter, readsAll: boolean): List<AnswerRow> {
  const column = filter.updated ? 'updated_at' : 'received_at';
  const order = byTime<AnswerRow>(column, !filter.updated);
  const list = { ...createList(tenant, 'answers', COLUMNS, order), readsAll };
  const { access, filters } = list;
  const indexed = readsAll ? 'identity' : indexedFilter(filter);
  const where = (name: keyof AnswerFilter) => (name === indexed ? access : filters);
  if (filter.updated)
    (readsAll ? filters : access).and(
      'updated_at >= $ and updated_at < $',
      filter.updated.since,
      filter.updated.before,
    );
  if (filter.identity !== undefined) where('identity').and('identity = $', filter.identity);
  if (filter.question_id) where('question_id').and('question_id = $', filter.question_id);
  if (indexed === 'tag') access.and("tags <> '{}'"); // selects the partial index
  if (filter.tag) filters.and('$ = any(tags)', filter.tag);
  if (filter.state) filters.and('state = any($::text[])', valuesIn(filter.state));
  if (filter.verified !== undefined) filters.and('identity_verified = $', filter.verified);
  if (filter.version !== undefined) filters.and('question_version = $', filter.version);
  if (filter.written) filters.and('written_text(comment, "values") is not null');
  if (filter.counted !== undefined) filters.and(filter.counted ? IS_COUNTED : `not ${IS_COUNTED}`);
  if (filter.value !== undefined) whereValue(filters, filter.step ?? MAIN_STEP, filter.value);
  else if (filter.step !== undefined) filters.and(`${IS_ANSWERED} and ${VALUE} is not null`, filter.step);
  whereReceived(readsAll || filter.updated ? filters : access, filter); // the list is in this order otherwise
  return list;
}

const IS_ANSWERED = `state in ('partial', 'completed')`;

/** A step's value; takes the step's key. */
const VALUE = '"values"->$::text';

/** Adds the condition for answers that the results count under a value of a step (`valuesOf` in `domain/answers/results.ts`). */
function whereValue(where: Where, step: string, value: string): void {
  const isOther = value === 'other';
  where.and(
    `${IS_ANSWERED} and (case jsonb_typeof(${VALUE})
       when 'object' then ${VALUE}->>'option_id' = $ or ${VALUE}->'option_ids' @> to_jsonb($::text)
         ${isOther ? `or ${VALUE}->'other_text' is not null` : ''}
       when 'string' then false
       else "values"->>$::text = $ end)`,
    ...[step, step, value, step, value, ...(isOther ? [step] : []), step, value],
  );
}

const startOfDay = (day: string): Date => new Date(`${day}T00:00:00.000Z`);

function whereReceived(where: Where, { from, to }: AnswerFilter): void {
  if (from) where.and('received_at >= $', startOfDay(from));
  if (to) where.and('received_at < $', new Date(startOfDay(to).getTime() + DAY_MS));
}

/** Returns the filter with an index in the order of the list; of several, the most selective one. */
function indexedFilter({ updated, tag, question_id }: AnswerFilter): keyof AnswerFilter | undefined {
  if (updated) return undefined;
  if (tag) return 'tag';
  return question_id ? 'question_id' : undefined;
}

const searchableAnswers = (
  tenant: TenantStorage,
  filter: AnswerFilter,
  readsAll: boolean,
  limits: SearchLimits,
): SearchableList<AnswerRow> => ({
  list: () => answerList(tenant, filter, readsAll),
  narrow: readsAll || filter.updated !== undefined || filter.tag !== undefined,
  limits,
  matches: `(select words @@ $::tsquery from answer_words where answer_words.tenant_id = answers.tenant_id
    and answer_words.received_at = answers.received_at and answer_words.id = answers.id)`,
  find: (terms, limit, after) => findAnswers(tenant, terms, { limit, after, most: limits.found }),
});

/** Sets the tags of an answer. `check` throws to prevent it. */
export const tagAnswer = (
  tenant: TenantStorage,
  id: string,
  tags: string[],
  check: (answer: AnswerRow) => void,
  by: EventActor = BY_SYSTEM,
): Promise<AnswerRow> =>
  tenant.transaction(async tx => {
    const answer = await lockAnswer(tx, tenant, id);
    check(answer);
    if (isDeepStrictEqual(answer.tags, tags)) return answer;
    await lockPlace(tx, { tenant_id: tenant.tenantId, ...answer }); // see `touch` in counted-answers.ts
    const rows = await tx.query<AnswerRow>(
      `update answers set tags = $3, updated_at = clock_timestamp() where tenant_id = $1 and id = $2 returning ${COLUMNS}`,
      [tenant.tenantId, id, tags],
    );
    await writeEvents(tx, [answerEvent(tenant, 'answer.updated', id, by)]);
    return rows[0] as AnswerRow;
  });

const answerEvent = ({ tenantId }: TenantStorage, type: EventType, id: string, by: EventActor): TenantEvent => ({
  tenantId,
  type,
  object: { type: 'answer', id },
  data: { by },
});

/**
 * Deletes an answer, and subtracts it from its question's results. Its id stays reserved. `check` throws to prevent it.
 *
 * If it was the counted answer of its card, the next one is counted instead.
 */
export const deleteAnswer = (
  tenant: TenantStorage,
  id: string,
  check: (answer: AnswerRow) => void,
  by: EventActor = BY_SYSTEM,
): Promise<void> =>
  tenant.transaction(async tx => {
    check(await lockAnswer(tx, tenant, id));
    await tx.query('insert into deleted_answers values ($1, $2, clock_timestamp()) on conflict do nothing', [
      tenant.tenantId,
      id,
    ]);
    const removed = await tx.query<StoredRow>(
      `delete from answers where tenant_id = $1 and id = $2 returning ${STORED_ROW}`,
      [tenant.tenantId, id],
    );
    await countAnswers(tx, await changesByDeletion(tx, removed));
    await writeEvents(tx, [answerEvent(tenant, 'answer.deleted', id, by)]);
  });

/** Whether an answer is stored. */
export const hasAnswer = async (tenant: TenantStorage, id: string): Promise<boolean> =>
  (await tenant.query('select from answers where tenant_id = $1 and id = $2', [tenant.tenantId, id])).length > 0;

/** Deletes a canary, and earlier ones that were stored too late. Their ids do not stay reserved. */
export const removeCanaries = (canaries: TenantStorage, id: string): Promise<unknown> =>
  canaries.query("delete from answers where tenant_id = $1 and (id = $2 or received_at < now() - interval '1 hour')", [
    canaries.tenantId,
    id,
  ]);

async function lockAnswer(tx: Transaction, tenant: TenantStorage, id: string): Promise<AnswerRow> {
  const rows = await tx.query<AnswerRow>(`select ${COLUMNS} from answers where tenant_id = $1 and id = $2 for update`, [
    tenant.tenantId,
    id,
  ]);
  if (!rows[0]) throw notFound('answer');
  return rows[0];
}

/**
 * Returns the ids most recently deleted by the team, for the API's cache: it rejects answers that the worker would
 * drop.
 */
export const listDeletedAnswers = async (tenant: TenantStorage, limit: number): Promise<string[]> =>
  (
    await tenant.query<{ id: string }>(
      'select id from deleted_answers where tenant_id = $1 and not expired order by deleted_at desc limit $2',
      [tenant.tenantId, limit],
    )
  ).map(row => row.id);
