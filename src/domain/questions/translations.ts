import { z } from 'zod';
import { recordOf } from '../bounded.ts';
import { rule } from '../field-errors.ts';
import { Locale, MAX_LOCALES } from '../locales.ts';
import { text } from '../text.ts';
import { StepKey } from './follow-ups.ts';
import { OptionId } from './types/choices.ts';

/** Maximum size of all translations of a question, as JSON. */
const MAX_CHARACTERS = 100_000;

/** Maximum number of steps or options in a translation. More than a question has, since texts of removed ones are accepted. */
const MAX_NAMED = 100;

/** The texts of one step in another language. Absent and empty texts are not translated yet. */
const stepTexts = {
  title: text(300).optional(),
  description: text(1000).optional(),
  config: z
    .strictObject({
      labels: z
        .strictObject({ low: text(80), high: text(80) })
        .partial()
        .optional()
        .meta({ id: 'LabelTranslationInput', description: 'Labels of the ends of the scale' }),
      options: recordOf(OptionId, text(200), MAX_NAMED, 'options')
        .optional()
        .meta({ description: 'Labels of the options, by id' }),
    })
    .optional()
    .meta({ id: 'ConfigTranslationInput', description: "The texts of the step's `config`" }),
};

const ThanksLinkTranslation = z
  .strictObject({ label: text(80).optional() })
  .meta({ id: 'ThanksLinkTranslationInput', description: 'Text of the link' });

/** The texts of a question in another language. */
const Translation = z
  .strictObject({
    ...stepTexts,
    follow_ups: recordOf(StepKey, z.strictObject(stepTexts).meta({ id: 'StepTranslationInput' }), MAX_NAMED, 'steps')
      .optional()
      .meta({ description: 'Texts of the follow-ups, by key' }),
    thanks: z
      .strictObject({ title: text(300), body: text(1000), link: ThanksLinkTranslation })
      .partial()
      .optional()
      .meta({ id: 'ThanksTranslationInput', description: 'Texts of the thanks' }),
  })
  .meta({ id: 'TranslationInput' });

const ABOUT =
  'Texts in other languages, by BCP 47 tag. A draft may lack texts. A published question has every text in each of its languages';

/** The German texts of an NPS and its follow-up in examples. */
export const EXAMPLE_TRANSLATIONS = {
  de: {
    title: 'Wie wahrscheinlich ist es, dass Sie uns weiterempfehlen?',
    config: { labels: { low: 'Unwahrscheinlich', high: 'Sehr wahrscheinlich' } },
    follow_ups: { reason: { title: 'Was sollen wir verbessern?' } },
    thanks: { title: 'Vielen Dank!', body: 'Wir lesen jede Antwort.', link: { label: 'Das ist neu' } },
  },
};

/** The translations of a question, as the team sends them. */
export const Translations = recordOf(Locale, Translation, MAX_LOCALES, 'languages')
  .refine(
    translations => JSON.stringify(translations).length <= MAX_CHARACTERS,
    rule('too-long', `Must have at most ${MAX_CHARACTERS} characters in all languages together.`),
  )
  .meta({
    description: `${ABOUT}. At most ${MAX_LOCALES} languages, and ${MAX_CHARACTERS.toLocaleString('en')} characters of JSON`,
    maxProperties: MAX_LOCALES,
  });

/** The texts of a step in one language. */
export interface StepTranslation {
  title?: string | undefined;
  description?: string | undefined;
  config?:
    | {
        labels?: { low?: string | undefined; high?: string | undefined } | undefined;
        options?: Record<string, string> | undefined;
      }
    | undefined;
}

/** The texts of a question in one language. */
export interface Translation extends StepTranslation {
  follow_ups?: Record<string, StepTranslation> | undefined;
  thanks?:
    | { title?: string | undefined; body?: string | undefined; link?: { label?: string | undefined } | undefined }
    | undefined;
}

/** The texts of a question in other languages than its own, by tag. */
export type Translations = Record<string, Translation>;

const stepTextsOut = {
  title: z.string().optional(),
  description: z.string().optional(),
  config: z
    .object({
      labels: z
        .object({ low: z.string().optional(), high: z.string().optional() })
        .optional()
        .meta({ id: 'LabelTranslation', description: 'Labels of the ends of the scale' }),
      options: z.record(z.string(), z.string()).optional().meta({ description: 'Labels of the options, by id' }),
    })
    .optional()
    .meta({ id: 'ConfigTranslation', description: "The texts of the step's `config`" }),
};

/** Translations in replies. */
export const TranslationsOut = z
  .record(
    z.string(),
    z
      .object({
        ...stepTextsOut,
        follow_ups: z
          .record(z.string(), z.object(stepTextsOut).meta({ id: 'StepTranslation' }))
          .optional()
          .meta({ description: 'Texts of the follow-ups, by key' }),
        thanks: z
          .object({
            title: z.string().optional(),
            body: z.string().optional(),
            link: z
              .object({ label: z.string().optional() })
              .optional()
              .meta({ id: 'ThanksLinkTranslation', description: 'Text of the link' }),
          })
          .optional()
          .meta({ id: 'ThanksTranslation', description: 'Texts of the thanks' }),
      })
      .meta({ id: 'Translation' }),
  )
  .meta({ description: ABOUT, example: EXAMPLE_TRANSLATIONS });
