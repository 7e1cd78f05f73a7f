import { type AcceptedAnswer, type AnswerState, compareSyncs, type Rejection } from '../domain/answers.ts';
import { type ApiKeyTimes, explainLateUse } from '../domain/api-keys.ts';
import { newUuid } from '../domain/ids.ts';
import type { Page } from '../domain/pages.ts';
import { notFound, Problem } from '../domain/problem.ts';
import { findKeyTimes } from './api-keys.ts';
import { upsertCardRecords } from './card-records.ts';
import {
  type CountedRow,
  changesByDeletion,
  changesBySyncs,
  IS_COUNTED,
  lockPlace,
  STORED_ROW,
  type StoredRow,
  type StoredSync,
} from './counted-answers.ts';
import { createList, type List, readPage } from './lists.ts';
import type { Storage, TenantStorage } from './orm.ts';
import { COUNTED, countAnswers } from './results.ts';
import { ANSWER_LIMITS, findAnswers, type SearchableList, type SearchLimits, searchPage } from './search.ts';
import { indexAnswers, KEEP_WORDS } from './search-index.ts';
import { likeContains, unnest } from './sql.ts';
import type { Session } from './transaction.ts';

export interface AnswerRow {
  id: string;
  identity: string;
  identity_verified: boolean;
  card_id: string;
  question_id: string;
  question_version: number;
  revision: number;
  state: AnswerState;
  values: Record<string, unknown>;
  comment: string | null;
  displayed_at: Date | null;
  answered_at: Date | null;
  duration_ms: number | null;
  metadata: Record<string, unknown>;
  clock_skew_ms: string | null;
  tags: string[];
  /** False while another answer to the same card is counted in the results. */
  counted: boolean;
  received_at: Date;
  stored_at: Date;
  updated_at: Date;
}

const COLUMNS = `id, identity, identity_verified, card_id, question_id, question_version, revision, state, "values", comment, displayed_at, answered_at, duration_ms, metadata, clock_skew_ms, tags, received_at, stored_at, updated_at, ${IS_COUNTED} as counted`;

/* ——— the worker's side: what became durable in the queue becomes rows ——— */

/** What is recorded once: a flush of the queue, or one answer of a flush that is recorded in parts. */
interface Recordable {
  flush: string;
  /** The flush that the answer came with, where it is recorded by itself. */
  part_of?: string | undefined;
}

/** A flush of the queue as the worker received it. */
export interface Flush extends Recordable {
  answers: AcceptedAnswer[];
}

/** An answer that is dealt with by itself, sealed so that nothing reads it by accident. */
export interface SealedAnswer extends Recordable {
  part_of: string;
  tenant_id: string;
  answer_id: string;
  replay_of?: string | undefined;
  /** The answer as JSON in base64. */
  sealed: string;
}

/** Answers that the database refuses for what they are, with its reason. */
export type Unstorable = ReadonlyMap<AcceptedAnswer, string>;

/** What became of the answers of a batch. */
export interface RecordedCounts {
  stored: number;
  repeated: number;
  quarantined: number;
}

interface Conflict {
  answer: AcceptedAnswer;
  reason: Rejection | 'unstorable' | 'key-revoked';
  detail: string;
}

interface Settled {
  /** In the order in which they arrived. */
  stored: StoredSync[];
  repeated: AcceptedAnswer[];
  conflicts: Conflict[];
}

const STATEMENT_COLUMNS = {
  tenant_id: 'uuid',
  id: 'uuid',
  identity: 'text',
  identity_verified: 'boolean',
  card_id: 'uuid',
  question_id: 'uuid',
  question_version: 'int',
  revision: 'int',
  state: 'text',
  values: 'jsonb',
  comment: 'text',
  displayed_at: 'timestamptz',
  answered_at: 'timestamptz',
  duration_ms: 'int',
  metadata: 'jsonb',
  content_hash: 'text',
  clock_skew_ms: 'bigint',
  once_per_card: 'boolean',
  received_at: 'timestamptz',
} as const;

/** The longest explanation that an entry of the quarantine keeps, in characters. */
const MAX_DETAIL = 1000;

