import { z } from 'zod';
import { arrayOf, fields } from './bounded.ts';
import { documentedItems, EXAMPLE_TIME, int32 } from './documented.ts';
import { rule } from './field-errors.ts';
import { ClientUuid, EXAMPLE_UUID, exampleId, typeId, typeIdOut } from './ids.ts';
import { type ConfigOf, type QuestionType, SCORED_TYPES } from './question-types.ts';
import type { AnswerRules, QuestionContent, StepRules } from './questions.ts';
import { chosenOptions, MAIN_STEP, visibleSteps } from './steps.ts';
import { Day, findLengthFault, Identity, PreciseNumber, Tags, Timestamp, TimestampOut, text } from './text.ts';
import { jsonPointer } from './validation.ts';

/** Days after which answers to a closed question are no longer accepted. Leaves time for offline clients. */
export const CLOSED_GRACE_DAYS = 7;

export const AnswerState = z.enum(['seen', 'dismissed', 'partial', 'completed']);
export type AnswerState = z.infer<typeof AnswerState>;

/** Whether an answer in this state was given at least in part, not just shown or dismissed. */
export const isAnswered = (state: AnswerState): boolean => state === 'partial' || state === 'completed';

/**
 * Returns the state in which an answer is stored. With a value of the question it was given at least in part, whatever ended
 * its card: a user who closes the card at a follow-up has given the score. A statement has no value, so that of any follow-up
 * counts.
 *
 * Syncs are compared as they were sent: `content_hash` includes the state before this change.
 */
export function storedState(
  { state, values }: { state: AnswerState; values: object },
  type?: QuestionType,
): AnswerState {
  const isGiven = type === 'statement' ? Object.keys(values).length > 0 : Object.hasOwn(values, MAIN_STEP);
  return isGiven && !isAnswered(state) ? 'partial' : state;
}

const MetadataText = text(256);
const KNOWN_METADATA = [
  'platform',
  'os_version',
  'app_version',
  'sdk',
  'device_model',
  'locale',
  'screen',
  'card_locale',
  'trigger',
];

const MetadataValue = z.union([MetadataText, PreciseNumber, z.boolean()]).meta({ id: 'MetadataValue' });
const METADATA_NAMES = '1 to 64 of the characters A-Z a-z 0-9 _ . -, such as app_version';

/** Maximum number of custom fields in the metadata of an answer. */
const MAX_CUSTOM_METADATA = 20;

const Metadata = fields(
  [/^[A-Za-z0-9_.-]{1,64}$/, METADATA_NAMES],
  MetadataValue,
  KNOWN_METADATA.length + MAX_CUSTOM_METADATA,
  'fields',
)
  .refine(
    metadata => Object.keys(metadata).filter(key => !KNOWN_METADATA.includes(key)).length <= MAX_CUSTOM_METADATA,
    rule('too-many', `Must have at most ${MAX_CUSTOM_METADATA} custom fields.`),
  )
  .meta({ description: `${KNOWN_METADATA.join(', ')}, and at most ${MAX_CUSTOM_METADATA} custom fields` });

const ChoiceValue = z
  .strictObject({
    option_id: z.string().max(64).optional().meta({ description: 'For `single_choice`' }),
    option_ids: arrayOf(z.string().max(64))
      .max(31)
      .optional()
      .meta({ description: 'For `multi_choice`', uniqueItems: true }),
    other_text: text(5000)
      .optional()
      .meta({ description: 'Text for "other", if the question allows it; may be empty' }),
  })
  .meta({ id: 'ChoiceValue' });

/** The JSON shape of a step's value. The question determines which values are valid (`validateValue`). */
const Value = z.union([PreciseNumber, z.boolean(), text(5000), ChoiceValue]).meta({
  id: 'AnswerValue',
  description:
    'A number for `nps`, `csat`, `ces` and `rating`; a boolean for `thumbs` and `consent`; a string for `text` and `date`; an object for choices',
});

/** Maximum number of values in an answer. More than a question can have steps, because their keys are checked later. */
const MAX_VALUES = 50;

/** An answer to an NPS in examples, as a client syncs it. */
export const EXAMPLE_SYNC = {
  ...{ id: EXAMPLE_UUID, revision: 1, card_id: exampleId('card'), question_id: exampleId('question') },
  ...{ question_version: 2, state: 'completed', values: { [MAIN_STEP]: 9 }, comment: 'Fast and friendly.' },
  ...{ displayed_at: EXAMPLE_TIME, answered_at: EXAMPLE_TIME, duration_ms: 5400 },
  metadata: { platform: 'ios', app_version: '4.2.0' },
};

