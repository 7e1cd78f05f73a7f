import { canonicalJson } from '../json.ts';
import { fieldFault, Problem } from '../problem.ts';
import type { Placement } from '../rules/appearance.ts';
import { type CardRules, patchRules } from '../rules/card-rules.ts';
import { MAIN_STEP } from '../steps.ts';
import { bodyErrors, jsonPointer, parseInput } from '../validation.ts';
import type { FollowUp } from './follow-ups.ts';
import { findPublishFaults } from './question-checks.ts';
import { pruneTranslations } from './question-texts.ts';
import {
  changedFixedParts,
  fixedParts,
  nextStatuses,
  possibleActions,
  type QuestionContent,
  type QuestionPatch,
  type QuestionStatus,
} from './questions.ts';
import type { Translations } from './translations.ts';
import { definitionOf, type QuestionConfig, type QuestionType } from './types/index.ts';

/** A question that is being changed. */
interface ChangingQuestion extends QuestionContent, CardRules {
  status: QuestionStatus;
  version: number;
  locale: string;
  placement: Placement | null;
}

/** Validates a config by its type. Throws 422 with pointers into the body. */
function parseConfig(type: QuestionType, config: unknown): QuestionConfig {
  const parsed = parseInput<QuestionConfig>(definitionOf(type).config, config);
  if (parsed.success) return parsed.data;
  throw new Problem('validation-failed', `The config is not valid for a question of type ${type}.`, {
    errors: bodyErrors(parsed.faults, '/config'),
  });
}

/** The versioned content, as plain JSON, because the database returns fields in a different order. */
export const contentOf = ({
  type,
  title,
  description,
  config,
  follow_ups,
  thanks,
  translations,
}: QuestionContent): QuestionContent =>
  JSON.parse(JSON.stringify({ type, title, description, config, follow_ups, thanks, translations }));

/**
 * Applies a patch. A change of visible content creates a new version once the question was published, and must then be
 * complete. `published` are the steps of all published versions.
 */
export function applyPatch(
  question: ChangingQuestion,
  patch: QuestionPatch,
  published: readonly FollowUp[],
  now: Date,
): void {
  const { config, type } = patch;
  if (question.status === 'closed' || question.status === 'archived')
    throw wrongState(question, 'It can be edited until it is closed.');
  const before = contentOf(question);
  if (question.status !== 'draft') refuseImmutable(findFixedChanges(question, patch));
  if (type && type !== question.type && !config) question.config = parseConfig(type, {});
  Object.assign(question, otherFields(patch), type ? { type } : {});
  if (config) question.config = parseConfig(question.type, config);
  patchRules(question, patch, now);
  refuseOwnLanguage(question);
  refuseButtonInCooldown(question, patch.placement === undefined ? '/frequency/ignore_cooldown' : '/placement');
  if (question.status === 'draft') return;
  finishContent(question);
  const steps = [...published, { ...before, key: MAIN_STEP }];
  refuseImmutable(changedFixedParts(question, new Map(steps.map(step => [step.key, fixedParts(step)]))));
  if (canonicalJson(before) !== canonicalJson(contentOf(question))) question.version++;
}

/** The fields of a patch that replace those of the question as they are. */
const REPLACED = [
  'name',
  'title',
  'description',
  'follow_ups',
  'locale',
  'translations',
  'priority',
  'thanks',
  'placement',
];

const otherFields = (patch: QuestionPatch): Partial<QuestionPatch> =>
  Object.fromEntries(Object.entries(patch).filter(([name]) => REPLACED.includes(name)));

/** Returns the pointers of fields of a published question that a patch may not change. */
const findFixedChanges = (question: ChangingQuestion, { type, locale }: QuestionPatch): string[] => [
  ...(type && type !== question.type ? ['/type'] : []),
  ...(locale && locale !== question.locale ? ['/locale'] : []),
];

/** Throws 422 if the question's own language is among its translations, because it would have two texts then. */
export function refuseOwnLanguage({ locale, translations }: { locale: string; translations: Translations }): void {
  if (!Object.hasOwn(translations, locale)) return;
  throw new Problem('validation-failed', 'A question cannot have a translation into its own language.', {
    errors: [
      {
        pointer: jsonPointer(['translations', locale]),
        code: 'conflicting',
        detail: `Must be omitted: "${locale}" is the language of the question's own texts (locale).`,
      },
    ],
  });
}

/**
 * Throws 422 for a question that waits behind a feedback button and takes part in the cooldown: until it is answered, no
 * other question would be shown.
 */
export function refuseButtonInCooldown(
  { placement, frequency }: Pick<ChangingQuestion, 'placement' | 'frequency'>,
  pointer = '/placement',
): void {
  if (placement !== 'button' || frequency.ignore_cooldown) return;
  throw fieldFault(pointer, 'not-allowed', 'The placement "button" requires `frequency.ignore_cooldown` to be true.');
}

/** Throws 422 if the question's schedule ended: it would be closed at once. */
export function refuseEnded({ end_at }: Pick<CardRules, 'end_at'>, now: Date): void {
  if (end_at && end_at <= now) throw fieldFault('/schedule/end_at', 'out-of-range', 'Must lie ahead.');
}

/** Publishes a draft, which waits for its `start_at` if that lies ahead, or starts a question that waits. */
export function startQuestion(
  question: Pick<ChangingQuestion, 'status' | 'start_at'> & { published_at: Date | null },
  now: Date,
): void {
  const isWaiting = question.status === 'scheduled';
  if (isWaiting) question.start_at = now;
  else question.published_at = now;
  question.status = question.start_at && question.start_at > now ? 'scheduled' : 'live';
}

function refuseImmutable(pointers: string[]): void {
  if (pointers.length === 0) return;
  throw new Problem('immutable-field', 'Language, type, scale and option ids cannot change once published.', {
    errors: pointers.map(pointer => ({
      pointer,
      code: 'immutable-field',
      detail: 'Cannot change once published.',
    })),
  });
}

/**
 * Checks the content for publication, and removes translations of texts that the question does not have. Throws 422 with
 * the faults that only a draft may have.
 */
export function finishContent(question: QuestionContent): void {
  const errors = findPublishFaults(contentOf(question));
  if (errors.length > 0) throw new Problem('validation-failed', 'The question cannot be published yet.', { errors });
  question.translations = pruneTranslations(contentOf(question));
}

/** The 409 for a question in another state than required, with the actions that are possible instead. */
export const wrongState = ({ status }: { status: QuestionStatus }, requirement: string) =>
  new Problem('invalid-transition', `The question is ${status}. ${requirement} ${insteadIn(status)}`, {
    extra: { from: status, allowed: nextStatuses(status) },
  });

const insteadIn = (status: QuestionStatus): string =>
  `Possible now: ${[...possibleActions(status), 'clone'].join(', ')}.`;
