import { z } from 'zod';
import { label, text, WebAddress } from '../text.ts';

const fields = {
  title: label(300, 'Thank you!').meta({ description: 'What the user reads after the answer' }),
  body: text(1000).meta({ description: 'Text below the title' }),
};

const link = {
  label: label(80, 'See what we changed').meta({ description: 'Text of the link' }),
  url: WebAddress.meta({ description: 'Address with http or https' }),
};

const example = {
  ...{ title: 'Thank you!', body: 'We read every answer.' },
  link: { label: 'See what is new', url: 'https://example.com/news' },
};

/** The text shown after an answer, as the team sends it. */
export const ThanksInput = z
  .strictObject({
    title: fields.title,
    body: fields.body.default(''),
    link: z.strictObject(link).meta({ id: 'ThanksLinkInput' }).nullable().default(null),
  })
  .meta({ id: 'ThanksInput', example });

/** The text shown after an answer. */
export interface Thanks {
  title: string;
  body: string;
  link: { label: string; url: string } | null;
}

/** The thanks in replies. */
export const ThanksOut = z
  .object({
    title: z.string(),
    body: z.string(),
    link: z
      .object({ label: z.string(), url: z.string() })
      .meta({ id: 'ThanksLink' })
      .nullable()
      .meta({ description: 'Link below the text' }),
  })
  .meta({ id: 'Thanks', description: 'What users see once they have answered', example });
