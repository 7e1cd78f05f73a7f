import type { AnswerValue, CardStep, QuestionType } from '../types.ts';
import { FORMS } from './forms.ts';

/** Reason why a value is not accepted; `limit` is the number of the rule, such as the minimum length. */
export interface Fault {
  /** Key of the step. */
  step: string;
  code: 'required' | 'invalid' | 'too-short' | 'too-long' | 'too-few' | 'too-many';
  limit?: number;
}

/** Maximum length of comments, of the text for "other", and of answers without their own limit. */
export const MAX_TEXT = 5000;

type Config = CardStep['config'];
type Found = Omit<Fault, 'step'> | undefined;

const INVALID: Found = { code: 'invalid' };
const isTrue = (isRight: boolean): Found => (isRight ? undefined : INVALID);

/** First and last point of a step with a scale. */
export function rangeOf({ type, config: { scale } }: CardStep): { from: number; to: number } {
  if (type === 'nps') return { from: 0, to: 10 };
  return { from: 1, to: type === 'csat' ? 5 : (scale ?? (type === 'ces' ? 7 : 5)) };
}

/** Value of a required step without input: an empty selection is an answer if the question accepts it. */
export const emptyValueOf = ({ type, config, required }: CardStep): AnswerValue | undefined =>
  required && type === 'multi_choice' && config.min === 0 ? { option_ids: [] } : undefined;

function textFault(value: AnswerValue, { input = 'text', min_length = 0, max_length = MAX_TEXT }: Config): Found {
  if (typeof value !== 'string') return INVALID;
  if (value.length < min_length) return { code: 'too-short', limit: min_length };
  if (value.length > max_length) return { code: 'too-long', limit: max_length };
  return isTrue(FORMS[input]?.(value) ?? true);
}

interface Choice {
  option_id?: string;
  option_ids?: string[];
  other_text?: string;
}

function choiceFault(ids: string[], other: string | undefined, config: Config): Found {
  const { options = [], allow_other, min = 1, max = Number.POSITIVE_INFINITY } = config;
  const isKnown = ids.every((id, index) => ids.indexOf(id) === index && options.some(option => option.id === id));
  if (!isKnown || (other !== undefined && !(allow_other && other.trim()))) return INVALID;
  if (other !== undefined && other.length > MAX_TEXT) return { code: 'too-long', limit: MAX_TEXT };
  const count = ids.length + (other === undefined ? 0 : 1);
  if (count < min) return { code: 'too-few', limit: min };
  return count > max ? { code: 'too-many', limit: max } : undefined;
}

type Check = (value: AnswerValue, step: CardStep) => Found;

const checkPoint: Check = (value, step) => {
  const { from, to } = rangeOf(step);
  return isTrue(Number.isInteger(value) && (value as number) >= from && (value as number) <= to);
};

/** Rules by type of question, as on the server, which checks them again. */
const CHECKS: Record<QuestionType, Check> = {
  nps: checkPoint,
  csat: checkPoint,
  ces: checkPoint,
  rating: checkPoint,
  thumbs: value => isTrue(typeof value === 'boolean'),
  single_choice(value, { config }) {
    const { option_id, other_text } = Object(value) as Choice;
    const ids = option_id === undefined ? [] : [option_id];
    const fault = choiceFault(ids, other_text, { ...config, min: 1, max: 1 });
    return fault?.code === 'too-long' ? fault : fault && INVALID;
  },
  multi_choice(value, { config }) {
    const { option_ids, other_text } = Object(value) as Choice;
    return Array.isArray(option_ids) ? choiceFault(option_ids, other_text, config) : INVALID;
  },
  text: (value, { config }) => textFault(value, config),
  date: value => isTrue(typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value)),
  consent: value => isTrue(value === true),
  statement: () => INVALID,
};

/** Types with a score, which allow a comment. */
export const isScored = ({ type }: CardStep): boolean => CHECKS[type] === checkPoint || type === 'thumbs';

/** Whether this version supports the type; the server may be newer. */
export const isKnownType = ({ type }: CardStep): boolean => Object.keys(CHECKS).includes(type);

/** Returns the fault of a value that is present. */
export function faultOf(step: CardStep, value: AnswerValue): Fault | undefined {
  const found = CHECKS[step.type]?.(value, step);
  return found && { step: step.key, ...found };
}
