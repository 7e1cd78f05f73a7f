import { z } from 'zod';
import { ChoiceValue, choiceFields, faultOfOption, faultOfOther, idsOf, listIds } from './choices.ts';
import { ANY_STEP, defineType } from './definition.ts';

/** Created once: deriving a schema for each value took 25 µs. */
const Value = ChoiceValue.omit({ option_ids: true });

/** One of several options. */
export const singleChoice = defineType({
  config: z.strictObject(choiceFields).meta({ id: 'SingleChoiceConfig' }),
  example: {
    title: 'What did you come here to do?',
    config: {
      options: [
        { id: 'buy', label: 'Buy something' },
        { id: 'look', label: 'Just look around' },
      ],
      allow_other: true,
    },
    allow_public: true,
  },
  measure: null,
  check(value, config) {
    const choice = Value.safeParse(value);
    if (!choice.success) return 'Must be an object such as {"option_id": "a"} or {"other_text": "text"}.';
    const { option_id, other_text } = choice.data;
    const isOption = config.options.some(option => option.id === option_id);
    const isOther = !isOption && (option_id === 'other' || option_id === undefined) && config.allow_other;
    if (!isOption && !isOther) return `Must be an option of the question: ${listIds(config)}.`;
    if (isOption && option_id !== 'other' && other_text !== undefined)
      return 'Must have either an option or other_text.';
    return faultOfOther(other_text, isOther, config.allow_other);
  },
  operators: [...ANY_STEP, 'eq', 'ne', 'in'],
  faultOfOperand: faultOfOption,
  values: config => idsOf(config).map(id => ({ option_id: id })),
});
