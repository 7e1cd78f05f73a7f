import { type AcceptedAnswer, isAnswered, storedState } from '../../domain/answers/answers.ts';
import { Problem } from '../../domain/problem.ts';
import { unnest } from '../database/sql.ts';
import type { Transaction } from '../database/transaction.ts';
import { keyOf } from './answer-upserts.ts';
import { type CardKey, type CountedPlace, cardKeyOf, upsertCardRecords } from './card-records.ts';
import { passOnPlaces, type StoredRow, type StoredSync, takePlaces } from './counted-answers.ts';

/** The counted answer of each card, by `cardKeyOf`. */
type Places = Map<string, CountedPlace>;

/**
 * Returns an answer as it is stored and competes for its card: with `every_days` for one period. An API of an earlier version
 * queued it in the state in which it was sent (`storedState`).
 */
export function competing(answer: AcceptedAnswer): AcceptedAnswer {
  const state = storedState(answer);
  if (state === answer.state && answer.period_days === undefined) return answer;
  return { ...answer, state, ...(answer.period_days === undefined ? {} : { once_per_card: true }) };
}

/** Groups syncs such that those of different answers to one card with periods are in separate groups, in order. */
function inTurns(stored: readonly StoredSync[]): StoredSync[][] {
  if (!stored.some(({ answer }) => answer.period_days !== undefined)) return [[...stored]];
  const turns: StoredSync[][] = [];
  const last = new Map<string, { id: string; turn: number }>();
  for (const sync of stored) {
    const { answer } = sync;
    const key = cardKeyOf(answer);
    const before = last.get(key);
    const isNext = before !== undefined && before.id !== answer.id && answer.period_days !== undefined;
    const turn = (before?.turn ?? 0) + (isNext ? 1 : 0);
    last.set(key, { id: answer.id, turn });
    const inThatTurn = turns[turn];
    if (inThatTurn) inThatTurn.push(sync);
    else turns.push([sync]);
  }
  return turns;
}

/** Updates the card records of stored syncs. Returns the counted answers, in one map for each turn. */
export async function placeAnswers(tx: Transaction, stored: readonly StoredSync[]): Promise<Places[]> {
  await keepReleased(tx, stored);
  const turns: Places[] = [];
  for (const turn of inTurns(stored)) {
    const places = await upsertCardRecords(tx, turn);
    await startPeriods(tx, { turn, stored }, places);
    turns.push(places);
  }
  return turns;
}

/** Returns the counted answers of all turns, and the other stored answers that stop (`takePlaces`) or start to be counted. */
export async function settlePlaces(
  tx: Transaction,
  stored: readonly StoredSync[],
  turns: readonly Places[],
): Promise<{ places: Places; lost: StoredRow[]; gained: StoredRow[] }> {
  const places: Places = new Map();
  const lost: StoredRow[] = [];
  for (const turn of turns) {
    lost.push(...(await takePlaces(tx, stored, turn)));
    for (const [key, place] of turn) places.set(key, { ...place, before: (places.get(key) ?? place).before });
  }
  return { places, lost, gained: await passOnPlaces(tx, stored, places) };
}

interface PeriodStart extends CardKey {
  id: string;
  completed: boolean;
  answered_at: string;
  days: number;
}

const COLUMNS = {
  tenant_id: 'uuid',
  identity: 'text',
  identity_verified: 'boolean',
  question_id: 'uuid',
  id: 'uuid',
  completed: 'boolean',
  answered_at: 'timestamptz',
  days: 'int',
} as const;

/**
 * Starts the period of each counted answer with `every_days`, unless one is in progress. The counted answer of the previous
 * period stays counted, without its card. Call it after `upsertCardRecords`, which locks the records; `places` is corrected.
 */
async function startPeriods(
  tx: Transaction,
  { turn, stored }: { turn: readonly StoredSync[]; stored: readonly StoredSync[] },
  places: Places,
): Promise<void> {
  const starts = new Map<string, PeriodStart>();
  for (const { answer } of turn) {
    const { tenant_id, identity, identity_verified, question_id, id, state, period_days, received_at } = answer;
    if (period_days === undefined || !isAnswered(state)) continue;
    const card = { tenant_id, identity, identity_verified, question_id };
    const completed = state === 'completed';
    starts.set(cardKeyOf(card), { ...card, id, completed, answered_at: received_at, days: period_days });
  }
  if (starts.size === 0) return;
  const incoming = unnest<PeriodStart>([...starts.values()], COLUMNS);
  const rows = await tx.query<CardKey & { id: string; before: string | null }>(
    `update card_records as record
     set counted_answer_id = incoming.id, counted_completed = incoming.completed, counted_since = incoming.answered_at
     from ${incoming.sql}
     where (record.tenant_id, record.identity, record.identity_verified, record.question_id)
         = (incoming.tenant_id, incoming.identity, incoming.identity_verified, incoming.question_id)
       and (counted_before is null and counted_answer_id = incoming.id
         or counted_before <> incoming.id
           and incoming.answered_at >= coalesce(counted_since, '-infinity') + incoming.days * interval '24 hours')
     returning record.tenant_id, record.identity, record.identity_verified, record.question_id, incoming.id,
       counted_before as before`,
    incoming.params,
  );
  const released = rows.filter(({ before }) => before !== null);
  for (const row of released) {
    const place = places.get(cardKeyOf(row));
    if (place) Object.assign(place, { before: null, after: row.id });
  }
  await release(
    tx,
    released.map(({ tenant_id, before }) => ({ tenant_id, id: before as string })),
    stored,
  );
}

/** A revision of an answer from an earlier period, which is counted independently of its card, does not compete for the card. */
async function keepReleased(tx: Transaction, stored: readonly StoredSync[]): Promise<void> {
  const revised = stored.filter(
    ({ answer, revisedFrom }) =>
      answer.period_days !== undefined && revisedFrom && isAnswered(revisedFrom.state) && !revisedFrom.once_per_card,
  );
  if (revised.length > 0)
    await release(
      tx,
      revised.map(({ answer }) => answer),
      revised,
    );
  for (const sync of revised) delete sync.answer.period_days;
}

/** Counts answers independently of their card from now on. */
async function release(
  tx: Transaction,
  answers: readonly Pick<AcceptedAnswer, 'tenant_id' | 'id'>[],
  stored: readonly StoredSync[],
): Promise<void> {
  if (answers.length === 0) return;
  const wanted = unnest<Pick<AcceptedAnswer, 'tenant_id' | 'id'>>(answers, { tenant_id: 'uuid', id: 'uuid' });
  const [row] = await tx.query<{ busy: boolean }>(
    `with free as (
       select answers.tenant_id, answers.id from answers join ${wanted.sql} using (tenant_id, id)
       for update of answers skip locked
     ), released as (
       update answers set once_per_card = false from free
       where answers.tenant_id = free.tenant_id and answers.id = free.id returning 1
     )
     select (select count(*) from answers join ${wanted.sql} using (tenant_id, id)) > (select count(*) from released) as busy`,
    wanted.params,
  );
  // a transaction that locks an answer waits for its card next, which is locked here
  if (row?.busy)
    throw new Problem('database-unavailable', 'An answer was changed concurrently. The batch is retried.', {
      retryAfterSeconds: 1,
    });
  const isReleased = new Set(answers.map(keyOf));
  for (const sync of stored)
    if (isReleased.has(keyOf(sync.answer))) sync.answer = { ...sync.answer, once_per_card: false };
}
