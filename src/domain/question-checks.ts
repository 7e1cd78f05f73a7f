import { MAX_FAULTS } from './bounded.ts';
import type { FieldCode } from './field-errors.ts';
import type { FollowUp } from './follow-ups.ts';
import type { ProblemError } from './problem.ts';
import type { ConfigOf, QuestionType } from './question-types.ts';
import { answerRules, type QuestionContent, type StepRules } from './questions.ts';
import { createReachability, type Reachability, scaleOf } from './reachable-steps.ts';
import { type Condition, MAIN_STEP, type Operator, type ShowIf } from './steps.ts';
import { findTextFaults } from './text-checks.ts';

const ANY_STEP: Operator[] = ['answered', 'not_answered'];
const SCORE: Operator[] = [...ANY_STEP, 'eq', 'ne', 'lt', 'lte', 'gt', 'gte', 'in'];

/** The operators for each type of step (contract section 3). */
const OPERATORS_OF: Record<QuestionType, readonly Operator[]> = {
  nps: SCORE,
  csat: SCORE,
  ces: SCORE,
  rating: SCORE,
  thumbs: [...ANY_STEP, 'eq'],
  consent: [...ANY_STEP, 'eq'],
  single_choice: [...ANY_STEP, 'eq', 'ne', 'in'],
  multi_choice: [...ANY_STEP, 'contains_any', 'contains_all'],
  text: ANY_STEP,
  date: ANY_STEP,
  statement: ANY_STEP,
};

const fault = (pointer: string, code: FieldCode, detail: string): ProblemError => ({ pointer, code, detail });

/**
 * Returns at most 50 faults of a question that keep it from being published, with pointers into the question. A draft
 * may have them.
 */
export function findPublishFaults(content: QuestionContent): ProblemError[] {
  const rules = answerRules(content);
  const reachability = createReachability(rules);
  const choices = rules.flatMap((step, index) => faultsOfChoices(step, index === 0 ? '' : `/follow_ups/${index - 1}`));
  const steps = content.follow_ups.flatMap((step, index) =>
    faultsOfStep(content.follow_ups, rules, step, index, reachability),
  );
  return firstOf(MAX_FAULTS, [...choices, ...steps], findTextFaults(content));
}

/** Returns the first faults of some lists. Later ones are not looked for. */
function firstOf(most: number, ...lists: Iterable<ProblemError>[]): ProblemError[] {
  const found: ProblemError[] = [];
  for (const list of lists)
    for (const each of list) {
      if (found.length === most) return found;
      found.push(each);
    }
  return found;
}

/** Returns the fault of a step that requires more choices than it has, which no answer can have. */
function faultsOfChoices({ type, config }: StepRules, base: string): ProblemError[] {
  if (type !== 'multi_choice') return [];
  const { options, allow_other, min = 0 } = config as ConfigOf<'multi_choice'>;
  const most = new Set([...options.map(({ id }) => id), ...(allow_other ? ['other'] : [])]).size;
  if (min <= most) return [];
  const counted = `the number of options${allow_other ? ' with "other"' : ''}`;
  return [fault(`${base}/config/min`, 'conflicting', `Must be at most ${most}, ${counted}.`)];
}

function faultsOfStep(
  all: FollowUp[],
  rules: readonly StepRules[],
  step: FollowUp,
  index: number,
  reachability: Reachability,
): ProblemError[] {
  const base = `/follow_ups/${index}`;
  if (step.key === MAIN_STEP || all.findIndex(({ key }) => key === step.key) < index)
    return [
      fault(
        `${base}/key`,
        'repeated-key',
        'Must differ from the keys of the other steps and from "main", the question.',
      ),
    ];
  if (!step.show_if) return [];
  const faults = conditionsIn(step.show_if, `${base}/show_if`).flatMap(([condition, pointer]) =>
    faultsOfCondition(rules, index + 1, condition, pointer),
  );
  if (faults.length > 0 || reachability.canBeShown(index + 1)) return faults;
  return [
    fault(
      `${base}/show_if`,
      'unreachable-step',
      'Must be possible: no answer to the earlier steps fulfills the condition.',
    ),
  ];
}

