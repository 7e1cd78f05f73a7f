import type { Schemas } from '../../../api/schema.ts';
import {
  type ComparisonValues,
  comparisonOf,
  comparisonValuesOf,
  newComparison,
  type ValueType,
} from '../../../components/comparison/comparisons.ts';
import type { Operator } from '../steps/conditions.ts';

type Audience = Schemas['Audience'];
type Node = Schemas['AudienceNode'];

/** Maximum number of conditions of an audience. */
export const MAX_CONDITIONS = 20;

/** Subject of a condition; `attribute` and `answered` need a name. */
export type Subject = 'attribute' | 'platform' | 'app_version' | 'locale' | 'verified' | 'answered';

/** The type of the values of a question. */
export type AnswerType = 'number' | 'boolean' | 'string';

/** A condition on a person in the form. It has the values of every subject, so that switching it keeps them. */
export interface PersonCondition extends ComparisonValues {
  subject: Subject;
  attribute: string;
  verified: 'true' | 'false';
  /** Question whose last answer is compared, with the comparison and its values as texts. */
  question: string;
  answerOp: Operator;
  answers: string[];
  answerType: AnswerType;
  within_days: number | null;
}

/** Who is asked. `nested`: a stored audience with groups in groups, which this form keeps but cannot edit. */
export interface AudienceValues {
  match: 'everyone' | 'all' | 'any' | 'none' | 'nested';
  conditions: PersonCondition[];
  nested: Audience | null;
}

export const EVERYONE: AudienceValues = { match: 'everyone', conditions: [], nested: null };

export const newCondition = (subject: Subject, attribute = '', type: ValueType = 'string'): PersonCondition => ({
  ...newComparison(subject === 'app_version' ? 'version' : type),
  ...{ subject, attribute, verified: 'true', question: '', within_days: null },
  ...{ answerOp: 'answered', answers: [], answerType: 'string' },
});

function conditionValuesOf({
  attribute,
  op,
  value,
  platform,
  app_version,
  locale,
  verified,
  answered,
}: Node): PersonCondition {
  if (platform) return { ...newCondition('platform'), ...comparisonValuesOf(platform) };
  if (app_version) return { ...newCondition('app_version'), ...comparisonValuesOf(app_version, 'version') };
  if (locale) return { ...newCondition('locale'), ...comparisonValuesOf(locale) };
  if (verified !== undefined) return { ...newCondition('verified'), verified: verified ? 'true' : 'false' };
  if (answered)
    return {
      ...newCondition('answered'),
      question: answered.question,
      answerOp: answered.op as Operator,
      answers: answered.value === undefined ? [] : [answered.value].flat().map(String),
      answerType: typeof [answered.value].flat()[0] as AnswerType,
      within_days: answered.within_days ?? null,
    };
  return { ...newCondition('attribute', attribute), ...comparisonValuesOf({ op, value }) };
}

/** Editor values of a stored audience. */
export function audienceValuesOf(audience: Audience | null | undefined): AudienceValues {
  if (!audience) return EVERYONE;
  const match = audience.all ? 'all' : audience.any ? 'any' : 'none';
  const nodes = audience[match] ?? [];
  if (nodes.some(({ all, any, none }) => all ?? any ?? none))
    return { match: 'nested', conditions: [], nested: audience };
  return { match, conditions: nodes.map(conditionValuesOf), nested: null };
}

/** Returns a chosen answer in the type of the question's values. */
const answerOf = (text: string, type: AnswerType): string | number | boolean =>
  type === 'number' ? Number(text) : type === 'boolean' ? text === 'true' : text;

function conditionOf(condition: PersonCondition): Schemas['AudienceNodeInput'] {
  const { subject, attribute, verified, question, answerOp, answers, answerType, within_days } = condition;
  if (subject === 'attribute') return { attribute, ...comparisonOf(condition) };
  if (subject === 'verified') return { verified: verified === 'true' };
  if (subject !== 'answered') return { [subject]: comparisonOf(condition) };
  const values = answers.map(text => answerOf(text, answerType));
  const isList = answerOp === 'in' || answerOp.startsWith('contains_');
  const isPlain = answerOp === 'answered' || answerOp === 'not_answered' || values.length === 0;
  const value = (isList ? values : values[0]) as Schemas['AnsweredValueInput'];
  return {
    answered: { question, op: answerOp, ...(isPlain ? {} : { value }), ...(within_days ? { within_days } : {}) },
  };
}

/** Returns the audience as the API expects it; null: everyone. */
export function audienceOf({ match, conditions, nested }: AudienceValues): Schemas['AudienceInput'] | null {
  if (match === 'nested') return nested as Schemas['AudienceInput'] | null;
  return match === 'everyone' || conditions.length === 0 ? null : { [match]: conditions.map(conditionOf) };
}
