import { z } from 'zod';
import { documentedAs, int32 } from './documented.ts';
import { rule } from './field-errors.ts';
import { typeIdOut } from './ids.ts';
import { canonicalJson } from './json.ts';
import { isStorable, STORABLE, TimestampOut, text } from './text.ts';
import { jsonPointer } from './validation.ts';

const Labels = z
  .strictObject({ low: text(80), high: text(80) })
  .partial()
  .meta({ id: 'ScaleLabels', description: 'Labels of the ends of the scale' });
const labels = Labels.optional();

const Option = z
  .strictObject({
    id: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,64}$/, 'Must be 1 to 64 of the characters A-Z a-z 0-9 _ -, such as "very-happy".'),
    label: text(200, 1),
  })
  .meta({ id: 'OptionInput' });

const Options = z
  .array(Option)
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
      url: z
        .url({ protocol: /^https?$/ })
        .max(2000)
        .refine(isStorable, STORABLE)
        .optional()
        .meta({ description: 'Address with http or https that the statement links to' }),
    })
    .meta({ id: 'StatementConfig' }),
} as const;

/** Maximum number of questions per tenant in any state, and of live ones. */
export const MAX_QUESTIONS = 2000;
export const MAX_LIVE_QUESTIONS = 200;
/** Maximum number of versions of one question published within 24 hours. */
export const MAX_VERSIONS_A_DAY = 50;

export type QuestionType = keyof typeof CONFIGS;
export type ConfigOf<T extends QuestionType> = z.output<(typeof CONFIGS)[T]>;
export type QuestionConfig = ConfigOf<QuestionType>;

export const QUESTION_TYPES = Object.keys(CONFIGS) as [QuestionType, ...QuestionType[]];
export const QuestionType = z.enum(QUESTION_TYPES);

/** Types whose value is a score. They may have a comment. */
export const SCORED_TYPES: ReadonlySet<QuestionType> = new Set(['nps', 'csat', 'ces', 'rating', 'thumbs']);

export const QUESTION_STATUSES = ['draft', 'live', 'paused', 'closed', 'archived'] as const;
export const QuestionStatus = z.enum(QUESTION_STATUSES);
export type QuestionStatus = z.infer<typeof QuestionStatus>;

/** The start states and the end state of each action. */
export const QUESTION_ACTIONS = {
  publish: { from: ['draft'], to: 'live' },
  pause: { from: ['live'], to: 'paused' },
  resume: { from: ['paused'], to: 'live' },
  close: { from: ['live', 'paused'], to: 'closed' },
  archive: { from: ['closed'], to: 'archived' },
} as const satisfies Record<string, { from: QuestionStatus[]; to: QuestionStatus }>;
export type QuestionAction = keyof typeof QUESTION_ACTIONS;

/** The actions that are possible in a state. */
export const possibleActions = (status: QuestionStatus): QuestionAction[] =>
  (Object.keys(QUESTION_ACTIONS) as QuestionAction[]).filter(action =>
    (QUESTION_ACTIONS[action].from as readonly QuestionStatus[]).includes(status),
  );

/** The states that can follow a state. */
export const nextStatuses = (from: QuestionStatus): QuestionStatus[] =>
  Object.values(QUESTION_ACTIONS).flatMap(action =>
    (action.from as readonly QuestionStatus[]).includes(from) ? [action.to] : [],
  );

const frequencyFields = {
  repeat: z.enum(['once', 'until_answered', 'always']).meta({
    description:
      'When the card disappears. `once`: after any answer, including views and dismissals. `until_answered`: after a partial or completed answer. `always`: never.',
  }),
  snooze_after_dismiss_days: z.int().min(0).max(365).meta({ description: 'Days for which a dismissed card is hidden' }),
  ignore_cooldown: z.boolean().meta({ description: "Ignores the tenant's cooldown and does not start one" }),
};

export const Frequency = z
  .strictObject({
    repeat: frequencyFields.repeat.default('until_answered'),
    snooze_after_dismiss_days: frequencyFields.snooze_after_dismiss_days.default(30),
    ignore_cooldown: frequencyFields.ignore_cooldown.default(false),
  })
  .meta({ id: 'FrequencyInput' });
export type Frequency = z.output<typeof Frequency>;

const fields = {
  name: text(120, 1).meta({ description: 'Name for the team; defaults to the title' }),
  title: text(300, 1, 'How likely are you to recommend us?').meta({ description: 'Text of the question' }),
  description: text(1000).meta({ description: 'Text below the title' }),
  allow_public: z.boolean().meta({ description: 'Whether the question is shown with public access tokens' }),
  priority: z.int().min(0).max(1000).meta({ description: 'Questions with a higher priority are shown first' }),
};

const base = z.strictObject({
  name: fields.name.optional(),
  title: fields.title,
  description: fields.description.default(''),
  frequency: Frequency.default(Frequency.parse({})),
  allow_public: fields.allow_public.default(false),
  priority: fields.priority.default(0),
});

/** `single_choice` as `SingleChoice`. */
const inPascalCase = (type: QuestionType): string =>
  type.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

const newOf = <T extends QuestionType>(type: T) =>
  base
    .extend({
      type: z.literal(type),
      config: z.prefault(CONFIGS[type] as unknown as z.ZodType<ConfigOf<T>>, {} as never),
    })
    .meta({ id: `${inPascalCase(type)}QuestionInput` });