const INSERTED = Object.keys(STATEMENT_COLUMNS)
  .map(name => `"${name}"`)
  .join(', ');
const SELECTED = INSERTED.replace('"once_per_card"', 'coalesce(once_per_card, false)');
const OVERWRITTEN = [
  'question_version',
  'revision',
  'state',
  '"values"',
  'comment',
  'displayed_at',
  'answered_at',
  'duration_ms',
  'metadata',
  'content_hash',
  'clock_skew_ms',
  'once_per_card',
  'stored_at',
  'updated_at',
].map(name => `${name} = excluded.${name}`);
/** The sync before counts no longer; `returning` gives what it counted as, which PostgreSQL before 18 tells no other way. */
const SUPERSEDED = `revised_from = ${COUNTED}`;

/**
 * Records flushes in one transaction: answers, what the cards need to know, the quarantine, what the questions' results
 * count, and the tenants' totals.
 *
 * A flush that was recorded before counts for nothing, so a job delivered twice changes neither rows nor totals. Answers
 * of a tenant that was deleted leave nothing, and are given as repeated like any that was deleted since. The
 * rules between syncs of one id are those of `compareSyncs`. `unstorable` answers go to the quarantine, and so do those
 * that a key sent after its end.
 */
export const recordAnswers = (storage: Storage, flushes: Flush[], unstorable: Unstorable = new Map()) =>
  storage.transaction(async (session): Promise<RecordedCounts> => {
    const [recorded] = await Promise.all([markRecorded(session, flushes), session.query(`select ${KEEP_WORDS}`)]);
    const arrived = recorded.flatMap(flush => flush.answers);
    const [answers, keys] = await Promise.all([
      withoutDeletedTenants(session, arrived),
      findKeyTimes(session, keyIdsOf(arrived)),
    ]);
    const { storable, refused } = sortOut(answers, keys, unstorable);
    const settled = await upsertAnswers(session, storable);
    settled.conflicts.push(...refused);
    const { stored, conflicts } = settled;
    const synced = stored.map(({ answer }) => answer);
    const replayed = await removeReplayed(session, settled);
    const [, removed, places] = await Promise.all([
      indexWords(session, stored), // before the removal, which takes the words with the answers
      removeDeleted(session, synced),
      upsertCardRecords(session, synced),
      quarantine(session, conflicts),
    ]);
    const changes = await changesBySyncs(session, stored, places);
    changes.push(...(await changesByDeletion(session, removed)));
    await Promise.all([countAnswers(session, changes), addToTotals(session, settled, replayed)]);
    const repeated = settled.repeated.length + arrived.length - answers.length;
    return { stored: stored.length, repeated, quarantined: conflicts.length };
  });

const keyIdsOf = (answers: AcceptedAnswer[]): string[] => [...new Set(answers.flatMap(({ key_id }) => key_id ?? []))];

/** Why an answer must not be stored though it was accepted: its key, or the secret, had ended when it was received. */
function explainKey(answer: AcceptedAnswer, keys: ReadonlyMap<string, ApiKeyTimes>): string | undefined {
  const key = answer.key_id === undefined ? undefined : keys.get(answer.key_id);
  return key && explainLateUse(key, new Date(answer.received_at), answer.key_overlap_until);
}

/** Separates the answers to store from those that go to the quarantine, with the reason. */
function sortOut(answers: AcceptedAnswer[], keys: ReadonlyMap<string, ApiKeyTimes>, unstorable: Unstorable) {
  const storable: AcceptedAnswer[] = [];
  const refused: Conflict[] = [];
  for (const answer of answers) {
    const late = explainKey(answer, keys);
    const unfit = unstorable.get(answer);
    if (late !== undefined) refused.push({ answer, reason: 'key-revoked', detail: late });
    else if (unfit !== undefined) refused.push({ answer, reason: 'unstorable', detail: unfit });
    else storable.push(answer);
  }
  return { storable, refused };
}

/**
 * Puts an answer into the quarantine that the worker fails at, without opening it.
 *
 * It travels in base64 and is opened by the database, so that what killed a process by its content does not do so again.
 */
