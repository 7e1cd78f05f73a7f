import { z } from 'zod';
import { rule } from '../../field-errors.ts';
import { chosenOptions } from '../../steps.ts';
import { ChoiceValue, choiceFields, faultOfOption, faultOfOther, idsOf, listIds } from './choices.ts';
import { ANY_STEP, defineType } from './definition.ts';

/** Created once: deriving a schema for each value took 25 µs. */
const Value = ChoiceValue.omit({ option_id: true });

/** Any number of options. */
export const multiChoice = defineType({
  config: z
    .strictObject({
      ...choiceFields,
      min: z.int().min(0).max(31).optional().meta({ description: 'Minimum number of choices; at most `max`' }),
      max: z.int().min(1).max(31).optional().meta({ description: 'Maximum number of choices' }),
    })
    .refine(config => (config.min ?? 0) <= (config.max ?? 31), {
      path: ['min'],
      ...rule('conflicting', 'Must not be greater than max.'),
    })
    .meta({ id: 'MultiChoiceConfig' }),
  example: {
    title: 'What should we improve?',
    config: {
      options: [
        { id: 'search', label: 'Search' },
        { id: 'export', label: 'Export' },
      ],
      max: 2,
    },
  },
  measure: null,
  check(value, config) {
    const choice = Value.safeParse(value);
    if (!choice.success || !choice.data.option_ids) return 'Must be an object such as {"option_ids": ["a"]}.';
    const ids = choice.data.option_ids;
    if (new Set(ids).size !== ids.length) return 'Must not contain an option twice.';
    const rest = ids.filter(id => !config.options.some(option => option.id === id));
    const unknown = rest.find(id => !(id === 'other' && config.allow_other));
    if (unknown !== undefined) return `Must only contain options of the question: ${listIds(config)}.`;
    const count = chosenOptions(choice.data).size;
    if (count < (config.min ?? 1)) return `Must choose at least ${config.min ?? 1}.`;
    if (config.max !== undefined && count > config.max) return `Must choose at most ${config.max}.`;
    return faultOfOther(choice.data.other_text, rest.includes('other'), config.allow_other);
  },
  operators: [...ANY_STEP, 'contains_any', 'contains_all'],
  faultOfOperand: faultOfOption,
  values: () => [],
  choices(config) {
    const ids = idsOf(config);
    return { ids, max: config.max ?? ids.length };
  },
  faultOfConfig(config) {
    const most = idsOf(config).length;
    if ((config.min ?? 0) <= most) return undefined;
    const counted = `the number of options${config.allow_other ? ' with "other"' : ''}`;
    return { field: 'min', detail: `Must be at most ${most}, ${counted}.` };
  },
});
