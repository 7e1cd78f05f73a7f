import { type AcceptedAnswer, isAnswered } from '../../domain/answers/answers.ts';
import { asView, type Counted, hasText } from '../../domain/answers/counts.ts';
import { MAX_SCANNED } from '../../domain/pages.ts';
import { startReadingInOrder } from '../database/lists.ts';
import { unnest } from '../database/sql.ts';
import type { Transaction } from '../database/transaction.ts';
import { hasAtMostAnswers } from './answers-of-identity.ts';
import { type CardKey, type CountedPlace, cardKeyOf } from './card-records.ts';
import { COUNTED, type CountChange } from './counted-columns.ts';

/** The contribution of a row of `answers`, and whether it competes with other answers to its card. */
export interface CountedRow extends Counted {
  once_per_card: boolean;
  /** Beyond the question's limit, and so a view. Absent from rows that the previous version has replaced. */
  over_quota?: boolean | undefined;
}

/** A stored sync, with the row that it replaced; null for a new answer. */
export interface StoredSync {
  answer: AcceptedAnswer;
  revisedFrom: CountedRow | null;
}

/** An answer as it is, or was, stored. */
export interface StoredRow extends CardKey {
  id: string;
  counted: CountedRow;
}

/** The columns of `StoredRow`. */
export const STORED_ROW = `answers.tenant_id, answers.id, answers.identity, answers.identity_verified,
  answers.question_id, ${COUNTED} as counted`;

/** A change of the results by one answer: with its value if it is counted, otherwise as a view. */
function change(whose: CardKey, row: CountedRow, isCounted: boolean, by: 1 | -1): CountChange {
  const { tenant_id, question_id, identity_verified } = whose;
  const counted = !row.over_quota && (isCounted || !row.once_per_card) ? row : asView(row);
  return { answer: { tenant_id, question_id, identity_verified, ...counted }, by };
}

/** The changes when a card's answer starts or stops to be counted. */
const changePlace = (row: StoredRow, isCounted: boolean): CountChange[] => [
  change(row, row.counted, !isCounted, -1),
  change(row, row.counted, isCounted, 1),
];

/** The outcome of a batch for the results. */
interface Verdicts {
  /** The counted answer of each card. */
  places: ReadonlyMap<string, CountedPlace>;
  /** Stored answers that were replaced (`takePlaces`). */
  lost: readonly StoredRow[];
  /** Stored answers that are counted instead of an emptied one (`passOnPlaces`). */
  gained: readonly StoredRow[];
  /** Answers beyond the limit of their question, by `keyOf`. */
  over: ReadonlySet<string>;
}

/**
 * Returns the changes of the results by stored syncs.
 *
 * `syncs` are in the order in which they were stored. An answer replaced by one of them becomes a view.
 */
export function changesBySyncs(syncs: readonly StoredSync[], { places, lost, gained, over }: Verdicts): CountChange[] {
  const changes = [...lost.flatMap(row => changePlace(row, false)), ...gained.flatMap(row => changePlace(row, true))];
  const seen = new Set<string>();
  for (const { answer, revisedFrom } of syncs) {
    const { id } = answer;
    const key = answer.tenant_id + id;
    const place = places.get(cardKeyOf(answer));
    const countedBefore = seen.has(key) ? place?.after : place?.before; // in between, the syncs of a batch cancel out
    seen.add(key);
    if (revisedFrom) changes.push(change(answer, revisedFrom, countedBefore === id, -1));
    const row = { ...countedRow(answer, revisedFrom?.day), over_quota: over.has(key) };
    changes.push(change(answer, row, place?.after === id, 1));
  }
  return changes;
}

/** The contribution of a sync, on the day of the first receipt for any revision. */
function countedRow(answer: AcceptedAnswer, day = answer.received_at.slice(0, 10)): CountedRow {
  const { question_version, state, values, comment, once_per_card = false } = answer;
  const written = hasText(comment) || Object.values(values).some(hasText);
  return { day, question_version, state, value: values.main, written, values, once_per_card };
}

/**
 * Returns the stored answers replaced by an answer of this batch.
 *
 * An expired answer cannot be subtracted from results that are fixed: it stays the counted one permanently, and
 * `places` is corrected.
 */
export async function takePlaces(
  tx: Transaction,
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
  const rows = await tx.query<StoredRow>(
    `select ${STORED_ROW} from answers join ${wanted.sql} on answers.tenant_id = incoming.tenant_id and answers.id = incoming.id`,
    wanted.params,
  );
  const found = new Set(rows.map(({ tenant_id, id }) => tenant_id + id));
  for (const place of taken)
    if (!found.has(place.tenant_id + place.before)) {
      await setPlace(tx, place, { id: place.before as string, isFinal: true });
      place.after = place.before;
    }
  await touch(tx, rows);
  return rows;
}

