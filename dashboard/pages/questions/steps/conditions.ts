import type { Schemas } from '../../../api/schema.ts';
import { formatNumber, t } from '../../../i18n.ts';
import type { QuestionType } from '../../../words.ts';
import type { ConfigValues } from '../config-values.ts';

export type Operator = Schemas['ConditionInput']['op'];
type Condition = Schemas['ConditionInput'];
type Operand = number | boolean | string;

/** A comparison in the form. Values are texts: numbers, `true`, `false` or the ids of options. */
export interface ConditionValues {
  /** `id` of a step in the form. */
  step: string;
  op: Operator;
  /** At most one value, unless the operator takes a list. */
  value: string[];
}

/** A step whose value conditions compare. */
export interface ComparedStep {
  /** Identifies the step in the form; its key may change. */
  id: string;
  key: string;
  title: string;
  type: QuestionType;
  config: ConfigValues;
}

const ANY_STEP: Operator[] = ['answered', 'not_answered'];
const SCORE: Operator[] = ['lte', 'gte', 'eq', 'ne', 'lt', 'gt', 'in', ...ANY_STEP];

/** The operators for each type of step (`show_if` in the OpenAPI document); the first is the most common one. */
const OPERATORS: Record<QuestionType, Operator[]> = {
  nps: SCORE,
  csat: SCORE,
  ces: SCORE,
  rating: SCORE,
  thumbs: ['eq', ...ANY_STEP],
  consent: ['eq', ...ANY_STEP],
  single_choice: ['eq', 'ne', 'in', ...ANY_STEP],
  multi_choice: ['contains_any', 'contains_all', ...ANY_STEP],
  text: ANY_STEP,
  date: ANY_STEP,
  statement: ANY_STEP,
};

/** Returns the operators that fit a type. */
export const operatorsFor = (type: QuestionType): Operator[] => OPERATORS[type];

export const operatorName = (op: Operator): string =>
  ({
    answered: t('was answered'),
    not_answered: t('was not answered'),
    eq: t('is'),
    ne: t('is not'),
    lt: t('is less than'),
    lte: t('is at most'),
    gt: t('is greater than'),
    gte: t('is at least'),
    in: t('is one of'),
    contains_any: t('contains any of'),
    contains_all: t('contains all of'),
  })[op];

export const needsValue = (op: Operator): boolean => !ANY_STEP.includes(op);
export const needsList = (op: Operator): boolean => op === 'in' || op.startsWith('contains_');

/** Returns a condition on a step, without a value. */
export const newCondition = ({ id, type }: ComparedStep): ConditionValues => ({
  step: id,
  op: operatorsFor(type)[0] as Operator,
  value: [],
});

/** The first and last value of each scale. */
function scaleOf({ type, config }: ComparedStep): [number, number] | undefined {
  if (type === 'nps') return [0, 10];
  if (type === 'csat') return [1, 5];
  return type === 'ces' || type === 'rating' ? [1, Number(config.scale)] : undefined;
}

/** A selectable value of a condition. */
export interface OperandChoice {
  value: string;
  label: string;
}

/** Returns the values with which a condition can compare a step. */
export function operandsFor(step: ComparedStep): OperandChoice[] {
  const scale = scaleOf(step);
  if (scale) {
    const [first, last] = scale;
    return Array.from({ length: last - first + 1 }, (_, at) => ({
      value: String(first + at),
      label: formatNumber(first + at),
    }));
  }
  if (step.type === 'thumbs')
    return [
      { value: 'true', label: t('Thumbs up') },
      { value: 'false', label: t('Thumbs down') },
    ];
  if (step.type === 'consent') return [{ value: 'true', label: t('Consent given') }];
  if (step.type !== 'single_choice' && step.type !== 'multi_choice') return [];
  const options = step.config.options.map(({ id, label }) => ({ value: id, label: label || id }));
  return step.config.allow_other && !options.some(({ value }) => value === 'other')
    ? [...options, { value: 'other', label: t('Other') }]
    : options;
}

/** Returns a value in the type that the API expects for a step. */
function operandOf(step: ComparedStep | undefined, text: string): Operand {
  if (!step) return text;
  if (scaleOf(step)) return Number(text);
  return step.type === 'thumbs' || step.type === 'consent' ? text === 'true' : text;
}

/** Returns a condition as the API expects it. A missing value is left out, so that drafts can be saved without it. */
export function conditionOf({ step: id, op, value }: ConditionValues, steps: readonly ComparedStep[]): Condition {
  const step = steps.find(each => each.id === id);
  const base = { step: step?.key ?? id, op };
  const operands = value.map(text => operandOf(step, text));
  if (!needsValue(op) || operands[0] === undefined) return base;
  return { ...base, value: (needsList(op) ? operands : operands[0]) as Schemas['ConditionValueInput'] };
}

/** Editor values of a stored condition. */
export const conditionValuesOf = ({ step, op, value }: Schemas['Condition']): ConditionValues => ({
  step,
  op: op as Operator,
  value: value === undefined ? [] : [value].flat().map(String),
});

/** Returns the sentence of a condition, such as “How likely? is at most 6”. */
export function conditionText({ step: id, op, value }: ConditionValues, steps: readonly ComparedStep[]): string {
  const step = steps.find(each => each.id === id);
  const operands = step ? operandsFor(step) : [];
  const names = value.map(text => operands.find(operand => operand.value === text)?.label ?? text);
  return t('“{title}” {operator} {values}', {
    title: step?.title || id,
    operator: operatorName(op),
    values: needsValue(op) ? names.join(', ') || '…' : '',
  }).trim();
}
