import type { AcceptedAnswer } from '../domain/answers.ts';
import { asView, type Counted } from '../domain/counts.ts';
import { MAX_SCANNED } from '../domain/pages.ts';
import { hasAtMostAnswers } from './answers-of-identity.ts';
import { type CardKey, type CountedPlace, cardKeyOf } from './card-records.ts';
import { IN_ORDER } from './lists.ts';
import { COUNTED, type CountChange } from './results.ts';
import { unnest } from './sql.ts';
import type { Transaction } from './transaction.ts';

/** How a row of `answers` counts by itself, and whether it competes with other answers to its card. */
export interface CountedRow extends Counted {
  once_per_card: boolean;
}

/** A sync that was stored, with the row that it replaced; null for a new answer. */
export interface StoredSync {
  answer: AcceptedAnswer;
  revisedFrom: CountedRow | null;
}

/** An answer as it is, or was, in its table. */
export interface StoredRow extends CardKey {
  id: string;
  counted: CountedRow;
}

/** The columns of `StoredRow`. */
export const STORED_ROW = `answers.tenant_id, answers.id, answers.identity, answers.identity_verified,
  answers.question_id, ${COUNTED} as counted`;

/**
 * Whether the answer of a row is counted in the results; false while another one is counted for its card.
 *
 * Not `exists (…)`, which PostgreSQL may plan as a hash of all card records.
 */
export const IS_COUNTED = `(not answers.once_per_card or answers.state in ('seen', 'dismissed') or coalesce((
  select record.counted_answer_id from card_records as record
  where record.tenant_id = answers.tenant_id and record.identity = answers.identity
    and record.identity_verified = answers.identity_verified and record.question_id = answers.question_id
) = answers.id, false))`;

/** A row of results gains or loses an answer: with its value where it is counted, and as a view where it is not. */
function change(whose: CardKey, row: CountedRow, isCounted: boolean, by: 1 | -1): CountChange {
  const { tenant_id, question_id, identity_verified } = whose;
  const counted = isCounted || !row.once_per_card ? row : asView(row);
  return { answer: { tenant_id, question_id, identity_verified, ...counted }, by };
}

/** An answer of a card is counted from now on, or no longer. */
const changePlace = (row: StoredRow, isCounted: boolean): CountChange[] => [
  change(row, row.counted, !isCounted, -1),
  change(row, row.counted, isCounted, 1),
];

/**
 * What the results gain and lose by stored syncs, given which answer to each card is counted.
 *
 * `syncs` are in the order in which they were stored. An answer that lost its place to one of them is a view from then on.
 */
export async function changesBySyncs(
  session: Transaction,
  syncs: readonly StoredSync[],
  places: ReadonlyMap<string, CountedPlace>,
): Promise<CountChange[]> {
  const lost = await takePlaces(session, syncs, places);
  const changes = lost.flatMap(row => changePlace(row, false));
  const seen = new Set<string>();
  for (const { answer, revisedFrom } of syncs) {
    const { id } = answer;
    const key = answer.tenant_id + id;
    const place = places.get(cardKeyOf(answer));
    const countedBefore = seen.has(key) ? place?.after : place?.before; // between two syncs of a batch they cancel out
    seen.add(key);
    if (revisedFrom) changes.push(change(answer, revisedFrom, countedBefore === id, -1));
    changes.push(change(answer, countedRow(answer, revisedFrom?.day), place?.after === id, 1));
  }
  return changes;
}

/** How a sync counts; on the day of the first receipt, whichever revision it is. */
function countedRow(answer: AcceptedAnswer, day = answer.received_at.slice(0, 10)): CountedRow {
  const { question_version, state, values, comment, once_per_card = false } = answer;
  const value = values.main;
  const written = isWritten(comment) || isWritten(value) || isWritten((value as { other_text?: unknown })?.other_text);
  return { day, question_version, state, value, written, once_per_card };
}

const isWritten = (text: unknown): boolean => typeof text === 'string' && text !== '';

/**
 * Returns the stored answers that lose their place to an answer of this batch.
 *
 * One that has expired goes on counting, since it cannot be taken out of results that are fixed: it keeps its place for
 * good, and `places` is corrected.
 */
