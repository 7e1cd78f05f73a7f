import { MAX_FAULTS } from '../bounded.ts';
import type { FieldCode } from '../field-errors.ts';
import type { ProblemError } from '../problem.ts';
import { type Condition, MAIN_STEP, type ShowIf } from '../steps.ts';
import type { FollowUp } from './follow-ups.ts';
import { answerRules, type QuestionContent, type StepRules } from './questions.ts';
import { createReachability, type Reachability } from './reachable-steps.ts';
import { findTextFaults } from './text-checks.ts';
import { ANY_STEP } from './types/definition.ts';
import { definitionOf } from './types/index.ts';

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
  const found = definitionOf(type).faultOfConfig?.(config);
  return found ? [fault(`${base}/config/${found.field}`, 'conflicting', found.detail)] : [];
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
  const possible = definitionOf(step.type).operators;
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
  return operands.flatMap(([each, at]) => {
    const found = definitionOf(step.type).faultOfOperand?.(each, step);
    return found ? [fault(at, found[0], found[1])] : [];
  });
}
