import { z } from 'zod';
import { arrayOf, fields } from '../bounded.ts';
import { documentedItems, EXAMPLE_TIME, int32 } from '../documented.ts';
import { rule } from '../field-errors.ts';
import { ClientUuid, EXAMPLE_UUID, exampleId, typeId, typeIdOut } from '../ids.ts';
import type { AnswerRules, QuestionContent, StepRules } from '../questions/questions.ts';
import { ChoiceValue } from '../questions/types/choices.ts';
import { definitionOf, type QuestionType } from '../questions/types/index.ts';
import { MAIN_STEP, visibleSteps } from '../steps.ts';
import { Identity, PreciseNumber, Tags, Timestamp, TimestampOut, text } from '../text.ts';
import { jsonPointer } from '../validation.ts';

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
  const isGiven =
    type && definitionOf(type).isOnlyRead ? Object.keys(values).length > 0 : Object.hasOwn(values, MAIN_STEP);
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

/** Returns the fault of one value of a question, if any. */
export const validateValue = (content: Pick<QuestionContent, 'type' | 'config'>, value: unknown): string | undefined =>
  definitionOf(content.type).check(value, content.config);

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
  if (comment && !definitionOf(type).measure)
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
