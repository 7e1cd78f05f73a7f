import { z } from 'zod';
import { rule } from '../../field-errors.ts';
import { findLengthFault } from '../../text.ts';
import { ANY_STEP, defineType } from './definition.ts';

export const TextInput = z.enum(['text', 'email', 'url', 'number']);

/** The forms of a text: an address as in HTML's `<input type="email">`, a web address, a number. */
const FORMS = {
  email: { schema: z.email({ pattern: z.regexes.html5Email }), example: 'an e-mail address such as ada@example.com' },
  url: { schema: z.url({ protocol: /^https?$/ }), example: 'an http or https URL such as https://example.com' },
  number: { schema: z.string().regex(/^-?\d+([.,]\d+)?$/), example: 'a number such as 12.5' },
};

/** A text in the user's own words, or of a form. */
export const text = defineType({
  config: z
    .strictObject({
      min_length: z.int().min(0).max(5000).default(0),
      max_length: z.int().min(1).max(5000).default(5000),
      input: TextInput.default('text'),
    })
    .refine(config => config.min_length <= config.max_length, {
      path: ['min_length'],
      ...rule('conflicting', 'Must not be greater than max_length.'),
    })
    .meta({ id: 'TextConfig', description: '`min_length` is at most `max_length`' }),
  example: { title: 'What can we do better?' },
  measure: null,
  check(value, { min_length, max_length, input }) {
    if (typeof value !== 'string') return 'Must be a string such as "text".';
    const [, detail] = findLengthFault(value, max_length, min_length) ?? [];
    if (detail !== undefined || input === 'text') return detail;
    const { schema, example } = FORMS[input];
    return schema.safeParse(value).success ? undefined : `Must be ${example}.`;
  },
  operators: ANY_STEP,
  values: () => [''],
});
