import { z } from 'zod';
import { ANY_STEP, defineType } from './definition.ts';

const needsBoolean = (value: unknown): string | undefined =>
  typeof value === 'boolean' ? undefined : 'Must be true or false.';

/** Thumbs up (true) or down (false). */
export const thumbs = defineType({
  config: z.strictObject({}).meta({ id: 'ThumbsConfig' }),
  example: { title: 'Was this page helpful?' },
  measure: 'positive',
  check: needsBoolean,
  operators: [...ANY_STEP, 'eq'],
  faultOfOperand(value) {
    const detail = needsBoolean(value);
    return detail === undefined ? undefined : ['wrong-type', detail];
  },
  values: () => [false, true],
});
