import { z } from 'zod';
import { arrayOf } from './bounded.ts';
import { documentedAs, int32 } from './documented.ts';
import { rule } from './field-errors.ts';
import { label, text, WebAddress } from './text.ts';

const Labels = z
  .strictObject({ low: text(80), high: text(80) })
  .partial()
  .meta({ id: 'ScaleLabels', description: 'Labels of the ends of the scale' });
const labels = Labels.optional();

/** Returns a schema of an id that `objects`, in the plural, have as the name of a member. */
export const memberName = (example: string, objects: string) =>
  z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, `Must be 1 to 64 of the characters A-Z a-z 0-9 _ -, such as "${example}".`)
    .refine(
      name => name !== '__proto__',
      rule('not-allowed', `Must not be "__proto__", which ${objects} cannot have as a name.`),
    );

export const OptionId = memberName('very-happy', 'translations').meta({
  id: 'OptionId',
  description: 'Id of the option in answers; cannot be `__proto__`',
  example: 'very-happy',
});

const Option = z
  .strictObject({
    id: OptionId,
    label: label(200),
  })
  .meta({ id: 'OptionInput' });

const Options = arrayOf(Option)
  .min(2)
  .max(30)
  .refine(
    options => new Set(options.map(option => option.id)).size === options.length,
    rule('repeated-item', 'Must not contain an option id twice.'),
  )
  .meta({ description: 'At least 2 options with distinct ids' });

const choice = { options: Options, allow_other: z.boolean().default(false), shuffle: z.boolean().default(false) };

/** The `config` of each question type, with its defaults (contract section 3). */
export const CONFIGS = {
  nps: z.strictObject({ labels }).meta({ id: 'NpsConfig' }),
  csat: z
    .strictObject({ style: z.enum(['number', 'smiley', 'star']).default('number'), labels })
    .meta({ id: 'CsatConfig' }),
  ces: z
    .strictObject({
      scale: z
        .union([z.literal(5), z.literal(7)])
        .meta({ override: documentedAs({ type: 'integer', enum: [5, 7] }) })
        .default(7),
      labels,
    })
    .meta({ id: 'CesConfig' }),
  rating: z
    .strictObject({
      scale: z.int().min(3).max(10).default(5),
      style: z.enum(['number', 'smiley', 'star']).default('star'),
      labels,
    })
    .meta({ id: 'RatingConfig' }),
  thumbs: z.strictObject({}).meta({ id: 'ThumbsConfig' }),
  single_choice: z.strictObject(choice).meta({ id: 'SingleChoiceConfig' }),
  multi_choice: z
    .strictObject({
      ...choice,
      min: z.int().min(0).max(31).optional().meta({ description: 'Minimum number of choices; at most `max`' }),
      max: z.int().min(1).max(31).optional().meta({ description: 'Maximum number of choices' }),
    })
    .refine(config => (config.min ?? 0) <= (config.max ?? 31), {
      path: ['min'],
      ...rule('conflicting', 'Must not be greater than max.'),
    })
    .meta({ id: 'MultiChoiceConfig' }),
  text: z
    .strictObject({
      min_length: z.int().min(0).max(5000).default(0),
      max_length: z.int().min(1).max(5000).default(5000),
      input: z.enum(['text', 'email', 'url', 'number']).default('text'),
    })
    .refine(config => config.min_length <= config.max_length, {
      path: ['min_length'],
      ...rule('conflicting', 'Must not be greater than max_length.'),
    })
    .meta({ id: 'TextConfig', description: '`min_length` is at most `max_length`' }),
  date: z.strictObject({}).meta({ id: 'DateConfig' }),
  consent: z.strictObject({}).meta({ id: 'ConsentConfig' }),
  statement: z
    .strictObject({
      url: WebAddress.optional().meta({ description: 'Address with http or https that the statement links to' }),
    })
    .meta({ id: 'StatementConfig' }),
} as const;

export type QuestionType = keyof typeof CONFIGS;
export type ConfigOf<T extends QuestionType> = z.output<(typeof CONFIGS)[T]>;
export type QuestionConfig = ConfigOf<QuestionType>;

export const QUESTION_TYPES = Object.keys(CONFIGS) as [QuestionType, ...QuestionType[]];
export const QuestionType = z.enum(QUESTION_TYPES);

/** Types whose value is a score. They may have a comment. */
export const SCORED_TYPES: ReadonlySet<QuestionType> = new Set(['nps', 'csat', 'ces', 'rating', 'thumbs']);

/** The labels of an NPS in examples. */
export const EXAMPLE_LABELS = { low: 'Not likely', high: 'Very likely' };

/** The `config` in replies: the fields of all types, of which each question has those of its type. */
export const AnyConfig = z
  .object({
    labels: z
      .object({ low: z.string().optional(), high: z.string().optional() })
      .optional()
      .meta({ id: 'Labels', description: 'Labels of the ends of the scale', example: EXAMPLE_LABELS }),
    scale: int32(1).optional().meta({ description: '`ces`, `rating`: the highest value' }),
    style: z.enum(['number', 'smiley', 'star']).optional().meta({ description: '`csat`, `rating`' }),
    options: z
      .array(z.object({ id: z.string(), label: z.string() }).meta({ id: 'ChoiceOption' }))
      .optional()
      .meta({ description: '`single_choice`, `multi_choice`' }),
    allow_other: z.boolean().optional().meta({ description: 'Whether a text for "other" is allowed' }),
    shuffle: z.boolean().optional().meta({ description: 'Whether clients show the options in random order' }),
    min: int32().optional().meta({ description: '`multi_choice`: minimum number of choices' }),
    max: int32().optional().meta({ description: '`multi_choice`: maximum number of choices' }),
    min_length: int32().optional().meta({ description: '`text`' }),
    max_length: int32().optional().meta({ description: '`text`' }),
    input: z.enum(['text', 'email', 'url', 'number']).optional().meta({ description: '`text`: the form of the value' }),
    url: z.string().optional().meta({ description: '`statement`: the address that it links to' }),
  })
  .meta({ id: 'QuestionConfig', description: 'Settings of the question; each type has some of them' });

/** `single_choice` as `SingleChoice`. */
export const inPascalCase = (type: QuestionType): string =>
  type.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