export const quarantineSealed = (storage: Storage, answer: SealedAnswer, detail: string): Promise<RecordedCounts> =>
  storage.transaction(async session => {
    const fresh = await withoutDeletedTenants(session, await markRecorded(session, [answer]));
    const isFresh = fresh.length > 0;
    const { tenant_id, answer_id, replay_of, sealed } = answer;
    if (isFresh && !replay_of) {
      const told = Buffer.from(detail.replaceAll('\u0000', '').slice(0, MAX_DETAIL)).toString('base64');
      await session.query(
        `insert into quarantined_answers
         select $1, $2, $3, 'unprocessable', convert_from(decode($4, 'base64'), 'UTF8'),
           convert_from(decode($5, 'base64'), 'UTF8'), clock_timestamp()`,
        [tenant_id, newUuid(), answer_id, told, sealed],
      );
      await addCounts(session, [{ tenant_id, stored: 0, repeated: 0, quarantined: 1 }]);
    }
    return { stored: 0, repeated: 0, quarantined: isFresh ? 1 : 0 };
  });

/**
 * What belongs to tenants that are there.
 *
 * To be called after the marks: they make the transaction one that whoever erases a deleted tenant waits for
 * (`oldestOpenWrite`), so that it has either seen the deletion, or is seen by it.
 */
async function withoutDeletedTenants<A extends { tenant_id: string }>(session: Session, answers: A[]): Promise<A[]> {
  if (answers.length === 0) return [];
  const tenants = [...new Set(answers.map(answer => answer.tenant_id))];
  const rows = await session.query<{ id: string }>('select id from deleted_tenants where id = any($1::uuid[])', [
    tenants,
  ]);
  const deleted = new Set(rows.map(row => row.id));
  return deleted.size === 0 ? answers : answers.filter(answer => !deleted.has(answer.tenant_id));
}

/** Marks what was not recorded before, and gives it back: whoever comes later with the same finds the marks. */
async function markRecorded<R extends Recordable>(session: Session, recordables: R[]): Promise<R[]> {
  const closed = await findRecordedWhole(
    session,
    recordables.flatMap(({ part_of }) => part_of ?? []),
  );
  const open = recordables.filter(({ part_of }) => !part_of || !closed.has(part_of));
  const fresh = await session.query<{ id: string }>(
    `insert into recorded_flushes select id, clock_timestamp() from unnest($1::uuid[]) as id order by id
     on conflict do nothing returning id`,
    [open.map(({ flush }) => flush)],
  );
  const isFresh = new Set(fresh.map(row => row.id));
  return open.filter(({ flush }) => isFresh.delete(flush));
}

/** Which of these flushes were recorded whole. The others are from now on recorded in parts, and never whole. */
async function findRecordedWhole(session: Session, flushes: string[]): Promise<Set<string>> {
  if (flushes.length === 0) return new Set();
  await session.query(
    `insert into recorded_flushes select id, clock_timestamp(), true from unnest($1::uuid[]) as id order by id
     on conflict do nothing`,
    [flushes],
  );
  const whole = await session.query<{ id: string }>(
    'select id from recorded_flushes where id = any($1::uuid[]) and not in_parts',
    [flushes],
  );
  return new Set(whole.map(row => row.id));
}

class Rehearsed extends Error {}

/** Whether the database would take these answers; nothing is kept. Throws the data fault that it would not. */
export async function rehearse(storage: Storage, answers: AcceptedAnswer[]): Promise<void> {
  try {
    await storage.transaction(async session => {
      const { stored } = await upsertAnswers(session, answers);
      await upsertCardRecords(
        session,
        stored.map(({ answer }) => answer),
      );
      throw new Rehearsed();
    });
  } catch (error) {
    if (!(error instanceof Rehearsed)) throw error;
  }
}

/** Syncs of one id take turns, each in a statement of its own, so that a batch ends as its syncs one by one would. */
function inTurns(answers: AcceptedAnswer[]): AcceptedAnswer[][] {
  const turns: AcceptedAnswer[][] = [];
  const taken = new Map<string, number>();
  for (const answer of answers) {
    const turn = taken.get(answer.id) ?? 0;
    taken.set(answer.id, turn + 1);
    const inThatTurn = turns[turn];
    if (inThatTurn) inThatTurn.push(answer);
    else turns.push([answer]);
  }
  return turns;
}

