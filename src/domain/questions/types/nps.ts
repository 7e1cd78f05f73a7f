import { z } from 'zod';
import { defineType } from './definition.ts';
import { labels, onScale } from './scale.ts';

/** The labels of an NPS in examples. */
export const EXAMPLE_LABELS = { low: 'Not likely', high: 'Very likely' };

/** Net Promoter Score: 0 to 10. */
export const nps = defineType({
  config: z.strictObject({ labels }).meta({ id: 'NpsConfig' }),
  example: { title: 'How likely are you to recommend us?', config: { labels: EXAMPLE_LABELS } },
  measure: 'nps',
  ...onScale(() => ({ min: 0, max: 10 })),
});
