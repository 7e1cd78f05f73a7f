import { z } from 'zod';
import { arrayOf } from '../../bounded.ts';
import { rule } from '../../field-errors.ts';
import type { OperandFault } from '../../rules/operators.ts';
import { label, memberName, text } from '../../text.ts';

export const OptionId = memberName('very-happy', 'translations').meta({
  id: 'OptionId',
  description: 'Id of the option in answers; cannot be `__proto__`',
  example: 'very-happy',
});

const Option = z.strictObject({ id: OptionId, label: label(200) }).meta({ id: 'OptionInput' });

const Options = arrayOf(Option)
  .min(2)
  .max(30)
  .refine(
    options => new Set(options.map(option => option.id)).size === options.length,
    rule('repeated-item', 'Must not contain an option id twice.'),
  )
  .meta({ description: 'At least 2 options with distinct ids' });

/** The `config` of a choice. */
export const choiceFields = {
  options: Options,
  allow_other: z.boolean().default(false),
  shuffle: z.boolean().default(false),
};

/** The part of a config that decides which options a value may have. */
export interface Choices {
  options: { id: string }[];
  allow_other: boolean;
}

/** The JSON shape of a value with options. The question's type decides which members it has. */
export const ChoiceValue = z
  .strictObject({
    option_id: z.string().max(64).optional().meta({ description: 'For `single_choice`' }),
    option_ids: arrayOf(z.string().max(64))
      .max(31)
      .optional()
      .meta({ description: 'For `multi_choice`', uniqueItems: true }),
    other_text: text(5000)
      .optional()
      .meta({ description: 'Text for "other", if the question allows it; may be empty' }),
  })
  .meta({ id: 'ChoiceValue' });

/** The distinct ids that a value may have. */
export const idsOf = ({ options, allow_other }: Choices): string[] => [
  ...new Set([...options.map(({ id }) => id), ...(allow_other ? ['other'] : [])]),
];

/** Maximum number of option ids in an error, since a batch may have a hundred errors. */
const MAX_LISTED = 8;

/** Lists the ids of options in an error. */
export function listIds(config: Choices): string {
  const ids = idsOf(config).map(id => `"${id}"`);
  const left = ids.length - MAX_LISTED;
  return ids.slice(0, MAX_LISTED).join(', ') + (left > 0 ? ` and ${left} more` : '');
}

/** The text of "other" may be empty: a client drops a rejected answer, and the choice itself counts. */
export function faultOfOther(otherText: string | undefined, isChosen: boolean, isAllowed: boolean): string | undefined {
  if (!isAllowed && otherText !== undefined) return 'Must not have other_text: the question does not allow it.';
  if (isChosen && otherText === undefined) return 'Must have other_text for "other".';
  return undefined;
}

/** Returns the fault of an option id that a condition compares with. */
export function faultOfOption(
  value: unknown,
  { key, config }: { key: string; config: Choices },
): OperandFault | undefined {
  if (typeof value !== 'string') return ['wrong-type', 'Must be the id of an option such as "a".'];
  if (idsOf(config).includes(value)) return undefined;
  return ['unknown-option', `Must be the id of an option of the step "${key}".`];
}
