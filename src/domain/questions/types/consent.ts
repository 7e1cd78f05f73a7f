import { z } from 'zod';
import { defineType } from './definition.ts';
import { thumbs } from './thumbs.ts';

/** A box that a user ticks, or leaves without a value. */
export const consent = defineType({
  config: z.strictObject({}).meta({ id: 'ConsentConfig' }),
  example: { title: 'May we contact you about your answer?' },
  measure: null,
  check: value => (value === true ? undefined : 'Must be true.'),
  operators: thumbs.operators,
  faultOfOperand: thumbs.faultOfOperand,
  values: () => [true],
});