/** The record of one card view, as a client syncs it (contract section 4). */
export const NewAnswer = z
  .strictObject({
    id: ClientUuid,
    revision: z
      .int()
      .min(1)
      .max(2_147_483_647)
      .meta({ description: 'Increases with each change; the highest revision wins' }),
    identity: Identity.optional().meta({
      description: 'User who answered; required with an API key, otherwise omitted',
    }),
    card_id: typeId('card').optional().meta({ description: 'Optional only with an API key' }),
    question_id: typeId('question'),
    question_version: z.int().min(1).max(2_147_483_647),
    state: AnswerState.meta({
      description:
        'With a value of `main`, `seen` and `dismissed` are stored as `partial`: whatever ended the card, the value was given. Repeats are compared with what was sent',
    }),
    values: fields([/^[\s\S]{0,64}$/, 'at most 64 characters, such as main'], Value, MAX_VALUES, 'values')
      .default({})
      .meta({ description: 'Values by step; the question itself is `main`' }),
    comment: text(5000).nullish(),
    displayed_at: Timestamp.nullish(),
    answered_at: Timestamp.nullish(),
    duration_ms: z.int().min(0).max(2_147_483_647).nullish(),
    metadata: Metadata.default({}),
  })
  .meta({ id: 'AnswerInput', unusedIO: 'input', example: EXAMPLE_SYNC }); // the envelope references it, which zod-openapi does not detect
export type NewAnswer = z.output<typeof NewAnswer>;

/** The envelope of a sync. Items are validated separately, so that an invalid one never blocks an outbox. */
export const NewAnswers = z
  .strictObject({
    client_time: Timestamp.optional().meta({
      description:
        'Current time of the device clock, from which `clock_skew_ms` is measured. `displayed_at` and `answered_at` are stored as sent; only cooldowns and snoozes subtract the skew',
    }),
    answers: arrayOf(z.unknown()).min(1).max(100),
  })
  .meta({ id: 'AnswerBatch', override: documentedItems('answers', 'AnswerInput') });

export const Answer = z
  .object({
    id: z.uuid(),
    revision: int32(1),
    card_id: typeIdOut('card'),
    question_id: typeIdOut('question'),
    question_version: int32(1).meta({ example: 2 }),
    state: AnswerState.meta({ example: EXAMPLE_SYNC.state }),
    values: z
      .record(z.string(), z.unknown())
      .meta({ description: 'Values by step; the question itself is `main`', example: EXAMPLE_SYNC.values }),
    comment: z.string().nullable().meta({ example: EXAMPLE_SYNC.comment }),
    displayed_at: TimestampOut.nullable().meta({ example: EXAMPLE_TIME }),
    answered_at: TimestampOut.nullable().meta({ example: EXAMPLE_TIME }),
    duration_ms: int32().nullable().meta({ example: EXAMPLE_SYNC.duration_ms }),
    metadata: z.record(z.string(), z.unknown()).meta({ example: EXAMPLE_SYNC.metadata }),
    identity: z.string().meta({ example: 'user|42' }),
    identity_verified: z.boolean().meta({ example: true }),
    received_at: TimestampOut,
    stored_at: TimestampOut,
    updated_at: TimestampOut,
    clock_skew_ms: z
      .int()
      .nullable()
      .meta({ description: 'Milliseconds by which the device clock is ahead of the server clock', example: -120 }),
    tags: z.array(z.string()).meta({ example: ['vip'] }),
    counted: z.boolean().meta({
      description:
        'Whether the answer counts in the results. Of several answers to the same card only one counts: the first `completed` one, or else the first `partial` one; with `every_days`, one in each period, which begins with a counted answer. The others, and those beyond the limit of the question, still count as displays',
      example: true,
    }),
    over_quota: z.boolean().meta({
      description:
        'Whether the answer was completed beyond the `response_limit` of the question; then it is not `counted`',
    }),
    status: z.literal('stored'),
  })
  .meta({ id: 'Answer' });

