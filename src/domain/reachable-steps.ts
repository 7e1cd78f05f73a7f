import type { StepRules } from './questions.ts';
import { type Condition, conditionsOf, holds } from './steps.ts';

/** Returns the lowest and highest score of a step; undefined for a type without scores. */
export function scaleOf({ type, config }: StepRules): { min: number; max: number } | undefined {
  if (type === 'nps') return { min: 0, max: 10 };
  if (type === 'csat') return { min: 1, max: 5 };
  return type === 'ces' || type === 'rating' ? { min: 1, max: (config as { scale: number }).scale } : undefined;
}

/** Maximum number of attempts to fulfill a condition. A step that needs more counts as reachable. */
const MAX_ATTEMPTS = 10_000;

/**
 * Whether any answer shows the step at `index`. The conditions of the steps must already refer to earlier steps, with
 * operators of their types.
 *
 * It tries every combination of the alternatives in `any`, each with the conditions of the steps that it refers to.
 */
export function canBeShown(steps: readonly StepRules[], index: number): boolean {
  let attempts = 0;
  const place = new Map(steps.map((step, at) => [step.key, at]));

  /** Whether `open` can be fulfilled together with the conditions in `met`, by step. */
  const fulfill = (open: readonly Condition[], met: ReadonlyMap<string, Condition[]>): boolean => {
    if (++attempts > MAX_ATTEMPTS) return true;
    const [condition, ...rest] = open;
    if (!condition) return true;
    const step = steps[place.get(condition.step) ?? -1];
    if (!step) return false;
    const known = met.get(step.key);
    const together = [...(known ?? []), condition];
    if (!hasValue(step, together)) return false;
    const next = new Map(met).set(step.key, together);
    const isMissing = condition.op === 'not_answered';
    const needsStep = !isMissing && !known?.some(({ op }) => op !== 'not_answered');
    return needsStep ? show(step, rest, next) : fulfill(rest, next);
  };

  const show = (step: StepRules, open: readonly Condition[], met: ReadonlyMap<string, Condition[]>): boolean => {
    if (!step.show_if) return fulfill(open, met);
    const { conditions, needsAll } = conditionsOf(step.show_if);
    if (needsAll) return fulfill([...conditions, ...open], met);
    return conditions.some(condition => fulfill([condition, ...open], met));
  };

  const step = steps[index];
  return step !== undefined && show(step, [], new Map());
}

/** Whether one value of a step fulfills all conditions on it, or the missing value. */
function hasValue(step: StepRules, conditions: readonly Condition[]): boolean {
  const canBeMissing = !(step.required && step.show_if === null);
  const candidates = [...(canBeMissing ? [undefined] : []), ...valuesOf(step, conditions)];
  return candidates.some(value => conditions.every(condition => holds(condition, value)));
}

/** Returns values of a step, enough to decide whether conditions on it can hold together. */
function valuesOf(step: StepRules, conditions: readonly Condition[]): unknown[] {
  const scale = scaleOf(step);
  if (scale) return Array.from({ length: scale.max - scale.min + 1 }, (_, index) => scale.min + index);
  const { options = [], allow_other, max } = step.config as Choice;
  const ids = [...options.map(({ id }) => id), ...(allow_other ? ['other'] : [])];
  switch (step.type) {
    case 'thumbs':
      return [true, false];
    case 'consent':
      return [true];
    case 'statement':
      return [];
    case 'single_choice':
      return ids.map(id => ({ option_id: id }));
    case 'multi_choice':
      return [...ids.map(id => ({ option_ids: [id] })), { option_ids: fewest(ids, conditions, max ?? ids.length) }];
    default:
      return [''];
  }
}

interface Choice {
  options?: { id: string }[];
  allow_other?: boolean;
  max?: number;
}

/**
 * Returns the options that `contains_all` requires, and then others up to the maximum. Several `contains_any` ignore the
 * maximum, so that a step counts as reachable in case of doubt.
 */
function fewest(ids: string[], conditions: readonly Condition[], max: number): string[] {
  const required = conditions.flatMap(({ op, value }) => (op === 'contains_all' ? (value as string[]) : []));
  const wanted = conditions.flatMap(({ op, value }) => (op === 'contains_any' ? (value as string[]) : []));
  const isLimited = conditions.filter(({ op }) => op === 'contains_any').length < 2;
  const all = [...new Set([...required, ...wanted, ...ids])];
  return isLimited ? all.slice(0, max) : all;
}
