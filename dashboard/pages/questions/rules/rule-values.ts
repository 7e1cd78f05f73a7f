import type { Schemas } from '../../../api/schema.ts';
import { type AudienceValues, audienceOf, audienceValuesOf, EVERYONE } from './audience-values.ts';
import { NO_TRIGGER, type TriggerValues, triggerOf, triggerValuesOf } from './trigger-values.ts';

type Question = Schemas['Question'];
type Rules = Pick<Question, 'audience' | 'schedule' | 'trigger' | 'sampling_percent' | 'response_limit'>;
type RulesOfQuestion = Pick<Question, 'frequency'> & Partial<Rules>;

/** Who sees a question, when and how often, in the editor. */
export interface RuleValues {
  audience: AudienceValues;
  /** Instants; null: from publication, and never. */
  schedule: Question['schedule'];
  trigger: TriggerValues;
  frequency: Question['frequency'];
  sampling_percent: number;
  response_limit: { count: number | null; per: Schemas['ResponseLimit']['per'] };
}

export const EMPTY_RULES: RuleValues = {
  audience: EVERYONE,
  schedule: { start_at: null, end_at: null },
  trigger: NO_TRIGGER,
  frequency: {
    ...{ repeat: 'until_answered', every_days: null, max_displays: null },
    ...{ snooze_after_dismiss_days: 30, ignore_cooldown: false },
  },
  sampling_percent: 100,
  response_limit: { count: null, per: 'total' },
};

/** Editor values of the rules of a stored question, or of a template, which has the frequency only. */
export const ruleValuesOf = (question: RulesOfQuestion): RuleValues => ({
  audience: audienceValuesOf(question.audience),
  schedule: question.schedule ?? EMPTY_RULES.schedule,
  trigger: triggerValuesOf(question.trigger),
  frequency: question.frequency,
  sampling_percent: question.sampling_percent ?? EMPTY_RULES.sampling_percent,
  response_limit: question.response_limit ?? EMPTY_RULES.response_limit,
});

/** Returns the rules as the API expects them. */
export const rulesOf = ({ audience, schedule, trigger, frequency, sampling_percent, response_limit }: RuleValues) => ({
  audience: audienceOf(audience),
  schedule,
  trigger: triggerOf(trigger),
  frequency: { ...frequency, every_days: frequency.repeat === 'every_days' ? frequency.every_days : null },
  sampling_percent,
  response_limit: response_limit.count === null ? null : { ...response_limit, count: response_limit.count },
});

/** The form's name of the part of a condition at a path below it. */
const PARTS: Record<string, string> = {
  '': 'subject',
  attribute: 'attribute',
  op: 'op',
  value: 'text',
  'answered/question': 'question',
  'answered/op': 'answerOp',
  'answered/value': 'answers',
  'answered/within_days': 'within_days',
};

/** Returns the form's name of the field at a JSON pointer into the rules. The form has the conditions in one list. */
export const ruleFieldNameOf = (pointer: string): string =>
  pointer
    .replace(
      /^(audience)\/(?:all|any|none)\/(\d+)\/?(.*)$/,
      (_, audience: string, at: string, part: string) =>
        `${audience}/conditions/${at}/${PARTS[part.replace(/^(platform|app_version|locale)\//, '').replace(/^value\/\d+$/, 'value')] ?? 'subject'}`,
    )
    .replace(/^audience$/, 'audience/match')
    .replace(/^(trigger\/where\/\d+)\/value(\/\d+)?$/, '$1/text')
    .replace(/^trigger\/where$/, 'trigger/kind')
    .replace(/^trigger\/url$/, 'trigger/url/value')
    .replace(/^trigger\/cancel_on\/\d+$/, 'trigger/cancel_on')
    .replace(/^response_limit$/, 'response_limit/count');
