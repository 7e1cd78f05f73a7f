import type { AcceptedAnswer } from '../../domain/answers/answers.ts';
import { CANARY_TENANT_ID } from '../../domain/answers/ingestion.ts';
import { newUuid } from '../../domain/ids.ts';
import { type ApiKeyTimes, explainLateUse } from '../../domain/team/api-keys.ts';
import type { Storage } from '../database/orm.ts';
import { BY_KEY } from '../database/settings.ts';
import { unnest } from '../database/sql.ts';
import type { Transaction } from '../database/transaction.ts';
import { type TenantEvent, writeEvents } from '../events/events.ts';
import { type IndexedAnswer, indexAnswers } from '../search/search-index.ts';
import { findKeyTimes } from '../team/api-keys.ts';
import { type Conflict, keyOf, type Settled, upsertAnswers } from './answer-upserts.ts';
import { competing, placeAnswers, settlePlaces } from './card-periods.ts';
import { upsertCardRecords } from './card-records.ts';
import { changesByDeletion, changesBySyncs, STORED_ROW, type StoredRow, type StoredSync } from './counted-answers.ts';
import { applyLimits, completedQuestions, type Limits, type QuestionLimit, questionKeyOf } from './response-limits.ts';
import { countAnswers } from './results.ts';

/** A unit that is recorded once: a flush, or one answer of a flush that is recorded in parts. */
interface Recordable {
  flush: string;
  /** The flush of an answer that is recorded separately. */
  part_of?: string | undefined;
}

/** A flush as received from the queue. */
export interface Flush extends Recordable {
  answers: AcceptedAnswer[];
}

/** An isolated answer, encoded so that it is not parsed by accident. */
export interface EncodedAnswer extends Recordable {
  part_of: string;
  tenant_id: string;
  answer_id: string;
  replay_of?: string | undefined;
  /** The answer as base64 of its JSON. Encoded, not encrypted; the name is the queue payload's. */
  sealed: string;
}

/** Answers that the database refuses because of their content, with its message. */
export type Unstorable = ReadonlyMap<AcceptedAnswer, string>;

/** The outcome of a batch of answers. */
export interface RecordedCounts {
  stored: number;
  repeated: number;
  quarantined: number;
}

/** Maximum length of a quarantine entry's detail, in characters. */
const MAX_DETAIL = 1000;

/**
 * Records flushes in one transaction: answers, card records, quarantine, counts of results, and totals of tenants.
 *
 * A flush that was recorded before is ignored, so a job delivered twice changes neither rows nor totals. Answers of
 * deleted tenants are dropped and counted as repeated. Syncs of one id follow the rules of `compareSyncs`. `unstorable`
 * answers, and those sent after their key's end, go to the quarantine.
 */
export const recordAnswers = (storage: Storage, flushes: Flush[], unstorable: Unstorable = new Map()) =>
  storage.transaction(async (tx): Promise<RecordedCounts> => {
    const [recorded] = await Promise.all([markRecorded(tx, flushes), tx.query(`select ${BY_KEY}`)]);
    const arrived = recorded.flatMap(flush => flush.answers);
    const [{ answers, limits }, keys] = await Promise.all([
      findTenantsAndLimits(tx, arrived),
      findKeyTimes(tx, keyIdsOf(arrived)),
    ]);
    const { storable, refused } = separateRefused(answers, keys, unstorable);
    const settled = await upsertAnswers(tx, storable.map(competing));
    settled.conflicts.push(...refused);
    const { stored, conflicts } = settled;
    const synced = stored.map(({ answer }) => answer);
    const replayed = await removeReplayed(tx, settled);
    const [, removed, turns] = await Promise.all([
      indexWords(tx, stored), // before the removal, which deletes the words with the answers
      removeDeleted(tx, synced),
      placeAnswers(tx, stored),
      quarantine(tx, conflicts),
    ]);
    const { places, lost, gained } = await settlePlaces(tx, stored, turns);
    const over = await applyLimits(tx, limits, stored, places, removed);
    const changes = changesBySyncs(stored, { places, lost, gained, over });
    changes.push(...(await changesByDeletion(tx, removed)));
    const written = writeEvents(tx, answerEvents(stored, removed));
    await Promise.all([countAnswers(tx, changes), written, addToTotals(tx, settled, replayed)]);
    const repeated = settled.repeated.length + arrived.length - answers.length;
    return { stored: stored.length, repeated, quarantined: conflicts.length };
  });