/** A validated answer on its way to the worker, with the fields added by the API. Ids are UUIDs. */
export const AcceptedAnswer = z.object({
  tenant_id: z.uuid(),
  id: z.uuid(),
  identity: z.string(),
  identity_verified: z.boolean(),
  card_id: z.uuid(),
  question_id: z.uuid(),
  question_version: z.int(),
  revision: z.int(),
  state: AnswerState,
  values: z.looseObject({}),
  comment: z.string().nullable(),
  displayed_at: z.string().nullable(),
  answered_at: z.string().nullable(),
  duration_ms: z.int().nullable(),
  metadata: z.looseObject({}),
  content_hash: z.string(),
  clock_skew_ms: z.int().nullable(),
  received_at: z.string(),
  /** The API key that sent the answer or signed its token. The previous version omits it. */
  key_id: z.uuid().optional(),
  /** When the key's previous secret expires, as known to the API; absent for a key that was never rotated. */
  key_overlap_until: z.string().optional(),
  /** The quarantine entry that is being replayed. */
  replay_of: z.uuid().optional(),
  /**
   * Whether only one answer to the card is counted. If absent, the answer is always counted: answers by an API key,
   * answers to a question with `repeat: always`, and answers accepted by a version without this field.
   */
  once_per_card: z.boolean().optional(),
  /**
   * Only with `every_days`: the length of the periods of which each has one counted answer. `once_per_card` is absent, because
   * workers without this field would count only the first answer.
   */
  period_days: z.int().optional(),
  /** Whether an API key sent the answer without naming a card. Then it is not counted as a view of the card. */
  without_card: z.boolean().optional(),
});
export type AcceptedAnswer = z.infer<typeof AcceptedAnswer>;

/** An answer as its own user sees it: without the team's tags, and without the time at which they changed. */
export const OwnAnswer = Answer.omit({ tags: true, updated_at: true }).meta({ id: 'OwnAnswer' });

/** The status of an answer for the holder of a public token. */
export const AnswerStatus = z
  .object({ id: z.uuid(), state: AnswerState, status: z.literal('stored') })
  .meta({ id: 'PublicAnswer', example: { state: 'completed' } });

export const AnswerPatch = z.strictObject({ tags: Tags.meta({ example: ['vip'] }) }).meta({ id: 'AnswerPatch' });

/**
 * The fields that determine whether two syncs of one id are equal, newer or in conflict: the content (as a hash), and
 * the permanent properties of the id.
 */
export type SyncMark = Pick<
  AcceptedAnswer,
  'revision' | 'state' | 'content_hash' | 'card_id' | 'question_id' | 'identity' | 'identity_verified'
>;

const haveOneOwner = (one: SyncMark, other: SyncMark): boolean =>
  one.card_id === other.card_id &&
  one.question_id === other.question_id &&
  one.identity === other.identity &&
  one.identity_verified === other.identity_verified;

export type Comparison = 'newer' | 'duplicate' | 'superseded' | 'revision-conflict';

/**
 * Compares a sync with the known one. The API's cache and the worker's table use the same rules.
 *
 * The highest revision wins and `completed` is final. An id belongs to one identity, card and question permanently.
 */
export function compareSyncs(known: SyncMark, incoming: SyncMark): Comparison {
  if (!haveOneOwner(known, incoming)) return 'revision-conflict';
  if (incoming.revision === known.revision)
    return incoming.content_hash === known.content_hash ? 'duplicate' : 'revision-conflict';
  return incoming.revision < known.revision || known.state === 'completed' ? 'superseded' : 'newer';
}

/** An invalid value: its pointer, and a description. */
export interface ValueFault {
  pointer: string;
  detail: string;
}

/** Created once: deriving a schema for each value took 25 µs. */
const SingleChoice = ChoiceValue.omit({ option_ids: true });
const MultiChoice = ChoiceValue.omit({ option_id: true });

type ContentCheck<T extends QuestionType> = (value: unknown, config: ConfigOf<T>) => string | undefined;

const integerBetween = (min: number, max: number) => (value: unknown) =>
  Number.isInteger(value) && (value as number) >= min && (value as number) <= max
    ? undefined
    : `Must be an integer from ${min} to ${max}.`;

/** The text of "other" may be empty: a client drops a rejected answer, and the choice itself counts. */
function validateOther(value: z.infer<typeof ChoiceValue>, chosen: boolean, allowed: boolean): string | undefined {
  if (!allowed && value.other_text !== undefined) return 'Must not have other_text: the question does not allow it.';
  if (chosen && value.other_text === undefined) return 'Must have other_text for "other".';
  return undefined;
}

/** The forms of a text: an address as in HTML's `<input type="email">`, a web address, a number. */
const INPUTS = {
  email: { schema: z.email({ pattern: z.regexes.html5Email }), example: 'an e-mail address such as ada@example.com' },
  url: { schema: z.url({ protocol: /^https?$/ }), example: 'an http or https URL such as https://example.com' },
  number: { schema: z.string().regex(/^-?\d+([.,]\d+)?$/), example: 'a number such as 12.5' },
};

/** Maximum number of option ids in an error, since a batch may have a hundred errors. */
const MAX_LISTED = 8;

function optionsOf({ options, allow_other }: ConfigOf<'single_choice' | 'multi_choice'>): string {
  const ids = [...options.map(({ id }) => `"${id}"`), ...(allow_other ? ['"other"'] : [])];
  const left = ids.length - MAX_LISTED;
  return ids.slice(0, MAX_LISTED).join(', ') + (left > 0 ? ` and ${left} more` : '');
}