async function upsertAnswers(session: Session, answers: AcceptedAnswer[]): Promise<Settled> {
  const settled: Settled = { stored: [], repeated: [], conflicts: [] };
  const turns = inTurns(answers);
  for (const turn of turns) await upsertTurn(session, turn, settled);
  if (turns.length > 1) sortByArrival(settled.stored, answers);
  return settled;
}

function sortByArrival(stored: StoredSync[], arrived: readonly AcceptedAnswer[]): void {
  const places = new Map(arrived.map((answer, place) => [answer, place]));
  const placeOf = ({ answer }: StoredSync) => places.get(answer) as number;
  stored.sort((one, other) => placeOf(one) - placeOf(other));
}

const keyOf = (row: { tenant_id: string; id: string }): string => `${row.tenant_id}${row.id}`;

async function upsertTurn(session: Session, answers: AcceptedAnswer[], settled: Settled): Promise<void> {
  const revisedFrom = await writeTurn(session, answers);
  const others: AcceptedAnswer[] = [];
  for (const answer of answers) {
    const revised = revisedFrom(answer);
    if (revised === undefined) others.push(answer);
    else settled.stored.push({ answer, revisedFrom: revised });
  }
  if (others.length > 0) await settleOthers(session, others, settled);
}

/** How many rows were written, and one of these rows; none of them where there is nothing to say of any. */
type Written = { count: number } & (
  | { tenant_id: string; id: string; revised_from: CountedRow | null }
  | { tenant_id: null }
);

/**
 * Writes answers as rows, and tells of each what it counted as before: nothing (null) when it is new, undefined when it
 * changed no row.
 *
 * Nearly always all of them are new. Then their number says so, which spares PostgreSQL and the worker a reply for each.
 */
async function writeTurn(session: Session, answers: AcceptedAnswer[]) {
  const incoming = unnest<AcceptedAnswer>(answers, STATEMENT_COLUMNS);
  const rows = await session.query<Written>(
    `with written as (
       insert into answers (${INSERTED}, tags, stored_at, updated_at)
       select ${SELECTED}, '{}', clock_timestamp(), clock_timestamp() from ${incoming.sql}
       where not exists (select from deleted_answers gone where gone.tenant_id = incoming.tenant_id and gone.id = incoming.id)
       order by tenant_id, id
       on conflict (tenant_id, id) do update set ${OVERWRITTEN.join(', ')}, ${SUPERSEDED}
       where answers.revision < excluded.revision and answers.state <> 'completed'
         and (answers.identity, answers.identity_verified, answers.card_id, answers.question_id)
           = (excluded.identity, excluded.identity_verified, excluded.card_id, excluded.question_id)
       returning tenant_id, id, revised_from
     )
     select total.count, tenant_id, id, revised_from
     from (select count(*)::int as count from written) as total
     left join written on revised_from is not null or total.count < $${incoming.params.length + 1}`,
    [...incoming.params, answers.length],
  );
  const told = new Map<string, CountedRow | null>();
  for (const row of rows) if (row.tenant_id !== null) told.set(keyOf(row), row.revised_from);
  const untold = rows[0]?.count === answers.length ? null : undefined;
  if (told.size === 0) return () => untold;
  return (answer: AcceptedAnswer): CountedRow | null | undefined => {
    const revisedFrom = told.get(keyOf(answer));
    return revisedFrom === undefined ? untold : revisedFrom;
  };
}