/** The body that creates a question: a draft of one type, with the config of that type. */
export const NewQuestion = z
  .discriminatedUnion('type', [
    newOf('nps'),
    newOf('csat'),
    newOf('ces'),
    newOf('rating'),
    newOf('thumbs'),
    newOf('single_choice'),
    newOf('multi_choice'),
    newOf('text'),
    newOf('date'),
    newOf('consent'),
    newOf('statement'),
  ])
  .meta({ id: 'QuestionInput' });
export type NewQuestion = z.output<typeof NewQuestion>;

/** The body that changes a question; `config` is checked against the question's type, as a whole. */
export const QuestionPatch = z
  .strictObject({
    name: fields.name,
    type: QuestionType,
    title: fields.title,
    description: fields.description,
    config: z.record(z.string(), z.unknown()).meta({
      description: 'Complete config for the type, such as `NpsConfig` for `nps`',
      example: { labels: { low: 'Not likely', high: 'Very likely' } },
    }),
    frequency: z.strictObject(frequencyFields).partial().meta({ id: 'FrequencyPatch' }),
    allow_public: fields.allow_public,
    priority: fields.priority,
  })
  .partial()
  .meta({ id: 'QuestionPatch' });
export type QuestionPatch = z.output<typeof QuestionPatch>;

/** The `config` in replies: the fields of all types, of which each question has those of its type. */
export const AnyConfig = z
  .object({
    labels: z
      .object({ low: z.string().optional(), high: z.string().optional() })
      .optional()
      .meta({ id: 'Labels', description: 'Labels of the ends of the scale' }),
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

const content = { type: QuestionType, title: z.string(), description: z.string(), config: AnyConfig };

export const Question = z
  .object({
    id: typeIdOut('question'),
    name: z.string(),
    status: QuestionStatus,
    version: int32(1),
    ...content,
    frequency: z.object(frequencyFields).meta({ id: 'Frequency' }),
    allow_public: z.boolean(),
    priority: int32(),
    created_at: TimestampOut,
    updated_at: TimestampOut,
    published_at: TimestampOut.nullable(),
    closed_at: TimestampOut.nullable(),
  })
  .meta({ id: 'Question' });

/** A field changed by a version. */
const VersionChange = z
  .object({
    pointer: z.string().meta({ description: 'JSON pointer into the version (RFC 6901)' }),
    before: z.unknown().meta({ description: 'Previous value; null if there was none' }),
    after: z.unknown().meta({ description: 'New value; null if there is none' }),
  })
  .meta({ id: 'VersionChange' });
export type VersionChange = z.infer<typeof VersionChange>;

export const QuestionVersion = z
  .object({
    question_id: typeIdOut('question'),
    version: int32(1),
    ...content,
    created_at: TimestampOut,
    changes: z.array(VersionChange).meta({ description: 'Changes since the previous version' }),
  })
  .meta({ id: 'QuestionVersion' });

/** The content that users see and that answers are validated against. */
export interface QuestionContent {
  type: QuestionType;
  title: string;
  description: string;
  config: QuestionConfig;
}

/** The rules for validating an answer: the type, and the config without texts. */
export type AnswerRules = Pick<QuestionContent, 'type' | 'config'>;

/** Returns the rules of a question's content, with options by id only. */
export function answerRules({ type, config }: Pick<QuestionContent, 'type' | 'config'>): AnswerRules {
  const { labels: _, style: __, shuffle: ___, url: ____, options, ...rest } = config as Record<string, unknown>;
  const ids = (options as { id: string }[] | undefined)?.map(({ id }) => ({ id, label: '' }));
  return { type, config: (ids ? { ...rest, options: ids } : rest) as QuestionConfig };
}

/** Returns the rules of an earlier version. Type, scale and option ids are the same in every version. */
export function earlierRules({ type, config }: AnswerRules, varying: Partial<QuestionConfig>): AnswerRules {
  const { scale, options } = config as Record<string, unknown>;
  const fixed = { ...(scale === undefined ? {} : { scale }), ...(options === undefined ? {} : { options }) };
  return { type, config: { ...varying, ...fixed } as QuestionConfig };
}

/**
 * Returns the parts of a config that define the meaning of stored values, so that they are immutable once published.
 */
export function immutableParts(content: Pick<QuestionContent, 'type' | 'config'>): Record<string, unknown> {
  const config = content.config as { scale?: number; options?: { id: string }[] };
  return {
    '/type': content.type,
    '/config/scale': config.scale,
    '/config/options': config.options?.map(option => option.id).sort(),
  };
}

/** Returns the content of a question by field, with each part of the config as a separate field. */
const fieldsOf = ({ title, description, config }: QuestionContent): Map<string, unknown> =>
  new Map<string, unknown>([
    ['/title', title],
    ['/description', description],
    ...Object.entries(config).map(([name, value]): [string, unknown] => [jsonPointer(['config', name]), value]),
  ]);

/**
 * Returns the changes from one version to the next. Values are compared as JSON, regardless of order, since PostgreSQL
 * returns members in a different one.
 */
export function versionChanges(before: QuestionContent, after: QuestionContent): VersionChange[] {
  const [old, now] = [fieldsOf(before), fieldsOf(after)];
  return [...new Set([...old.keys(), ...now.keys()])]
    .map(pointer => ({ pointer, before: old.get(pointer) ?? null, after: now.get(pointer) ?? null }))
    .filter(change => canonicalJson(change.before) !== canonicalJson(change.after));
}