/**
 * Passes on the places of answers that are empty after their last revision in this batch: the user has removed the value.
 * Otherwise the place would be lost to the user's other `partial` answers. Corrects `places`, and returns the stored
 * answers that are counted from now on.
 */
export async function passOnPlaces(
  tx: Transaction,
  syncs: readonly StoredSync[],
  places: ReadonlyMap<string, CountedPlace>,
): Promise<StoredRow[]> {
  const last = new Map(syncs.map(({ answer }) => [answer.tenant_id + answer.id, answer]));
  const gained: StoredRow[] = [];
  for (const place of places.values()) {
    const holder = place.after === null ? undefined : last.get(place.tenant_id + place.after);
    if (!holder || isAnswered(holder.state)) continue;
    const next = await countNext(tx, place);
    place.after = next?.id ?? null;
    if (next && !last.has(next.tenant_id + next.id)) gained.push(next);
  }
  return gained;
}

async function setPlace(
  tx: Transaction,
  card: CardKey,
  counted: { id: string | null; isFinal: boolean },
): Promise<void> {
  await tx.query(
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
 * Locked rows are skipped: the transaction that locks one changes `updated_at` and then waits for the lock of the card,
 * so that a reader finds it after this commit.
 */
async function touch(tx: Transaction, rows: readonly StoredRow[]): Promise<void> {
  if (rows.length === 0) return;
  const wanted = unnest<StoredRow>(rows, { tenant_id: 'uuid', id: 'uuid' });
  await tx.query(
    `update answers set updated_at = clock_timestamp() from (
       select answers.tenant_id, answers.id from answers
       join ${wanted.sql} on answers.tenant_id = incoming.tenant_id and answers.id = incoming.id
       for update of answers skip locked
     ) as free
     where answers.tenant_id = free.tenant_id and answers.id = free.id`,
    wanted.params,
  );
}

/** Locks the card of an answer, and returns its counted answer. */
export async function lockPlace(tx: Transaction, card: CardKey): Promise<string | null> {
  const [record] = await tx.query<{ counted_answer_id: string | null }>(
    `select counted_answer_id from card_records
     where tenant_id = $1 and identity = $2 and identity_verified = $3 and question_id = $4 for update`,
    keyParams(card),
  );
  return record?.counted_answer_id ?? null;
}

/** Removes the value of a deleted answer from its card record, if it is the last one. */
const forgetValue = (tx: Transaction, card: StoredRow): Promise<unknown> =>
  tx.query(
    `update card_records set last_value = null
     where tenant_id = $1 and identity = $2 and identity_verified = $3 and question_id = $4 and last_answer_id = $5`,
    [...keyParams(card), card.id],
  );

/**
 * Returns the changes of the results by deleted answers, and by those that are counted instead: the card's first
 * remaining `completed` answer, or else its first `partial` one, by time of receipt and of the same period.
 */
export async function changesByDeletion(tx: Transaction, deleted: readonly StoredRow[]): Promise<CountChange[]> {
  const changes: CountChange[] = [];
  for (const row of deleted) {
    const isCounted = (await lockPlace(tx, row)) === row.id;
    await forgetValue(tx, row);
    changes.push(change(row, row.counted, isCounted, -1));
    if (!isCounted || row.counted.over_quota) continue; // the next one would take a place that the limit does not have
    const next = await countNext(tx, row);
    if (next) changes.push(...changePlace(next, true));
  }
  return changes;
}

/** Gives the place of a locked card to its first remaining answer, and returns that answer. */
async function countNext(tx: Transaction, card: CardKey): Promise<StoredRow | undefined> {
  const next = (await findFirst(tx, card, 'completed')) ?? (await findFirst(tx, card, 'partial'));
  await setPlace(tx, card, { id: next?.id ?? null, isFinal: next?.counted.state === 'completed' });
  if (next) await touch(tx, [next]);
  return next;
}

/**
 * Reads all answers of the identity, or if it has very many, those of the question up to the first match.
 *
 * Otherwise the cost of deleting the answers of an identity with a hundred thousand answers to one card would be
 * quadratic.
 */
async function findFirst(
  tx: Transaction,
  card: CardKey,
  state: 'completed' | 'partial',
): Promise<StoredRow | undefined> {
  const few = await hasAtMostAnswers(tx, card.tenant_id, card.identity, MAX_SCANNED);
  if (!few) await startReadingInOrder(tx);
  const source = few ? '(select * from answers where tenant_id = $1 and identity = $2 offset 0) as answers' : 'answers';
  const [first] = await tx.query<StoredRow>(
    `select ${STORED_ROW} from ${source}
     where tenant_id = $1 and identity = $2 and identity_verified = $3 and question_id = $4
       and once_per_card and not over_quota and state = $5
       and received_at >= coalesce((select counted_since from card_records as record where record.tenant_id = $1
         and record.identity = $2 and record.identity_verified = $3 and record.question_id = $4), '-infinity')
     order by received_at, id limit 1`,
    [...keyParams(card), state],
  );
  return first;
}
