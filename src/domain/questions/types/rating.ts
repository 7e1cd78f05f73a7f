import { z } from 'zod';
import { defineType } from './definition.ts';
import { labels, onScale, ScaleStyle } from './scale.ts';

const config = z
  .strictObject({ scale: z.int().min(3).max(10).default(5), style: ScaleStyle.default('star'), labels })
  .meta({ id: 'RatingConfig' });

/** A rating: 1 to any number from 3 to 10. */
export const rating = defineType({
  config,
  example: { title: 'How do you rate our app?' },
  measure: 'mean',
  ...onScale<typeof config>(({ scale }) => ({ min: 1, max: scale })),
});
