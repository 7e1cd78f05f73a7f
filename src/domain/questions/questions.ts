import { z } from 'zod';
import { recordOf } from '../bounded.ts';
import { int32, LATER_EXAMPLE } from '../documented.ts';
import { typeIdOut } from '../ids.ts';
import { Locale } from '../locales.ts';
import { Placement } from '../rules/appearance.ts';
import { changedRules, newRules, shownRules } from '../rules/card-rules.ts';
import { type ConditionalStep, MAIN_STEP } from '../steps.ts';
import { label, TimestampOut, text } from '../text.ts';
import { EXAMPLE_FOLLOW_UP, type FollowUp, FollowUpOut, FollowUps } from './follow-ups.ts';
import { type Thanks, ThanksInput, ThanksOut } from './thanks.ts';
import { EXAMPLE_TRANSLATIONS, Translations, TranslationsOut } from './translations.ts';
import {
  AnyConfig,
  type ConfigOf,
  definitionOf,
  eachType,
  inPascalCase,
  type QuestionConfig,
  QuestionType,
  TYPES,
} from './types/index.ts';

/** Maximum number of questions per tenant in any state, and of live ones. */
export const MAX_QUESTIONS = 2000;
export const MAX_LIVE_QUESTIONS = 200;
/** Maximum number of versions of one question published within 24 hours. */
export const MAX_VERSIONS_A_DAY = 50;

export const QUESTION_STATUSES = ['draft', 'scheduled', 'live', 'paused', 'closed', 'archived'] as const;
export const QuestionStatus = z
  .enum(QUESTION_STATUSES)
  .meta({ description: '`scheduled`: published, and live from `schedule.start_at`' });
export type QuestionStatus = z.infer<typeof QuestionStatus>;