const CONTENT_CHECKS: { [T in QuestionType]: ContentCheck<T> } = {
  nps: integerBetween(0, 10),
  csat: integerBetween(1, 5),
  ces: (value, config) => integerBetween(1, config.scale)(value),
  rating: (value, config) => integerBetween(1, config.scale)(value),
  thumbs: value => (typeof value === 'boolean' ? undefined : 'Must be true or false.'),
  single_choice: (value, config) => {
    const choice = SingleChoice.safeParse(value);
    if (!choice.success) return 'Must be an object such as {"option_id": "a"} or {"other_text": "text"}.';
    const { option_id, other_text } = choice.data;
    const isOption = config.options.some(option => option.id === option_id);
    const isOther = !isOption && (option_id === 'other' || option_id === undefined) && config.allow_other;
    if (!isOption && !isOther) return `Must be an option of the question: ${optionsOf(config)}.`;
    if (isOption && option_id !== 'other' && other_text !== undefined)
      return 'Must have either an option or other_text.';
    return validateOther(choice.data, isOther, config.allow_other);
  },
  multi_choice: (value, config) => {
    const choice = MultiChoice.safeParse(value);
    if (!choice.success || !choice.data.option_ids) return 'Must be an object such as {"option_ids": ["a"]}.';
    const ids = choice.data.option_ids;
    if (new Set(ids).size !== ids.length) return 'Must not contain an option twice.';
    const rest = ids.filter(id => !config.options.some(option => option.id === id));
    const unknown = rest.find(id => !(id === 'other' && config.allow_other));
    if (unknown !== undefined) return `Must only contain options of the question: ${optionsOf(config)}.`;
    const count = chosenOptions(choice.data).size;
    if (count < (config.min ?? 1)) return `Must choose at least ${config.min ?? 1}.`;
    if (config.max !== undefined && count > config.max) return `Must choose at most ${config.max}.`;
    return validateOther(choice.data, rest.includes('other'), config.allow_other);
  },
  text: (value, config) => {
    if (typeof value !== 'string') return 'Must be a string such as "text".';
    const [, detail] = findLengthFault(value, config.max_length, config.min_length) ?? [];
    if (detail !== undefined || config.input === 'text') return detail;
    const { schema, example } = INPUTS[config.input];
    return schema.safeParse(value).success ? undefined : `Must be ${example}.`;
  },
  date: value => (Day.safeParse(value).success ? undefined : 'Must be a day from year 1 on, such as 2026-11-21.'),
  consent: value => (value === true ? undefined : 'Must be true.'),
  statement: () => 'Must be omitted for a statement.',
};

/** Returns the fault of one value of a question, if any. */
export const validateValue = (content: Pick<QuestionContent, 'type' | 'config'>, value: unknown): string | undefined =>
  (CONTENT_CHECKS[content.type] as ContentCheck<QuestionType>)(value, content.config as never);

/**
 * Returns the fault of an answer's values and comment against the named version of the question, if any: an unknown step,
 * a value that its step does not accept, a value of a step that is not shown, or a missing one in a completed answer.
 */
export function validateContent(
  rules: AnswerRules,
  answer: Pick<NewAnswer, 'state' | 'values' | 'comment'>,
): ValueFault | undefined {
  const { values, state, comment } = answer;
  const shown = visibleSteps<StepRules>(rules, values);
  for (const [key, value] of Object.entries(values)) {
    const detail = validateStep(rules, shown, key, value);
    if (detail) return { pointer: jsonPointer(['values', key]), detail };
  }
  const missing = state === 'completed' && shown.find(step => step.required && !Object.hasOwn(values, step.key));
  if (missing)
    return { pointer: jsonPointer(['values', missing.key]), detail: 'Required when the state is "completed".' };
  const [{ type }] = rules;
  if (comment && !SCORED_TYPES.has(type))
    return { pointer: '/comment', detail: `Must be omitted for a question of type ${type}.` };
  return undefined;
}

function validateStep(
  rules: AnswerRules,
  shown: readonly StepRules[],
  key: string,
  value: unknown,
): string | undefined {
  const step = rules.find(each => each.key === key);
  if (!step) return `Must be omitted: the question has only the ${listSteps(rules)}.`;
  if (!shown.includes(step)) return 'Must be omitted: with the other values, the step is not shown.';
  return validateValue(step, value);
}

const listSteps = (rules: AnswerRules): string =>
  rules.length === 1 ? `step "${rules[0].key}"` : `steps ${rules.map(({ key }) => `"${key}"`).join(', ')}`;
