import { z } from 'zod';
import { WebAddress } from '../../text.ts';
import { ANY_STEP, defineType } from './definition.ts';

/** A text to read, without a value. */
export const statement = defineType({
  config: z
    .strictObject({
      url: WebAddress.optional().meta({ description: 'Address with http or https that the statement links to' }),
    })
    .meta({ id: 'StatementConfig' }),
  example: { title: 'Our new export is here.', config: { url: 'https://example.com/news' } },
  measure: null,
  isOnlyRead: true,
  check: () => 'Must be omitted for a statement.',
  operators: ANY_STEP,
  values: () => [],
});
