import { z } from 'zod';
import { int32 } from '../documented.ts';
import { typeIdOut } from '../ids.ts';
import { CardStep } from '../questions/follow-ups.ts';
import { EXAMPLE_MAIN_STEP } from '../questions/questions.ts';
import { ThanksOut } from '../questions/thanks.ts';
import { Placement } from '../rules/appearance.ts';
import type { Frequency, StoredFrequency } from '../rules/card-rules.ts';
import { TriggerOut } from '../rules/triggers.ts';
import { chosenOptions } from '../steps.ts';
import { TimestampOut } from '../text.ts';

export const Card = z
  .object({
    id: typeIdOut('card'),
    question_id: typeIdOut('question'),
    question_version: int32(1).meta({ example: 2 }),
    kind: z.literal('question'),
    steps: z.array(CardStep).meta({
      description: 'The question itself, and its follow-ups, which conditions may hide',
      example: [EXAMPLE_MAIN_STEP, {}],
    }),
    locale: z.string().meta({ description: 'Language of the texts (BCP 47)', example: 'en' }),
    trigger: TriggerOut.nullable().meta({
      description: 'What must happen on the device before the card is shown; null: nothing. Only with `triggers=true`',
    }),
    in_cooldown: z.boolean().meta({
      description: 'Whether the question is under the cooldown: a client shows one such card per fetch',
      example: true,
    }),
    priority: int32().meta({ example: 10 }),
    expires_at: TimestampOut.nullable().meta({
      description: "Time at which the card disappears: the question's `end_at`",
    }),
    thanks: ThanksOut.nullable().meta({ description: 'null: the default text of the client', example: {} }),
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
  /** The number of views. */
  displays: number;
  /** The value of the last answer: a score, true or false, or options; null for other types and without an answer. */
  last_value: unknown;
}

/**
 * Returns the part of a value that card records keep: a score, true or false, or the chosen options, never a text of the
 * user. null for other values.
 */
export function keptValue(value: unknown): number | boolean | { option_ids: string[] } | null {
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  const option_ids = [...chosenOptions(value)];
  return option_ids.length > 0 ? { option_ids } : null;
}

/**
 * Returns where a card appears; null: in the tenant's `usual` place. Questions under the cooldown are never behind a
 * button, since they would keep the others from being shown.
 */
export const cardPlacement = (
  { placement, frequency }: { placement: Placement | null; frequency: StoredFrequency },
  usual: Placement,
): Placement | null => ((placement ?? usual) === 'button' && !frequency.ignore_cooldown ? 'inline' : placement);

/** How often answers to one card are counted in the results: `once_per_card`, once per period, or each of them. */
export function countingOf({ repeat, everyDays }: { repeat: Frequency['repeat']; everyDays: number | null }): {
  once_per_card?: true;
  period_days?: number;
} {
  if (repeat === 'once' || repeat === 'until_answered') return { once_per_card: true };
  return repeat === 'every_days' && everyDays !== null ? { period_days: everyDays } : {};
}