async function takePlaces(
  session: Transaction,
  syncs: readonly StoredSync[],
  places: ReadonlyMap<string, CountedPlace>,
): Promise<StoredRow[]> {
  const own = new Set(syncs.map(({ answer }) => answer.tenant_id + answer.id));
  const taken = [...places.values()].filter(
    ({ tenant_id, before, after }) => before !== null && before !== after && !own.has(tenant_id + before),
  );
  if (taken.length === 0) return [];
  const wanted = unnest<{ tenant_id: string; id: string }>(
    taken.map(({ tenant_id, before }) => ({ tenant_id, id: before as string })),
    { tenant_id: 'uuid', id: 'uuid' },
  );
  const rows = await session.query<StoredRow>(
    `select ${STORED_ROW} from answers join ${wanted.sql} on answers.tenant_id = incoming.tenant_id and answers.id = incoming.id`,
    wanted.params,
  );
  const found = new Set(rows.map(({ tenant_id, id }) => tenant_id + id));
  for (const place of taken)
    if (!found.has(place.tenant_id + place.before)) {
      await setPlace(session, place, { id: place.before as string, isFinal: true });
      place.after = place.before;
    }
  await touch(session, rows);
  return rows;
}

async function setPlace(
  session: Transaction,
  card: CardKey,
  counted: { id: string | null; isFinal: boolean },
): Promise<void> {
  await session.query(
    `update card_records set counted_answer_id = $5, counted_completed = $6
     where tenant_id = $1 and identity = $2 and identity_verified = $3 and question_id = $4`,
    [...keyParams(card), counted.id, counted.isFinal],
  );
}

const keyParams = ({ tenant_id, identity, identity_verified, question_id }: CardKey): unknown[] => [
  tenant_id,
  identity,
  identity_verified,
  question_id,
];

/**
 * Moves answers to the end of incremental reads, because `counted` has changed.
 *
 * A row that is locked is left alone: whoever holds it changes `updated_at` and then waits for the lock of the card, so
 * that a reader finds it after this commit.
 */
async function touch(session: Transaction, rows: readonly StoredRow[]): Promise<void> {
  if (rows.length === 0) return;
  const wanted = unnest<StoredRow>(rows, { tenant_id: 'uuid', id: 'uuid' });
  await session.query(
    `update answers set updated_at = clock_timestamp() from (
       select answers.tenant_id, answers.id from answers
       join ${wanted.sql} on answers.tenant_id = incoming.tenant_id and answers.id = incoming.id
       for update of answers skip locked
     ) as free
     where answers.tenant_id = free.tenant_id and answers.id = free.id`,
    wanted.params,
  );
}

/** Locks the card of an answer, and returns which of its answers is counted. */
export async function lockPlace(session: Transaction, card: CardKey): Promise<string | null> {
  const [record] = await session.query<{ counted_answer_id: string | null }>(
    `select counted_answer_id from card_records
     where tenant_id = $1 and identity = $2 and identity_verified = $3 and question_id = $4 for update`,
    keyParams(card),
  );
  return record?.counted_answer_id ?? null;
}

/**
 * What the results lose by deleted answers, and gain by those that are counted instead: the first `completed` of the
 * card that is left, or else the first `partial`, by their time of receipt.
 */
export async function changesByDeletion(session: Transaction, deleted: readonly StoredRow[]): Promise<CountChange[]> {
  const changes: CountChange[] = [];
  for (const row of deleted) {
    const isCounted = (await lockPlace(session, row)) === row.id;
    changes.push(change(row, row.counted, isCounted, -1));
    if (!isCounted) continue;
    const next = (await findFirst(session, row, 'completed')) ?? (await findFirst(session, row, 'partial'));
    await setPlace(session, row, { id: next?.id ?? null, isFinal: next?.counted.state === 'completed' });
    if (!next) continue;
    changes.push(...changePlace(next, true));
    await touch(session, [next]);
  }
  return changes;
}

/**
 * Reads all answers of the identity, or if it has very many, those of the question before the first that fits.
 *
 * Otherwise an identity with a hundred thousand answers to one card would cost the square of that when they are deleted
 * one by one.
 */
async function findFirst(
  session: Transaction,
  card: CardKey,
  state: 'completed' | 'partial',
): Promise<StoredRow | undefined> {
  const few = await hasAtMostAnswers(session, card.tenant_id, card.identity, MAX_SCANNED);
  if (!few) await session.query(IN_ORDER);
  const source = few ? '(select * from answers where tenant_id = $1 and identity = $2 offset 0) as answers' : 'answers';
  const [first] = await session.query<StoredRow>(
    `select ${STORED_ROW} from ${source}
     where tenant_id = $1 and identity = $2 and identity_verified = $3 and question_id = $4
       and once_per_card and state = $5
     order by received_at, id limit 1`,
    [...keyParams(card), state],
  );
  return first;
}