const keyIdsOf = (answers: AcceptedAnswer[]): string[] => [...new Set(answers.flatMap(({ key_id }) => key_id ?? []))];

/** Returns why an accepted answer must not be stored: its key, or the secret, had ended when it was received. */
function explainKey(answer: AcceptedAnswer, keys: ReadonlyMap<string, ApiKeyTimes>): string | undefined {
  const key = answer.key_id === undefined ? undefined : keys.get(answer.key_id);
  return key && explainLateUse(key, new Date(answer.received_at), answer.key_overlap_until);
}

/** Separates the answers to store from those that go to the quarantine, with the reason. */
function separateRefused(answers: AcceptedAnswer[], keys: ReadonlyMap<string, ApiKeyTimes>, unstorable: Unstorable) {
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
 * Moves an answer that the worker cannot process to the quarantine, without decoding it.
 *
 * Only the database decodes it, so that content which killed a process does not do so again.
 */
export const quarantineEncoded = (storage: Storage, answer: EncodedAnswer, detail: string): Promise<RecordedCounts> =>
  storage.transaction(async tx => {
    const fresh = await withoutDeletedTenants(tx, await markRecorded(tx, [answer]));
    const isFresh = fresh.length > 0;
    const { tenant_id, answer_id, replay_of, sealed } = answer;
    if (isFresh && !replay_of) {
      const encodedDetail = Buffer.from(detail.replaceAll('\u0000', '').slice(0, MAX_DETAIL)).toString('base64');
      await tx.query(
        `insert into quarantined_answers
         select $1, $2, $3, 'unprocessable', convert_from(decode($4, 'base64'), 'UTF8'),
           convert_from(decode($5, 'base64'), 'UTF8'), clock_timestamp()`,
        [tenant_id, newUuid(), answer_id, encodedDetail, sealed],
      );
      await addCounts(tx, [{ tenant_id, stored: 0, repeated: 0, quarantined: 1 }]);
    }
    return { stored: 0, repeated: 0, quarantined: isFresh ? 1 : 0 };
  });

/**
 * Returns the items of existing tenants.
 *
 * Call it after inserting the marks: then erasing a deleted tenant waits for this transaction (`oldestOpenWrite`), so
 * that either this transaction has seen the deletion, or the erasure sees its rows.
 */
async function withoutDeletedTenants<A extends { tenant_id: string }>(tx: Transaction, answers: A[]): Promise<A[]> {
  if (answers.length === 0) return [];
  const tenants = [...new Set(answers.map(answer => answer.tenant_id))];
  const rows = await tx.query<{ id: string }>('select id from deleted_tenants where id = any($1::uuid[])', [tenants]);
  const deleted = new Set(rows.map(row => row.id));
  return deleted.size === 0 ? answers : answers.filter(answer => !deleted.has(answer.tenant_id));
}

/**
 * Returns the answers of existing tenants (as `withoutDeletedTenants`), and the limits of the questions that they complete.
 *
 * One statement for both, so that a batch without a limit costs no further one.
 */
async function findTenantsAndLimits(
  tx: Transaction,
  arrived: AcceptedAnswer[],
): Promise<{ answers: AcceptedAnswer[]; limits: Limits }> {
  const questions = completedQuestions(arrived);
  if (questions.length === 0) return { answers: await withoutDeletedTenants(tx, arrived), limits: new Map() };
  const rows = await tx.query<{ deleted: string } | ({ deleted: null } & QuestionLimit)>(
    `select id as deleted, null::uuid as tenant_id, null::uuid as question_id, null::int as max, null as per, null as timezone
     from deleted_tenants where id = any($1::uuid[])
     union all select null, * from limits_of($2, $3)`,
    [
      [...new Set(arrived.map(answer => answer.tenant_id))],
      questions.map(({ tenant_id }) => tenant_id),
      questions.map(({ question_id }) => question_id),
    ],
  );
  const deleted = new Set<string>();
  const limits = new Map<string, QuestionLimit>();
  for (const row of rows)
    if (row.deleted !== null) deleted.add(row.deleted);
    else limits.set(questionKeyOf(row), row);
  const answers = arrived.filter(answer => !deleted.has(answer.tenant_id));
  return { answers, limits };
}

/**
 * Inserts marks for items that were not recorded before, and returns these. Concurrent callers with the same items find
 * the marks.
 */
async function markRecorded<R extends Recordable>(tx: Transaction, recordables: R[]): Promise<R[]> {
  const closed = await findRecordedAsWhole(
    tx,
    recordables.flatMap(({ part_of }) => part_of ?? []),
  );
  const open = recordables.filter(({ part_of }) => !part_of || !closed.has(part_of));
  const fresh = await tx.query<{ id: string }>(
    `insert into recorded_flushes select id, clock_timestamp() from unnest($1::uuid[]) as id order by id
     on conflict do nothing returning id`,
    [open.map(({ flush }) => flush)],
  );
  const isFresh = new Set(fresh.map(row => row.id));
  return open.filter(({ flush }) => isFresh.delete(flush));
}

/** Returns which of these flushes were recorded as a whole. The others are recorded only in parts from now on. */
async function findRecordedAsWhole(tx: Transaction, flushes: string[]): Promise<Set<string>> {
  if (flushes.length === 0) return new Set();
  await tx.query(
    `insert into recorded_flushes select id, clock_timestamp(), true from unnest($1::uuid[]) as id order by id
     on conflict do nothing`,
    [flushes],
  );
  const rows = await tx.query<{ id: string }>(
    'select id from recorded_flushes where id = any($1::uuid[]) and not in_parts',
    [flushes],
  );
  return new Set(rows.map(row => row.id));
}

/** Returns the event of each stored sync, its strongest; without answers that were only seen, and canaries. */
function answerEvents(stored: readonly StoredSync[], removed: readonly StoredRow[]): TenantEvent[] {
  const gone = new Set(removed.map(keyOf));
  return stored.flatMap(({ answer, revisedFrom }) => {
    const { tenant_id: tenantId, id, state } = answer;
    if (state === 'seen' || tenantId === CANARY_TENANT_ID || gone.has(keyOf(answer))) return [];
    const isNew = revisedFrom === null || revisedFrom.state === 'seen';
    const type = state === 'completed' ? 'answer.completed' : isNew ? 'answer.stored' : 'answer.updated';
    return [{ tenantId, type, object: { type: 'answer', id } }];
  });
}

class Rehearsed extends Error {}

/** Tests whether the database accepts these answers, without storing them. Throws the data error if it does not. */
export async function rehearse(storage: Storage, answers: AcceptedAnswer[]): Promise<void> {
  try {
    await storage.transaction(async tx => {
      const { stored } = await upsertAnswers(tx, answers);
      await upsertCardRecords(tx, stored);
      throw new Rehearsed();
    });
  } catch (error) {
    if (!(error instanceof Rehearsed)) throw error;
  }
}

/** Indexes the words of stored answers; of several syncs of one answer the last. */
function indexWords(tx: Transaction, stored: readonly StoredSync[]): Promise<void> {
  const last = new Map<string, IndexedAnswer>();
  for (const { answer, revisedFrom } of stored) {
    const { tenant_id, id, comment, values } = answer;
    const key = keyOf(answer);
    const hadWords = revisedFrom?.written === true || last.get(key)?.hadWords === true;
    const first_received_at = revisedFrom ? undefined : answer.received_at;
    last.set(key, { tenant_id, id, comment, values, first_received_at, hadWords });
  }
  return indexAnswers(tx, last.values());
}

/** Removes answers that were deleted concurrently: a deleted id stays deleted. */
async function removeDeleted(tx: Transaction, stored: AcceptedAnswer[]): Promise<StoredRow[]> {
  if (stored.length === 0) return [];
  const wanted = unnest<AcceptedAnswer>(stored, { tenant_id: 'uuid', id: 'uuid' });
  // without it, the planner looks up all of them in `answers` first: a seventh of PostgreSQL's cost of storing
  return tx.query<StoredRow>(
    `with gone as materialized (select tenant_id, id from deleted_answers join ${wanted.sql} using (tenant_id, id))
     delete from answers using gone where answers.tenant_id = gone.tenant_id and answers.id = gone.id
     returning ${STORED_ROW}`,
    wanted.params,
  );
}

/** Deletes the quarantine entries whose replay was settled. Returns one replay for each that existed. */
async function removeReplayed(tx: Transaction, settled: Settled): Promise<Set<AcceptedAnswer>> {
  const replays = [...settled.stored.map(({ answer }) => answer), ...settled.repeated].filter(
    answer => answer.replay_of,
  );
  if (replays.length === 0) return new Set();
  const rows = replays.map(answer => ({ tenant_id: answer.tenant_id, id: answer.replay_of }));
  const wanted = unnest<(typeof rows)[number]>(rows, { tenant_id: 'uuid', id: 'uuid' });
  const removed = await tx.query<{ id: string }>(
    `delete from quarantined_answers entry using ${wanted.sql}
     where entry.tenant_id = incoming.tenant_id and entry.id = incoming.id returning entry.id`,
    wanted.params,
  );
  const isRemoved = new Set(removed.map(row => row.id));
  return new Set(replays.filter(answer => answer.replay_of && isRemoved.delete(answer.replay_of)));
}

/** Stores unstorable answers as text: the database accepts any text with JSON escapes. */
async function quarantine(tx: Transaction, conflicts: Conflict[]): Promise<void> {
  const rows = conflicts
    .filter(({ answer }) => !answer.replay_of) // a replay that fails again is already in the quarantine
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
  await tx.query(
    `insert into quarantined_answers select incoming.*, clock_timestamp() from ${incoming.sql}`,
    incoming.params,
  );
}

/** Adds to each tenant's totals. A replay that left the quarantine moves from one total to another. */
async function addToTotals(tx: Transaction, settled: Settled, replayed: Set<AcceptedAnswer>): Promise<void> {
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
    if (!replayed.has(answer)) return; // still in the quarantine, or deleted from it: not a new answer
    add(answer, total, 1);
    add(answer, 'quarantined', -1);
  };
  for (const { answer } of settled.stored) count(answer, 'stored');
  for (const answer of settled.repeated) count(answer, 'repeated');
  for (const { answer } of settled.conflicts) count(answer, 'quarantined');
  if (totals.size > 0) await addCounts(tx, [...totals.values()]);
}

async function addCounts(tx: Transaction, rows: ({ tenant_id: string } & RecordedCounts)[]): Promise<void> {
  const incoming = unnest<(typeof rows)[number]>(rows, {
    tenant_id: 'uuid',
    stored: 'bigint',
    repeated: 'bigint',
    quarantined: 'bigint',
  });
  await tx.query(
    `insert into ingestion_totals select tenant_id, stored, repeated, quarantined, 0 from ${incoming.sql} order by tenant_id
     on conflict (tenant_id) do update set
       stored = ingestion_totals.stored + excluded.stored,
       repeated = ingestion_totals.repeated + excluded.repeated,
       quarantined = ingestion_totals.quarantined + excluded.quarantined`,
    incoming.params,
  );
}