/** What became of the answers that changed no row: known already, deleted since, or at odds with what is stored. */
async function settleOthers(session: Session, others: AcceptedAnswer[], settled: Settled): Promise<void> {
  const wanted = unnest<AcceptedAnswer>(others, { tenant_id: 'uuid', id: 'uuid' });
  type Known = Omit<AcceptedAnswer, 'values'>;
  const rows = await session.query<Known>(
    `select tenant_id, id, identity, identity_verified, card_id, question_id, revision, state, content_hash
     from answers join ${wanted.sql} using (tenant_id, id)`,
    wanted.params,
  );
  const known = new Map(rows.map(row => [keyOf(row), row]));
  for (const answer of others) {
    const row = known.get(keyOf(answer));
    const comparison = row ? compareSyncs(row, answer) : 'superseded';
    if (comparison === 'newer')
      throw new Problem('database-unavailable', 'An answer was changed in the same moment; the batch is tried again.', {
        retryAfterSeconds: 1,
      });
    if (comparison !== 'revision-conflict') settled.repeated.push(answer);
    else
      settled.conflicts.push({
        answer,
        reason: comparison,
        detail: `at odds with revision ${row?.revision} as stored`,
      });
  }
}

/** Writes the words of what was stored; of several syncs of one answer those of the last. */
function indexWords(session: Session, stored: readonly StoredSync[]): Promise<void> {
  const last = new Map(stored.map(({ answer }) => [keyOf(answer), answer]));
  const hadText = new Set(stored.filter(({ revisedFrom }) => revisedFrom?.written).map(({ answer }) => keyOf(answer)));
  return indexAnswers(session, last.values(), answer => hadText.has(keyOf(answer)));
}

/** Undoes what a deletion in the same moment could not see: a deleted id stays deleted. */
async function removeDeleted(session: Session, stored: AcceptedAnswer[]): Promise<StoredRow[]> {
  if (stored.length === 0) return [];
  const wanted = unnest<AcceptedAnswer>(stored, { tenant_id: 'uuid', id: 'uuid' });
  // by itself the planner would look for all of them in `answers` first: a seventh of what storing costs PostgreSQL
  return session.query<StoredRow>(
    `with gone as materialized (select tenant_id, id from deleted_answers join ${wanted.sql} using (tenant_id, id))
     delete from answers using gone where answers.tenant_id = gone.tenant_id and answers.id = gone.id
     returning ${STORED_ROW}`,
    wanted.params,
  );
}

/** Removes the quarantine entries whose replay was settled, and gives back one replay of each that was still there. */
async function removeReplayed(session: Session, settled: Settled): Promise<Set<AcceptedAnswer>> {
  const replays = [...settled.stored.map(({ answer }) => answer), ...settled.repeated].filter(
    answer => answer.replay_of,
  );
  if (replays.length === 0) return new Set();
  const rows = replays.map(answer => ({ tenant_id: answer.tenant_id, id: answer.replay_of }));
  const wanted = unnest<(typeof rows)[number]>(rows, { tenant_id: 'uuid', id: 'uuid' });
  const removed = await session.query<{ id: string }>(
    `delete from quarantined_answers entry using ${wanted.sql}
     where entry.tenant_id = incoming.tenant_id and entry.id = incoming.id returning entry.id`,
    wanted.params,
  );
  const isRemoved = new Set(removed.map(row => row.id));
  return new Set(replays.filter(answer => answer.replay_of && isRemoved.delete(answer.replay_of)));
}

/** Keeps what could not be stored, as text: the database takes any text that JSON can escape. */
async function quarantine(session: Session, conflicts: Conflict[]): Promise<void> {
  const rows = conflicts
    .filter(({ answer }) => !answer.replay_of) // a replay that fails again is in the quarantine already
    .map(({ answer, reason, detail }) => ({
      tenant_id: answer.tenant_id,
      id: newUuid(),
      answer_id: answer.id,
      reason,
      detail,
      payload: JSON.stringify(answer),
    }));
  if (rows.length === 0) return;
  const incoming = unnest<(typeof rows)[number]>(rows, {
    tenant_id: 'uuid',
    id: 'uuid',
    answer_id: 'uuid',
    reason: 'text',
    detail: 'text',
    payload: 'text',
  });
  await session.query(
    `insert into quarantined_answers select incoming.*, clock_timestamp() from ${incoming.sql}`,
    incoming.params,
  );
}

