import { z } from 'zod';
import { arrayOf } from '../bounded.ts';
import { MAX_FOLLOW_UPS, OPERATORS, type ShowIf } from '../steps.ts';
import { label, listOf, memberName, PreciseNumber, text } from '../text.ts';
import {
  AnyConfig,
  type ConfigOf,
  eachType,
  inPascalCase,
  type QuestionConfig,
  QuestionType,
  TYPES,
} from './types/index.ts';

export const StepKey = memberName('reason', 'values').meta({
  id: 'StepKey',
  description: 'Name of the step in `values` of answers; cannot be `main` or `__proto__`',
  example: 'reason',
});

/** Most values of a list: all options of a question, and `other`. */
const MAX_VALUES = 31;

const ConditionValue = z
  .union([PreciseNumber, z.boolean(), text(64), listOf(PreciseNumber, MAX_VALUES), listOf(text(64), MAX_VALUES)])
  .meta({
    id: 'ConditionValueInput',
    description: 'A score, true or false, an option id or `other`; a list for `in` and `contains_…`',
  });

const Condition = z
  .strictObject({
    step: text(64, 1).meta({ description: 'Key of an earlier step; `main` is the question itself' }),
    op: z.enum(OPERATORS).meta({
      description:
        '`answered`, `not_answered`: any step. `eq`, `ne`, `lt`, `lte`, `gt`, `gte`, `in`: scores. `eq`: thumbs and consent. `eq`, `ne`, `in`: the option of a single choice. `contains_any`, `contains_all`: the options of a multiple choice',
    }),
    value: ConditionValue.optional(),
  })
  .meta({ id: 'ConditionInput' });

const Conditions = arrayOf(Condition).min(2).max(5);

const ShowIfInput = z
  .union([
    Condition,
    z.strictObject({ all: Conditions }).meta({ id: 'AllConditionsInput' }),
    z.strictObject({ any: Conditions }).meta({ id: 'AnyConditionInput' }),
  ])
  .meta({ id: 'ShowIfInput' })
  .nullable()
  .meta({ description: 'Condition on earlier steps; null: the step is always shown' });

const followUpOf = <T extends QuestionType>(type: T) =>
  z
    .strictObject({
      key: StepKey,
      type: z.literal(type),
      title: label(300, 'What is the main reason?').meta({ description: 'Text of the step' }),
      description: text(1000).default('').meta({ description: 'Text below the title' }),
      config: z.prefault(TYPES[type].config as unknown as z.ZodType<ConfigOf<T>>, {} as never),
      required: z
        .boolean()
        .default(false)
        .meta({ description: 'Whether a completed answer needs a value while the step is shown' }),
      show_if: ShowIfInput.default(null),
    })
    .meta({ id: `${inPascalCase(type)}FollowUpInput` });

const FollowUpInput = z
  .discriminatedUnion(
    'type',
    eachType<{ [T in QuestionType]: ReturnType<typeof followUpOf<T>> }[QuestionType]>(followUpOf),
  )
  .meta({ id: 'FollowUpInput' });

/** The steps after the question itself, as the team sends them. A draft may contain conditions that do not fit yet. */
export const FollowUps = arrayOf(FollowUpInput)
  .max(MAX_FOLLOW_UPS)
  .meta({ description: `Further steps, in order: at most ${MAX_FOLLOW_UPS}` });

/** A step after the question itself. */
export interface FollowUp {
  key: string;
  type: QuestionType;
  title: string;
  description: string;
  config: QuestionConfig;
  required: boolean;
  show_if: ShowIf | null;
}

const ConditionOut = z
  .object({
    step: z.string(),
    op: z.string(),
    value: z
      .union([z.number(), z.boolean(), z.string(), z.array(z.number()), z.array(z.string())])
      .meta({ id: 'ConditionValue', description: 'Absent for `answered` and `not_answered`' })
      .optional(),
  })
  .meta({ id: 'Condition', description: 'A comparison of the value of an earlier step' });

/** When a step is shown, in replies: the members of one condition, or a list of several. */
export const ShowIfOut = z
  .object({
    ...ConditionOut.partial().shape,
    all: z.array(ConditionOut).optional().meta({ description: 'Conditions of which all must hold' }),
    any: z.array(ConditionOut).optional().meta({ description: 'Conditions of which one must hold' }),
  })
  .meta({
    id: 'ShowIf',
    description: 'Either one condition with `step`, `op` and `value`, or a list of conditions in `all` or `any`',
  });

/** A follow-up of an NPS in examples. */
export const EXAMPLE_FOLLOW_UP = {
  ...{ key: 'reason', type: 'text', title: 'What is the main reason?', description: '', required: false },
  ...{ config: { min_length: 0, max_length: 1000, input: 'text' }, show_if: { step: 'main', op: 'lte', value: 6 } },
};

const step = {
  key: z.string().meta({ description: 'Name of the step in `values`; `main` is the question itself' }),
  type: QuestionType,
  title: z.string(),
  description: z.string().meta({ example: '' }),
  config: AnyConfig,
  required: z.boolean().meta({ description: 'Whether a completed answer needs a value while the step is shown' }),
  show_if: ShowIfOut.nullable().meta({ description: 'When the step is shown; null: always' }),
};

export const FollowUpOut = z.object(step).meta({ id: 'FollowUp', example: EXAMPLE_FOLLOW_UP });

/** A step of a card: the question itself, or a follow-up. */
export const CardStep = z.object(step).meta({ id: 'CardStep', example: EXAMPLE_FOLLOW_UP });
