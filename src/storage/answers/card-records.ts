import { type AcceptedAnswer, isAnswered } from '../../domain/answers/answers.ts';
import { keptValue } from '../../domain/cards/cards.ts';
import { MAIN_STEP } from '../../domain/steps.ts';
import { unnest } from '../database/sql.ts';
import type { Transaction } from '../database/transaction.ts';
import type { RecordOwner } from './cards.ts';

/** The card of an answer: one per identity and question. */
export interface CardKey extends RecordOwner {
  question_id: string;
}

/** The counted answer of a card before and after a batch; null for none. */
export interface CountedPlace extends CardKey {
  before: string | null;
  after: string | null;
}

/** `CardKey` as a string. */
export const cardKeyOf = ({ tenant_id, identity_verified, question_id, identity }: CardKey): string =>
  `${tenant_id}${question_id}${identity_verified}${identity}`;

/** The changes to one card by the stored syncs of a batch. */
interface CardChange extends CardKey {
  shown_at: number;
  dismissed_at: number | null;
  answered_at: number | null;
  /** The first answer that completes the card, or else the first partial one. */
  counted_answer_id: string | null;
  counted_completed: boolean;
  /** The number of new views. */
  displays: number;
  last_value: unknown;
  /** The last answer with a value. */
  last_answer_id: string | null;
}

/** A sync that was stored; `revisedFrom` is null for a new answer. */
export interface StoredView {
  answer: AcceptedAnswer;
  revisedFrom: unknown;
}

const COLUMNS = {
  tenant_id: 'uuid',
  identity: 'text',
  identity_verified: 'boolean',
  question_id: 'uuid',
  shown_at: 'timestamptz',
  dismissed_at: 'timestamptz',
  answered_at: 'timestamptz',
  counted_answer_id: 'uuid',
  counted_completed: 'boolean',
  displays: 'int',
  last_value: 'jsonb',
  last_answer_id: 'uuid',
} as const;
const NAMES = Object.keys(COLUMNS).join(', ');
/** Whether the incoming answer is the last one to the card. */
const IS_LAST = `excluded.answered_at >= coalesce(record.answered_at, '-infinity')`;

/**
 * Updates the card records of stored syncs, in order of arrival. Returns the counted answer of each card by
 * `cardKeyOf`.
 *
 * Records are locked in key order. Transactions that change the counted answer, or read it for counting, hold this lock
 * until the commit. Answers are locked before their card.
 */
export async function upsertCardRecords(
  tx: Transaction,
  stored: readonly StoredView[],
): Promise<Map<string, CountedPlace>> {
  if (stored.length === 0) return new Map();
  const changes = changesOf(stored);
  const incoming = unnest<CardChange>([...changes.values()], COLUMNS);
  const counted = await tx.query<CountedPlace>(
    `with written as (
       insert into card_records as record (${NAMES})
       select ${NAMES} from ${incoming.sql} order by 1, 2, 3, 4
       on conflict (tenant_id, identity, identity_verified, question_id) do update set
         shown_at = greatest(record.shown_at, excluded.shown_at),
         dismissed_at = greatest(record.dismissed_at, excluded.dismissed_at),
         answered_at = greatest(record.answered_at, excluded.answered_at),
         displays = record.displays + excluded.displays,
         last_value = case when ${IS_LAST} then excluded.last_value else record.last_value end,
         last_answer_id = case when ${IS_LAST} then excluded.last_answer_id else record.last_answer_id end,
         counted_before = record.counted_answer_id,
         counted_answer_id = case
           when excluded.counted_completed and not record.counted_completed then excluded.counted_answer_id
           else coalesce(record.counted_answer_id, excluded.counted_answer_id) end,
         counted_completed = record.counted_completed or excluded.counted_completed
       returning tenant_id, identity, identity_verified, question_id, counted_before, counted_answer_id
     )
     select tenant_id, identity, identity_verified, question_id, counted_before as before, counted_answer_id as after
     from written where counted_before is not null`,
    incoming.params,
  );
  const places = new Map<string, CountedPlace>();
  for (const [key, { tenant_id, identity, identity_verified, question_id, counted_answer_id }] of changes)
    places.set(key, { tenant_id, identity, identity_verified, question_id, before: null, after: counted_answer_id });
  for (const place of counted) places.set(cardKeyOf(place), place);
  return places;
}

function changesOf(stored: readonly StoredView[]): Map<string, CardChange> {
  const changes = new Map<string, CardChange>();
  for (const { answer, revisedFrom } of stored) {
    const key = cardKeyOf(answer);
    const change = changes.get(key);
    const next = changeBy(answer, revisedFrom === null);
    changes.set(key, change ? merge(change, next) : next);
  }
  return changes;
}

function changeBy(answer: AcceptedAnswer, isNew: boolean): CardChange {
  const { tenant_id, identity, identity_verified, question_id, state } = answer;
  const receivedAt = Date.parse(answer.received_at);
  const competes = answer.once_per_card === true && isAnswered(state);
  return {
    ...{ tenant_id, identity, identity_verified, question_id },
    shown_at: shownAt(answer, receivedAt),
    dismissed_at: state === 'dismissed' ? receivedAt : null,
    answered_at: isAnswered(state) ? receivedAt : null,
    counted_answer_id: competes ? answer.id : null,
    counted_completed: competes && state === 'completed',
    displays: isNew && !answer.without_card ? 1 : 0,
    last_value: isAnswered(state) ? keptValue(answer.values[MAIN_STEP]) : null,
    last_answer_id: isAnswered(state) ? answer.id : null,
  };
}

const latest = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.max(one, other);

function merge(first: CardChange, next: CardChange): CardChange {
  const takesPlace = next.counted_completed && !first.counted_completed;
  const last = (next.answered_at ?? -1) >= (first.answered_at ?? 0) ? next : first;
  return {
    ...first,
    shown_at: Math.max(first.shown_at, next.shown_at),
    dismissed_at: latest(first.dismissed_at, next.dismissed_at),
    answered_at: latest(first.answered_at, next.answered_at),
    counted_answer_id: takesPlace ? next.counted_answer_id : (first.counted_answer_id ?? next.counted_answer_id),
    counted_completed: first.counted_completed || next.counted_completed,
    displays: first.displays + next.displays,
    last_value: last.last_value,
    last_answer_id: last.last_answer_id,
  };
}

/**
 * When the card was shown by Parley's clock, in milliseconds since 1970: the device's time minus its skew, at most the
 * time of receipt.
 *
 * At least 0, since two wrong clocks together may result in a year outside of PostgreSQL's range.
 */
function shownAt({ displayed_at, clock_skew_ms }: AcceptedAnswer, receivedAt: number): number {
  if (!displayed_at || clock_skew_ms === null) return receivedAt;
  return Math.max(0, Math.min(receivedAt, Date.parse(displayed_at) - clock_skew_ms));
}
