import { z } from 'zod';
import { documentedAs } from '../../documented.ts';
import { defineType } from './definition.ts';
import { labels, onScale } from './scale.ts';

const config = z
  .strictObject({
    scale: z
      .union([z.literal(5), z.literal(7)])
      .meta({ override: documentedAs({ type: 'integer', enum: [5, 7] }) })
      .default(7),
    labels,
  })
  .meta({ id: 'CesConfig' });

/** Customer effort: 1 to 5 or 7. */
export const ces = defineType({
  config,
  example: { title: 'How easy was it to find what you need?' },
  measure: 'mean',
  ...onScale<typeof config>(({ scale }) => ({ min: 1, max: scale })),
});
