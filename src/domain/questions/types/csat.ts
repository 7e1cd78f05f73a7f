import { z } from 'zod';
import { defineType } from './definition.ts';
import { labels, onScale, ScaleStyle } from './scale.ts';

/** Customer satisfaction: 1 to 5. */
export const csat = defineType({
  config: z.strictObject({ style: ScaleStyle.default('number'), labels }).meta({ id: 'CsatConfig' }),
  example: { title: 'How satisfied are you with your order?', config: { style: 'smiley' } },
  measure: 'csat',
  ...onScale(() => ({ min: 1, max: 5 })),
});
