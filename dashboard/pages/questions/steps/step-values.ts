import type { Schemas } from '../../../api/schema.ts';
import { t } from '../../../i18n.ts';
import type { QuestionType } from '../../../words.ts';
import { type ConfigValues, configOf, configValuesOf, EMPTY_CONFIG } from '../config-values.ts';
import {
  type ComparedStep,
  type ConditionValues,
  conditionOf,
  conditionText,
  conditionValuesOf,
} from './conditions.ts';

type FollowUp = Schemas['FollowUp'];

/** `id` and key of the question itself among the steps. */
export const MAIN_STEP = 'main';

/** Maximum number of steps after the question itself. */
export const MAX_FOLLOW_UPS = 9;

/** Maximum number of conditions of a step. */
export const MAX_CONDITIONS = 5;

/** When a step is shown; `always` ignores the conditions. */
type Match = 'always' | 'all' | 'any';

/** A step after the question itself, in the editor. */
export interface FollowUpValues {
  /** The step's first key. Conditions refer to it, so that a new key changes none of them. */
  id: string;
  key: string;
  type: QuestionType;
  title: string;
  description: string;
  config: ConfigValues;
  required: boolean;
  match: Match;
  conditions: ConditionValues[];
}

/** The steps of a question in the editor. */
export interface StepValues extends Omit<ComparedStep, 'id' | 'key'> {
  follow_ups: FollowUpValues[];
}

/** Returns the question itself and its follow-ups, in order. */
export const comparedSteps = ({ title, type, config, follow_ups }: StepValues): ComparedStep[] => [
  { id: MAIN_STEP, key: MAIN_STEP, title, type, config },
  ...follow_ups,
];

/** Returns an empty step. */
export const newFollowUp = (key: string): FollowUpValues => ({
  id: key,
  key,
  type: 'text',
  title: '',
  description: '',
  config: EMPTY_CONFIG,
  required: false,
  match: 'always',
  conditions: [],
});

/**
 * Returns a key that no step of the question has.
 *
 * A removed step may only return with its own type and options, so keys of a published question name the version in
 * which they begin.
 */
export function freeKey(steps: readonly FollowUpValues[], nextVersion: number): string {
  const taken = new Set(steps.flatMap(({ id, key }) => [id, key]));
  const start = nextVersion === 1 ? 'step' : `step-v${nextVersion}`;
  let number = steps.length + 1;
  while (taken.has(`${start}-${number}`)) number++;
  return `${start}-${number}`;
}

function conditionsIn(showIf: FollowUp['show_if']): Pick<FollowUpValues, 'match' | 'conditions'> {
  if (!showIf) return { match: 'always', conditions: [] };
  const { all, any, step = '', op = '', value } = showIf;
  const listed = all ?? any ?? [{ step, op, ...(value === undefined ? {} : { value }) }];
  return { match: any ? 'any' : 'all', conditions: listed.map(conditionValuesOf) };
}

/** Editor values of a stored step. */
export const followUpValuesOf = ({ show_if, config, ...step }: FollowUp): FollowUpValues => ({
  ...step,
  id: step.key,
  config: configValuesOf(config),
  ...conditionsIn(show_if),
});

/** Returns when a step is shown as the API expects it. */
function showIfOf({ match, conditions }: FollowUpValues, steps: ComparedStep[]): Schemas['ShowIfInput'] | null {
  const [first, ...others] = conditions.map(condition => conditionOf(condition, steps));
  if (match === 'always' || !first) return null;
  if (others.length === 0) return first;
  return match === 'all' ? { all: [first, ...others] } : { any: [first, ...others] };
}

/** Returns the steps as the API expects them. */
export function followUpsOf(values: StepValues) {
  const steps = comparedSteps(values);
  return values.follow_ups.map(step => ({
    ...{ key: step.key, type: step.type, title: step.title, description: step.description },
    config: configOf(step.type, step.config),
    required: step.required,
    show_if: showIfOf(step, steps),
  }));
}

/** Returns when a step is shown, as a sentence. */
export function showIfText({ match, conditions }: FollowUpValues, steps: readonly ComparedStep[]): string {
  if (match === 'always' || conditions.length === 0) return t('Always');
  const texts = conditions.map(condition => conditionText(condition, steps));
  return texts.join(match === 'all' ? t(' and ') : t(' or '));
}