/** Adds to each tenant's totals; a replay that left the quarantine moves from one total to another. */
async function addToTotals(session: Session, settled: Settled, replayed: Set<AcceptedAnswer>): Promise<void> {
  const totals = new Map<string, { tenant_id: string } & RecordedCounts>();
  const add = (answer: AcceptedAnswer, total: keyof RecordedCounts, by: number) => {
    const entry = totals.get(answer.tenant_id) ?? {
      tenant_id: answer.tenant_id,
      stored: 0,
      repeated: 0,
      quarantined: 0,
    };
    entry[total] += by;
    totals.set(answer.tenant_id, entry);
  };
  const count = (answer: AcceptedAnswer, total: keyof RecordedCounts) => {
    if (!answer.replay_of) return add(answer, total, 1);
    if (!replayed.has(answer)) return; // still in the quarantine, or gone from it: nothing was accepted anew
    add(answer, total, 1);
    add(answer, 'quarantined', -1);
  };
  for (const { answer } of settled.stored) count(answer, 'stored');
  for (const answer of settled.repeated) count(answer, 'repeated');
  for (const { answer } of settled.conflicts) count(answer, 'quarantined');
  if (totals.size > 0) await addCounts(session, [...totals.values()]);
}

async function addCounts(session: Session, rows: ({ tenant_id: string } & RecordedCounts)[]): Promise<void> {
  const incoming = unnest<(typeof rows)[number]>(rows, {
    tenant_id: 'uuid',
    stored: 'bigint',
    repeated: 'bigint',
    quarantined: 'bigint',
  });
  await session.query(
    `insert into ingestion_totals select tenant_id, stored, repeated, quarantined, 0 from ${incoming.sql} order by tenant_id
     on conflict (tenant_id) do update set
       stored = ingestion_totals.stored + excluded.stored,
       repeated = ingestion_totals.repeated + excluded.repeated,
       quarantined = ingestion_totals.quarantined + excluded.quarantined`,
    incoming.params,
  );
}

/* ——— the API's side: what is stored is read, labelled and deleted ——— */

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
  state?: AnswerState | undefined;
  identity?: string | undefined;
  verified?: boolean | undefined;
  /** Of the question. */
  version?: number | undefined;
  tag?: string | undefined;
  /** Whether the user wrote something: a comment, a text, or the words of "other". */
  written?: true | undefined;
  /** Words, and beginnings of words, of what the user wrote; all of them are in it. */
  q?: string | undefined;
  /** Changed at or after, and before the oldest write that is still open: oldest change first. */
  updated?: { since: Date; before: Date } | undefined;
}

/** Answers, newest received first; with `updated` in the order of their last change. */
export const listAnswers = (
  tenant: TenantStorage,
  filter: AnswerFilter,
  limit: number,
  after: string[] | null,
  limits = ANSWER_LIMITS,
): Promise<Page<AnswerRow>> =>
  filter.q === undefined
    ? readPage(tenant, answerList(tenant, filter), limit, after, limits.lookAt)
    : searchPage(tenant, searchableAnswers(tenant, filter, limits), filter.q, limit, after);

function answerList(tenant: TenantStorage, filter: AnswerFilter): List<AnswerRow> {
  const column = filter.updated ? 'updated_at' : 'received_at';
  const list = createList<AnswerRow>(tenant, 'answers', COLUMNS, { column, descending: !filter.updated });
  const { access, filters } = list;
  const indexed = indexedFilter(filter);
  const where = (name: keyof AnswerFilter) => (name === indexed ? access : filters);
  if (filter.updated) access.and('updated_at >= $ and updated_at < $', filter.updated.since, filter.updated.before);
  if (filter.identity !== undefined) where('identity').and('identity = $', filter.identity);
  if (filter.question_id) where('question_id').and('question_id = $', filter.question_id);
  if (indexed === 'tag') access.and("tags <> '{}'"); // names the index of the few
  if (filter.tag) filters.and('$ = any(tags)', filter.tag);
  if (filter.state) filters.and('state = $', filter.state);
  if (filter.verified !== undefined) filters.and('identity_verified = $', filter.verified);
  if (filter.version !== undefined) filters.and('question_version = $', filter.version);
  if (filter.written) filters.and('written_text(comment, "values") is not null');
  return list;
}

