import type { AcceptedAnswer } from '../domain/answers.ts';
import { type ApiKeyTimes, explainLateUse } from '../domain/api-keys.ts';
import { newUuid } from '../domain/ids.ts';
import { type Conflict, keyOf, type Settled, upsertAnswers } from './answer-upserts.ts';
import { findKeyTimes } from './api-keys.ts';
import { upsertCardRecords } from './card-records.ts';
import { changesByDeletion, changesBySyncs, STORED_ROW, type StoredRow, type StoredSync } from './counted-answers.ts';
import type { Storage } from './orm.ts';
import { countAnswers } from './results.ts';
import { indexAnswers, KEEP_WORDS } from './search-index.ts';
import { unnest } from './sql.ts';
import type { Session } from './transaction.ts';

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

/** The longest explanation that an entry of the quarantine keeps, in characters. */
const MAX_DETAIL = 1000;

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
