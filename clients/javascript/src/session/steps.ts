import type { Card, Condition, Operator, ShowIf } from '../types.ts';
import { isKnownType } from './rules.ts';

type Test = (given: unknown[], wanted: unknown) => boolean;

const compare =
  (isMet: (value: number, wanted: number) => boolean): Test =>
  ([value], wanted) =>
    typeof value === 'number' && typeof wanted === 'number' && isMet(value, wanted);
const includesAny: Test = (given, wanted) => [wanted].flat().some(one => given.includes(one));

/** Tests by operator; `given` is the value or the chosen options of a step that has a value. */
const TESTS: Record<Operator, Test> = {
  answered: () => true,
  not_answered: () => false,
  eq: (given, wanted) => given.includes(wanted),
  ne: (given, wanted) => given.length > 0 && !given.includes(wanted),
  lt: compare((value, wanted) => value < wanted),
  lte: compare((value, wanted) => value <= wanted),
  gt: compare((value, wanted) => value > wanted),
  gte: compare((value, wanted) => value >= wanted),
  in: includesAny,
  contains_any: includesAny,
  contains_all: (given, wanted) => [wanted].flat().every(one => given.includes(one)),
};

/** The ids of the chosen options, with `other` for the user's own text; or the value if it is no choice. */
function givenIn(value: unknown): unknown[] {
  if (typeof value !== 'object') return [value];
  const { option_id, option_ids, other_text } = value as Record<string, unknown>;
  const ids = [option_id, ...(Array.isArray(option_ids) ? option_ids : []), other_text === undefined ? null : 'other'];
  return ids.filter(id => typeof id === 'string');
}

const holds = ({ op, value: wanted }: Condition, value: unknown): boolean =>
  value === undefined || value === null ? op === 'not_answered' : TESTS[op](givenIn(value), wanted);

const allOf = (showIf: Condition | { all: Condition[] }): Condition[] => ('all' in showIf ? showIf.all : [showIf]);

/**
 * Returns the steps that an answer shows, in order (`clients/contract/steps.json`). The value of a step that is not
 * shown counts as missing.
 */
export function visibleSteps<Step extends { key: string; show_if: ShowIf | null }>(
  steps: readonly Step[],
  values: Readonly<Record<string, unknown>>,
): Step[] {
  const given = new Map(Object.entries(values));
  const shown = new Map<string, unknown>();
  return steps.filter(({ key, show_if }) => {
    const isMet = (condition: Condition) => holds(condition, shown.get(condition.step));
    const isShown = !show_if || ('any' in show_if ? show_if.any.some(isMet) : allOf(show_if).every(isMet));
    if (isShown) shown.set(key, given.get(key));
    return isShown;
  });
}

function isKnownCondition(condition: unknown): boolean {
  const { step, op, value, ...others } = Object(condition);
  const isKnownValue = [value].flat().every(one => typeof one !== 'object');
  const isKnownOperator = Object.keys(TESTS).includes(op);
  return typeof step === 'string' && isKnownOperator && isKnownValue && Object.keys(others).length === 0;
}

/** Whether this version supports the form and the operators of a `show_if`; later servers may send others. */
export function isKnownShowIf(showIf: unknown): boolean {
  if (showIf === null || isKnownCondition(showIf)) return true;
  const [[name, list] = [], ...others] = Object.entries(Object(showIf));
  const isList = (name === 'all' || name === 'any') && Array.isArray(list) && others.length === 0;
  return isList && list.every(isKnownCondition);
}

/** Whether this version supports a card: later servers may send unknown kinds, types of steps, and conditions. */
export const isSupported = ({ kind, steps }: Card): boolean =>
  kind === 'question' && steps.length > 0 && steps.every(step => isKnownType(step) && isKnownShowIf(step.show_if));
