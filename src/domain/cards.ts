import { z } from 'zod';
import { Placement } from './appearance.ts';
import type { Frequency } from './card-rules.ts';
import { int32 } from './documented.ts';
import { CardStep } from './follow-ups.ts';
import { typeIdOut } from './ids.ts';
import { TimestampOut } from './text.ts';
import { ThanksOut } from './thanks.ts';
import { TriggerOut } from './triggers.ts';

export const Card = z
  .object({
    id: typeIdOut('card'),
    question_id: typeIdOut('question'),
    question_version: int32(1),
    kind: z.literal('question'),
    steps: z
      .array(CardStep)
      .meta({ description: 'The question itself, and its follow-ups, which conditions may hide' }),
    locale: z.string().meta({ description: 'Language of the texts (BCP 47)' }),
    trigger: TriggerOut.nullable().meta({
      description: 'What must happen on the device before the card is shown; null: nothing. Only with `triggers=true`',
    }),
    in_cooldown: z.boolean().meta({
      description: 'Whether the question is under the cooldown: a client shows one such card per fetch',
    }),
    priority: int32(),
    expires_at: TimestampOut.nullable().meta({
      description: "Time at which the card disappears: the question's `end_at`",
    }),
    thanks: ThanksOut.nullable().meta({ description: 'null: the default text of the client' }),
    placement: Placement.nullable().meta({ description: "null: that of the list's `appearance`" }),
    reply: z
      .record(z.string(), z.unknown())
      .nullable()
      .meta({ description: 'Message of the team, for cards of that kind; always null in this version' }),
  })
  .meta({ id: 'Card' });
export type Card = z.infer<typeof Card>;

/** The stored history of one identity's card: the latest time of each kind, by Parley's clock. */
export interface CardRecord {
  question_id: string;
  shown_at: Date;
  dismissed_at: Date | null;
  answered_at: Date | null;
}

/** The fields of a live question that card decisions need. */
export interface Candidate {
  id: string;
  frequency: Frequency;
}

/**
 * Returns where a card appears; null: in the tenant's `usual` place. Questions under the cooldown are never behind a
 * button, since they would keep the others from being shown.
 */
export const cardPlacement = (
  { placement, frequency }: Pick<Candidate, 'frequency'> & { placement: Placement | null },
  usual: Placement,
): Placement | null => ((placement ?? usual) === 'button' && !frequency.ignore_cooldown ? 'inline' : placement);

const DAY_MS = 86_400_000;
const isWithinDays = (at: Date | null | undefined, days: number, now: Date): boolean =>
  at != null && now.getTime() - at.getTime() < days * DAY_MS;

/** Whether the question's frequency allows the card to appear (again). */
export function isDue({ frequency }: Candidate, record: CardRecord | undefined, now: Date): boolean {
  if (!record || frequency.repeat === 'always') return true;
  if (frequency.repeat === 'once' || record.answered_at) return false;
  return !isWithinDays(record.dismissed_at, frequency.snooze_after_dismiss_days, now);
}

/**
 * Whether only one answer to a card of the question is counted in its results.
 *
 * A frequency with periods would need the period in the answer's job as well, with one counted answer in each.
 */
export const countsOncePerCard = ({ repeat }: Pick<Frequency, 'repeat'>): boolean => repeat !== 'always';

/**
 * Returns the questions that an identity sees now, from candidates in order of priority.
 *
 * Of the questions under the tenant's cooldown at most one appears, and only if no *other* such question was shown
 * within it. Questions that ignore the cooldown all appear, and start none of their own.
 */
export function decideCards<C extends Candidate>(
  candidates: readonly C[],
  records: readonly CardRecord[],
  everIgnoring: ReadonlySet<string>,
  cooldownDays: number,
  now: Date,
): C[] {
  const recordOf = new Map(records.map(record => [record.question_id, record]));
  const cooling = records.filter(
    record => !everIgnoring.has(record.question_id) && isWithinDays(record.shown_at, cooldownDays, now),
  );
  let placeTaken = false;
  return candidates.filter(candidate => {
    if (!isDue(candidate, recordOf.get(candidate.id), now)) return false;
    if (candidate.frequency.ignore_cooldown) return true;
    if (placeTaken || cooling.some(record => record.question_id !== candidate.id)) return false;
    placeTaken = true;
    return true;
  });
}

/**
 * Returns the next time at which the result may change without an event: the end of a cooldown or of a snooze; null
 * when there is none. A time that is too early only costs another decision.
 */
export function nextChange(
  candidates: readonly Candidate[],
  records: readonly CardRecord[],
  cooldownDays: number,
  now: Date,
): Date | null {
  const snoozes = new Map(candidates.map(({ id, frequency }) => [id, frequency.snooze_after_dismiss_days]));
  const ends = records.flatMap(({ question_id, shown_at, dismissed_at }) => [
    shown_at.getTime() + cooldownDays * DAY_MS,
    ...(dismissed_at ? [dismissed_at.getTime() + (snoozes.get(question_id) ?? 0) * DAY_MS] : []),
  ]);
  const coming = ends.filter(end => end > now.getTime());
  return coming.length > 0 ? new Date(Math.min(...coming)) : null;
}