/** The filter with an index in the order of the list: of several the one that leaves the fewest rows. */
function indexedFilter({ updated, identity, tag, question_id }: AnswerFilter): keyof AnswerFilter | undefined {
  if (updated) return undefined;
  if (identity !== undefined) return 'identity';
  if (tag) return 'tag';
  return question_id ? 'question_id' : undefined;
}

const searchableAnswers = (
  tenant: TenantStorage,
  filter: AnswerFilter,
  limits: SearchLimits,
): SearchableList<AnswerRow> => ({
  list: () => answerList(tenant, filter),
  narrow: filter.updated !== undefined || filter.identity !== undefined || filter.tag !== undefined,
  kinds: ['answer'],
  limits,
  matches: `(select words @@ $::tsquery from answer_words where answer_words.tenant_id = answers.tenant_id
    and answer_words.received_at = answers.received_at and answer_words.id = answers.id)`,
  filterUnindexed: async ({ filters }, search) =>
    filters.and('written_text(comment, "values") ilike all ($::text[])', search.trim().split(/\s+/).map(likeContains)),
  find: (terms, after) => findAnswers(tenant, terms, after, limits.found),
});

/** Puts labels on an answer. `check` throws to leave it as it is. */
export const tagAnswer = (
  tenant: TenantStorage,
  id: string,
  tags: string[],
  check: (answer: AnswerRow) => void,
): Promise<AnswerRow> =>
  tenant.transaction(async session => {
    const answer = await lockAnswer(session, tenant, id);
    check(answer);
    await lockPlace(session, { tenant_id: tenant.tenantId, ...answer }); // see `touch` in counted-answers.ts
    const rows = await session.query<AnswerRow>(
      `update answers set tags = $3, updated_at = clock_timestamp() where tenant_id = $1 and id = $2 returning ${COLUMNS}`,
      [tenant.tenantId, id, tags],
    );
    return rows[0] as AnswerRow;
  });

/**
 * Deletes an answer, and takes it out of its question's results; its id stays taken. `check` throws to keep it.
 *
 * If it was the one of its card that is counted, the next one is counted instead.
 */
export const deleteAnswer = (tenant: TenantStorage, id: string, check: (answer: AnswerRow) => void): Promise<void> =>
  tenant.transaction(async session => {
    check(await lockAnswer(session, tenant, id));
    await session.query('insert into deleted_answers values ($1, $2, clock_timestamp()) on conflict do nothing', [
      tenant.tenantId,
      id,
    ]);
    const removed = await session.query<StoredRow>(
      `delete from answers where tenant_id = $1 and id = $2 returning ${STORED_ROW}`,
      [tenant.tenantId, id],
    );
    await countAnswers(session, await changesByDeletion(session, removed));
  });

/** Whether an answer is stored. */
export const hasAnswer = async (tenant: TenantStorage, id: string): Promise<boolean> =>
  (await tenant.query('select from answers where tenant_id = $1 and id = $2', [tenant.tenantId, id])).length > 0;

/** Removes a canary, and those before it that came too late to be found. Their ids do not stay taken. */
export const removeCanaries = (canaries: TenantStorage, id: string): Promise<unknown> =>
  canaries.query("delete from answers where tenant_id = $1 and (id = $2 or received_at < now() - interval '1 hour')", [
    canaries.tenantId,
    id,
  ]);

async function lockAnswer(session: Session, tenant: TenantStorage, id: string): Promise<AnswerRow> {
  const rows = await session.query<AnswerRow>(
    `select ${COLUMNS} from answers where tenant_id = $1 and id = $2 for update`,
    [tenant.tenantId, id],
  );
  if (!rows[0]) throw notFound('answer');
  return rows[0];
}

/** The ids that the team deleted last, for the API's memory: it refuses at once what the worker would drop. */
export const listDeletedAnswers = async (tenant: TenantStorage, limit: number): Promise<string[]> =>
  (
    await tenant.query<{ id: string }>(
      'select id from deleted_answers where tenant_id = $1 and not expired order by deleted_at desc limit $2',
      [tenant.tenantId, limit],
    )
  ).map(row => row.id);
