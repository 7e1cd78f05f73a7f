/** The step with the question itself. */
export const MAIN_STEP = 'main';

/** Maximum number of steps after the question itself. */
export const MAX_FOLLOW_UPS = 9;

/** How a condition compares the value of a step. The step's type determines which operators are possible. */
export const OPERATORS = [
  'answered',
  'not_answered',
  'eq',
  'ne',
  'lt',
  'lte',
  'gt',
  'gte',
  'in',
  'contains_any',
  'contains_all',
] as const;
export type Operator = (typeof OPERATORS)[number];

/** A value, or an option's id, with which a condition compares. */
export type Operand = number | boolean | string;

/** A comparison of one step's value. `answered` and `not_answered` have no `value`; `in` and `contains_*` have a list. */
export interface Condition {
  step: string;
  op: Operator;
  value?: Operand | Operand[];
}

/** When a step is shown: if one condition holds, or all or any of several. */
export type ShowIf = Condition | { all: Condition[] } | { any: Condition[] };

/** The part of a step that decides when it is shown. */
export interface ConditionalStep {
  key: string;
  /** null: always. */
  show_if: ShowIf | null;
}

/** Values by step, as in an answer. */
export type StepValues = Readonly<Record<string, unknown>>;

/** Returns the distinct options in the value of a choice; `other` for the user's own text. */
export function chosenOptions(value: unknown): Set<string> {
  if (typeof value !== 'object' || value === null) return new Set();
  const { option_id, option_ids, other_text } = value as Record<string, unknown>;
  const ids = [option_id, ...(Array.isArray(option_ids) ? option_ids : []), other_text === undefined ? null : 'other'];
  return new Set(ids.filter(id => typeof id === 'string'));
}

/** Returns the conditions of a `show_if`, and whether all of them must hold. */
export function conditionsOf(showIf: ShowIf): { conditions: Condition[]; needsAll: boolean } {
  if ('all' in showIf) return { conditions: showIf.all, needsAll: true };
  return { conditions: 'any' in showIf ? showIf.any : [showIf], needsAll: false };
}

const compareNumbers = (op: Operator, value: unknown, wanted: unknown): boolean => {
  if (typeof value !== 'number' || typeof wanted !== 'number') return false;
  if (op === 'lt') return value < wanted;
  if (op === 'lte') return value <= wanted;
  return op === 'gt' ? value > wanted : value >= wanted;
};

/**
 * Whether a condition holds for the value of its step; undefined and null count as missing. Without a value only `not_answered`
 * holds. Types never mix: the text "6" is not the number 6.
 */
export function holds({ op, value: wanted }: Condition, value: unknown): boolean {
  if (value === undefined || value === null) return op === 'not_answered';
  const given: unknown[] = typeof value === 'object' ? [...chosenOptions(value)] : [value];
  const listed: unknown[] = Array.isArray(wanted) ? wanted : [wanted];
  switch (op) {
    case 'answered':
      return true;
    case 'not_answered':
      return false;
    case 'eq':
      return given.includes(wanted);
    case 'ne':
      return given.length > 0 && !given.includes(wanted);
    case 'in':
    case 'contains_any':
      return listed.some(one => given.includes(one));
    case 'contains_all':
      return listed.every(one => given.includes(one));
    default:
      return compareNumbers(op, value, wanted);
  }
}

/**
 * Returns the steps that an answer shows, in order (contract section 3). The server and both app clients follow this
 * rule, with the cases in `clients/contract/steps.json`.
 *
 * A step without `show_if` is always shown. The value of a step that is not shown counts as missing, so hiding a step
 * may hide those that depend on it.
 */
export function visibleSteps<Step extends ConditionalStep>(steps: readonly Step[], values: StepValues): Step[] {
  const shown = new Map<string, unknown>();
  return steps.filter(({ key, show_if }) => {
    if (show_if) {
      const { conditions, needsAll } = conditionsOf(show_if);
      const isMet = (condition: Condition) => holds(condition, shown.get(condition.step));
      if (!(needsAll ? conditions.every(isMet) : conditions.some(isMet))) return false;
    }
    shown.set(key, Object.hasOwn(values, key) ? values[key] : undefined);
    return true;
  });
}
