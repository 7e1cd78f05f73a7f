import type { AnswerValue, CardStep, QuestionType } from '../types.ts';
import { FORMS } from './forms.ts';

/** Reason why a value is not accepted; `limit` is the number of the rule, such as the minimum length. */
export interface Fault {
  /** Key of the step. */
  step: string;
  code: 'required' | 'invalid' | 'too-short' | 'too-long' | 'too-few' | 'too-many';
  limit?: number;
}

type Config = CardStep['config'];
type Found = Omit<Fault, 'step'> | undefined;

const INVALID: Found = { code: 'invalid' };
const isTrue = (isRight: boolean): Found => (isRight ? undefined : INVALID);

/** First and last point of a step with a scale. */
export function rangeOf({ type, config: { scale } }: CardStep): { from: number; to: number } {
  if (type === 'nps') return { from: 0, to: 10 };
  return { from: 1, to: type === 'csat' ? 5 : (scale ?? (type === 'ces' ? 7 : 5)) };
}

const SCORED: QuestionType[] = ['nps', 'csat', 'ces', 'rating', 'thumbs'];
const UNSCORED: QuestionType[] = ['single_choice', 'multi_choice', 'text', 'date', 'consent', 'statement'];

/** Types with a score, which allow a comment. */
export const isScored = ({ type }: CardStep): boolean => SCORED.includes(type);

/** Whether this version supports the type; the server may be newer. */
export const isKnownType = ({ type }: CardStep): boolean => [...SCORED, ...UNSCORED].includes(type);

/** Value of a required step without input: an empty selection is an answer if the question accepts it. */
export const emptyValueOf = ({ type, config, required }: CardStep): AnswerValue | undefined =>
  required && type === 'multi_choice' && config.min === 0 ? { option_ids: [] } : undefined;

function textFault(value: AnswerValue, { input = 'text', min_length = 0, max_length = 5000 }: Config): Found {
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
  const count = ids.length + (other === undefined ? 0 : 1);
  if (count < min) return { code: 'too-few', limit: min };
  return count > max ? { code: 'too-many', limit: max } : undefined;
}

/** Rules by type of question, as on the server, which checks them again. Other types are left to the server. */
function findFault(step: CardStep, value: AnswerValue): Found {
  const { type, config } = step;
  const { from, to } = rangeOf(step);
  const { option_id, option_ids, other_text } = Object(value) as Choice;
  switch (type) {
    case 'nps':
    case 'csat':
    case 'ces':
    case 'rating':
      return isTrue(Number.isInteger(value) && (value as number) >= from && (value as number) <= to);
    case 'thumbs':
      return isTrue(typeof value === 'boolean');
    case 'single_choice':
      return (
        choiceFault(option_id === undefined ? [] : [option_id], other_text, { ...config, min: 1, max: 1 }) && INVALID
      );
    case 'multi_choice':
      return Array.isArray(option_ids) ? choiceFault(option_ids, other_text, config) : INVALID;
    case 'text':
      return textFault(value, config);
    case 'date':
      return isTrue(typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value));
    case 'consent':
      return isTrue(value === true);
    case 'statement':
      return INVALID;
  }
}

/** Returns the fault of a value that is present. */
export function faultOf(step: CardStep, value: AnswerValue): Fault | undefined {
  const found = findFault(step, value);
  return found && { step: step.key, ...found };
}