/** Returns the conditions of a `show_if` with their pointers. */
function conditionsIn(showIf: ShowIf, base: string): [Condition, string][] {
  if (!('all' in showIf) && !('any' in showIf)) return [[showIf, base]];
  const [name, listed] = 'all' in showIf ? (['all', showIf.all] as const) : (['any', showIf.any] as const);
  return listed.map((condition, index) => [condition, `${base}/${name}/${index}`]);
}

function faultsOfCondition(
  rules: readonly StepRules[],
  index: number,
  condition: Condition,
  pointer: string,
): ProblemError[] {
  const place = rules.findIndex(({ key }) => key === condition.step);
  const step = rules[place];
  if (!step)
    return [fault(`${pointer}/step`, 'unknown-step', `Must be the key of an earlier step: ${listKeys(rules, index)}.`)];
  if (place >= index)
    return [fault(`${pointer}/step`, 'looks-ahead', `Must be the key of an earlier step: ${listKeys(rules, index)}.`)];
  return faultsOfComparison(step, condition, pointer);
}

/** Returns the faults of a comparison with the value of a step: its operator, and its operand. */
export function faultsOfComparison(
  step: StepRules,
  condition: Omit<Condition, 'step'>,
  pointer: string,
): ProblemError[] {
  const possible = OPERATORS_OF[step.type];
  if (!possible.includes(condition.op))
    return [
      fault(
        `${pointer}/op`,
        'wrong-operator',
        `Must be an operator for the type ${step.type}: ${possible.join(', ')}.`,
      ),
    ];
  return faultsOfOperand(step, condition, `${pointer}/value`);
}

const listKeys = (rules: readonly StepRules[], index: number): string =>
  rules
    .slice(0, index)
    .map(({ key }) => `"${key}"`)
    .join(', ');

function faultsOfOperand(step: StepRules, { op, value }: Omit<Condition, 'step'>, pointer: string): ProblemError[] {
  if (ANY_STEP.includes(op))
    return value === undefined ? [] : [fault(pointer, 'not-allowed', `Must be omitted for "${op}".`)];
  if (value === undefined) return [fault(pointer, 'required', `Required for "${op}".`)];
  const needsList = op === 'in' || op.startsWith('contains_');
  if (needsList !== Array.isArray(value))
    return [fault(pointer, 'wrong-type', needsList ? 'Must be a list such as ["a", "b"].' : 'Must be a single value.')];
  const operands: [unknown, string][] = Array.isArray(value)
    ? value.map((each, index) => [each, `${pointer}/${index}`])
    : [[value, pointer]];
  return operands.flatMap(([each, at]) => faultOfValue(step, each, at));
}

function faultOfValue(step: StepRules, value: unknown, pointer: string): ProblemError[] {
  const scale = scaleOf(step);
  if (scale) {
    if (typeof value !== 'number') return [fault(pointer, 'wrong-type', 'Must be a number such as 6.')];
    const isInside = Number.isInteger(value) && value >= scale.min && value <= scale.max;
    return isInside
      ? []
      : [
          fault(
            pointer,
            'out-of-range',
            `Must be an integer from ${scale.min} to ${scale.max}, the scale of the step.`,
          ),
        ];
  }
  if (step.type === 'thumbs' || step.type === 'consent')
    return typeof value === 'boolean' ? [] : [fault(pointer, 'wrong-type', 'Must be true or false.')];
  if (typeof value !== 'string') return [fault(pointer, 'wrong-type', 'Must be the id of an option such as "a".')];
  const { options = [], allow_other = false } = step.config as { options?: { id: string }[]; allow_other?: boolean };
  const isOption = options.some(({ id }) => id === value) || (value === 'other' && allow_other);
  return isOption ? [] : [fault(pointer, 'unknown-option', `Must be the id of an option of the step "${step.key}".`)];
}
