import { z } from 'zod';
import { Day } from '../../text.ts';
import { ANY_STEP, defineType } from './definition.ts';

/** A day. */
export const date = defineType({
  config: z.strictObject({}).meta({ id: 'DateConfig' }),
  example: { title: 'When do you start?' },
  measure: null,
  check: value => (Day.safeParse(value).success ? undefined : 'Must be a day from year 1 on, such as 2026-11-21.'),
  operators: ANY_STEP,
  values: () => [''],
});
