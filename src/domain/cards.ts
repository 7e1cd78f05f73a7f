import { z } from 'zod';
import { typeIdOut } from './ids.ts';
import { type Frequency, QuestionType } from './questions.ts';

/** The step that is the question itself. */
export const MAIN_STEP = 'main';

export const Card = z
  .object({
    id: typeIdOut('card'),
    question_id: typeIdOut('question'),
    question_version: z.int(),
    kind: z.literal('question'),
    steps: z.array(
      z.object({
        key: z.string(),
        type: QuestionType,
        title: z.string(),
        description: z.string(),
        config: z.record(z.string(), z.unknown()),
        required: z.boolean(),
        show_if: z.null(),
      }),
    ),
    locale: z.string(),
    priority: z.int(),
    expires_at: z.null(),
    reply: z.null(),
  })
  .meta({ id: 'Card' });
export type Card = z.infer<typeof Card>;

/** What is stored of one identity's dealings with one card: the latest time of each kind, by Parley's clock. */
export interface CardRecord {
  question_id: string;
  shown_at: Date;
  dismissed_at: Date | null;
  answered_at: Date | null;
}

/** What deciding needs to know of a live question. */
export interface Candidate {
  id: string;
  frequency: Frequency;
}

const DAY_MS = 86_400_000;
const isWithinDays = (at: Date | null | undefined, days: number, now: Date): boolean =>
  at != null && now.getTime() - at.getTime() < days * DAY_MS;

/** Whether the question's own frequency lets the card appear (again). */
export function isDue({ frequency }: Candidate, record: CardRecord | undefined, now: Date): boolean {
  if (!record || frequency.repeat === 'always') return true;
  if (frequency.repeat === 'once' || record.answered_at) return false;
  return !isWithinDays(record.dismissed_at, frequency.snooze_after_dismiss_days, now);
}

/**
 * Whether only one answer to a card of the question is counted in its results.
 *
 * A frequency with periods would need the period in the answer's job as well: one answer is counted in each.
 */
export const countsOncePerCard = ({ repeat }: Pick<Frequency, 'repeat'>): boolean => repeat !== 'always';

/**
 * The questions that one identity sees now, of those given in order of priority.
 *
 * Questions under the tenant's cooldown share one place, and only while no *other* question of them was shown within
 * it; those that ignore the cooldown all appear, and start none.
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
 * The next moment at which time alone may change what an identity sees: the end of a cooldown or of a snooze; null when
 * there is none. Early is harmless: the decision is then made once more than needed.
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