/** The start states and the end state of each action. A draft that starts later becomes `scheduled`. */
export const QUESTION_ACTIONS = {
  publish: { from: ['draft', 'scheduled'], to: 'live' },
  pause: { from: ['live'], to: 'paused' },
  resume: { from: ['paused'], to: 'live' },
  close: { from: ['scheduled', 'live', 'paused'], to: 'closed' },
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

const title = 'How likely are you to recommend us?';
const { config } = TYPES.nps.example;

/** The question itself in examples of cards. */
export const EXAMPLE_MAIN_STEP = { key: MAIN_STEP, type: 'nps', title, config, required: true, show_if: null };

const fields = {
  name: label(120).meta({ description: 'Name for the team; defaults to the title' }),
  title: label(300, title).meta({ description: 'Text of the question' }),
  description: text(1000).meta({ description: 'Text below the title' }),
  allow_public: z.boolean().meta({ description: 'Whether the question is shown with public access tokens' }),
  priority: z.int().min(0).max(1000).meta({ description: 'Questions with a higher priority are shown first' }),
  thanks: ThanksInput.nullable().meta({
    description: 'What users see once they have answered; null: the default text',
  }),
  placement: Placement.nullable().meta({
    description: "null: that of the tenant's appearance. `button` requires `frequency.ignore_cooldown`",
  }),
};

const base = z.strictObject({
  name: fields.name.optional(),
  title: fields.title,
  description: fields.description.default(''),
  follow_ups: FollowUps.default([]),
  locale: Locale.optional().meta({
    description: "Language of the question's own texts (BCP 47); defaults to the tenant's `default_locale`",
  }),
  translations: Translations.default({}),
  ...newRules,
  allow_public: fields.allow_public.default(false),
  priority: fields.priority.default(0),
  thanks: fields.thanks.default(null),
  placement: fields.placement.default(null),
});

/** An NPS in examples, with most fields. */
const NPS_EXAMPLE = {
  ...{ name: 'NPS', title, config, follow_ups: [EXAMPLE_FOLLOW_UP], thanks: {}, locale: 'en' },
  ...{ translations: EXAMPLE_TRANSLATIONS, frequency: { repeat: 'until_answered' }, priority: 10 },
};

const newOf = <T extends QuestionType>(type: T) =>
  base
    .extend({
      type: z.literal(type),
      config: z.prefault(TYPES[type].config as unknown as z.ZodType<ConfigOf<T>>, {} as never),
    })
    .meta({ id: `${inPascalCase(type)}QuestionInput`, example: type === 'nps' ? NPS_EXAMPLE : TYPES[type].example });

/** The body that creates a question: a draft of one type, with the config of that type. */
export const NewQuestion = z
  .discriminatedUnion('type', eachType<{ [T in QuestionType]: ReturnType<typeof newOf<T>> }[QuestionType]>(newOf))
  .meta({ id: 'QuestionInput' });
export type NewQuestion = z.output<typeof NewQuestion>;

/** More than the config of any type has. */
const MAX_CONFIG_FIELDS = 20;

/** The body that changes a question; `config` is checked against the question's type, as a whole. */
export const QuestionPatch = z
  .strictObject({
    name: fields.name,
    type: QuestionType,
    title: fields.title,
    description: fields.description,
    config: recordOf(z.string(), z.unknown(), MAX_CONFIG_FIELDS, 'fields').meta({
      description: 'Complete config for the type, such as `NpsConfig` for `nps`',
    }),
    follow_ups: FollowUps,
    locale: Locale.meta({ description: "Language of the question's own texts; cannot change once published" }),
    translations: Translations,
    ...changedRules,
    allow_public: fields.allow_public,
    priority: fields.priority,
    thanks: fields.thanks,
    placement: fields.placement,
  })
  .partial()
  .meta({ id: 'QuestionPatch', example: { title: 'Would you recommend us?', priority: 20 } });
export type QuestionPatch = z.output<typeof QuestionPatch>;

const content = {
  type: QuestionType,
  title: z.string().meta({ example: title }),
  description: z.string().meta({ example: '' }),
  config: AnyConfig,
  follow_ups: z.array(FollowUpOut).meta({ description: 'Steps after the question itself, in order' }),
  thanks: ThanksOut.nullable().meta({ example: {} }),
  locale: z.string().meta({ description: "Language of the question's own texts (BCP 47)", example: 'en' }),
  translations: TranslationsOut,
};

export const Question = z
  .object({
    id: typeIdOut('question'),
    name: z.string().meta({ example: 'NPS' }),
    status: QuestionStatus.meta({ example: 'live' }),
    version: int32(1).meta({ example: 2 }),
    ...content,
    ...shownRules,
    allow_public: z.boolean(),
    priority: int32().meta({ example: 10 }),
    placement: Placement.nullable().meta({ description: "null: that of the tenant's appearance" }),
    created_at: TimestampOut,
    updated_at: TimestampOut.meta({ example: LATER_EXAMPLE }),
    published_at: TimestampOut.nullable().meta({ example: LATER_EXAMPLE }),
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
  .meta({ id: 'VersionChange', example: { pointer: '/title', before: 'Would you recommend us?', after: title } });
export type VersionChange = z.infer<typeof VersionChange>;

export const QuestionVersion = z
  .object({
    question_id: typeIdOut('question'),
    version: int32(1),
    ...content,
    created_at: TimestampOut,
    changes: z.array(VersionChange).meta({ description: 'Changes since the previous version' }),
  })
  .meta({ id: 'QuestionVersion', example: { version: 2, created_at: LATER_EXAMPLE } });

/** The content that users see and that answers are validated against. */
export interface QuestionContent {
  type: QuestionType;
  title: string;
  description: string;
  config: QuestionConfig;
  follow_ups: FollowUp[];
  /** null: the default text of the client. */
  thanks: Thanks | null;
  /** Texts in other languages than the question's own, which never changes once it is published. */
  translations: Translations;
}

/** The rules for validating the value of a step: its type, and its config without texts. */
export interface StepRules extends ConditionalStep {
  type: QuestionType;
  config: QuestionConfig;
  /** Whether a completed answer needs a value while the step is shown. */
  required: boolean;
}

/** The rules for validating an answer: those of each step in order. The question itself is the first one. */
export type AnswerRules = readonly [StepRules, ...StepRules[]];

/** Returns the question itself as a step. */
const mainStep = ({ type, config }: Pick<QuestionContent, 'type' | 'config'>): StepRules => ({
  key: MAIN_STEP,
  type,
  config,
  required: !definitionOf(type).isOnlyRead,
  show_if: null,
});

/** Returns a config without texts, with options by id only. */
function rulesOf(config: QuestionConfig): QuestionConfig {
  const { labels: _, style: __, shuffle: ___, url: ____, options, ...rest } = config as Record<string, unknown>;
  const ids = (options as { id: string }[] | undefined)?.map(({ id }) => ({ id, label: '' }));
  return (ids ? { ...rest, options: ids } : rest) as QuestionConfig;
}

/** Returns the rules of a follow-up step. */
export const followUpRules = ({ key, type, config, required, show_if }: Omit<FollowUp, 'title' | 'description'>) => ({
  ...{ key, type, config: rulesOf(config) },
  ...{ required: required && !definitionOf(type).isOnlyRead, show_if },
});

/** Returns the rules of a question's content. */
export const answerRules = ({
  type,
  config,
  follow_ups,
}: Pick<QuestionContent, 'type' | 'config' | 'follow_ups'>): AnswerRules => [
  mainStep({ type, config: rulesOf(config) }),
  ...follow_ups.map(followUpRules),
];

/**
 * Returns the rules of an earlier version, whose steps may differ. Type, scale and option ids of the question itself are
 * the same in every version.
 */
export function earlierRules(
  [main]: AnswerRules,
  varying: Partial<QuestionConfig>,
  followUps: readonly StepRules[],
): AnswerRules {
  const { scale, options } = main.config as Record<string, unknown>;
  const fixed = { ...(scale === undefined ? {} : { scale }), ...(options === undefined ? {} : { options }) };
  return [{ ...main, config: { ...varying, ...fixed } as QuestionConfig }, ...followUps];
}

/** The parts of a step that define the meaning of stored values. They never change once published. */
export interface FixedStep {
  type: QuestionType;
  scale: number | undefined;
  options: string[] | undefined;
}

/** Returns the immutable parts of a step. */
export function fixedParts({ type, config }: Pick<QuestionContent, 'type' | 'config'>): FixedStep {
  const { scale, options } = config as { scale?: number; options?: { id: string }[] };
  return { type, scale, options: options?.map(option => option.id).sort() };
}

/**
 * Returns the pointers of immutable parts that differ. `published` has the fixed parts of each step of any published
 * version by key, also of removed steps: stored values keep their meaning.
 */
export function changedFixedParts(content: QuestionContent, published: ReadonlyMap<string, FixedStep>): string[] {
  const steps: [string, string, Pick<QuestionContent, 'type' | 'config'>][] = [
    ['', MAIN_STEP, content],
    ...content.follow_ups.map((step, index): [string, string, FollowUp] => [`/follow_ups/${index}`, step.key, step]),
  ];
  return steps.flatMap(([pointer, key, step]) => {
    const before = published.get(key);
    if (!before) return [];
    const after = fixedParts(step);
    return (['type', 'scale', 'options'] as const)
      .filter(part => JSON.stringify(before[part]) !== JSON.stringify(after[part]))
      .map(part => `${pointer}/${part === 'type' ? part : `config/${part}`}`);
  });
}
