import type { Schemas } from '../../api/schema.ts';
import type { CardText } from '../../components/card/card-source.ts';
import { t } from '../../i18n.ts';
import type { QuestionType } from '../../words.ts';
import { type ConfigValues, configOf, configValuesOf, EMPTY_CONFIG } from './config-values.ts';
import { type TranslationValues, translationsOf, translationValuesOf } from './languages/translations.ts';
import { EMPTY_RULES, type RuleValues, ruleFieldNameOf, rulesOf, ruleValuesOf } from './rules/rule-values.ts';
import { type FollowUpValues, followUpsOf, followUpValuesOf } from './steps/step-values.ts';
import { EMPTY_THANKS, type ThanksValues, thanksOf, thanksValuesOf } from './thanks/thanks-values.ts';

type Question = Schemas['Question'];

export interface QuestionValues extends RuleValues {
  type: QuestionType;
  name: string;
  title: string;
  description: string;
  config: ConfigValues;
  follow_ups: FollowUpValues[];
  thanks: ThanksValues;
  /** Language of the question's own texts; empty: the tenant's default. */
  locale: string;
  translations: TranslationValues;
  allow_public: boolean;
  priority: number;
  /** Empty: that of the tenant's appearance. */
  placement: Schemas['Placement'] | '';
}

/** Prefix of the fields of a step in the form; empty for the question itself. */
export type StepPath = '' | `follow_ups.${number}.`;

/** Initial values of a new question. */
export const EMPTY_QUESTION: QuestionValues = {
  type: 'nps',
  name: '',
  title: '',
  description: '',
  config: EMPTY_CONFIG,
  follow_ups: [],
  thanks: EMPTY_THANKS,
  locale: '',
  translations: {},
  ...EMPTY_RULES,
  allow_public: false,
  priority: 0,
  placement: '',
};

/** Editor values of a stored question. */
export function valuesOf(question: Question): QuestionValues {
  const { type, name, title, description, locale, allow_public, priority } = question;
  return {
    ...{ type, name, title, description, locale, allow_public, priority },
    config: configValuesOf(question.config),
    follow_ups: question.follow_ups.map(followUpValuesOf),
    thanks: thanksValuesOf(question.thanks),
    translations: translationValuesOf(question.translations ?? {}),
    placement: question.placement ?? '',
    ...ruleValuesOf(question),
  };
}

/** Request body for the editor values; without a name, the API uses the title. */
export const bodyOf = ({ name, config, locale, placement, ...values }: QuestionValues) => ({
  ...values,
  ...(locale ? { locale } : {}),
  ...(name.trim() ? { name } : {}),
  config: configOf(values.type, config),
  follow_ups: followUpsOf({ ...values, config }),
  thanks: thanksOf(values.thanks),
  placement: placement || null,
  translations: translationsOf({ ...values, config }),
  ...rulesOf(values),
});

/** The card of the edited question, with placeholders for missing titles. */
export const cardTextOf = (values: QuestionValues): CardText => ({
  type: values.type,
  title: values.title || t('Your question'),
  description: values.description,
  config: configOf(values.type, values.config),
  follow_ups: followUpsOf(values).map((step, at) => ({
    ...step,
    title: step.title || t('Step {number}', { number: at + 2 }),
  })),
  thanks: values.thanks.title ? thanksOf(values.thanks) : null,
  locale: values.locale,
  translations: translationsOf(values),
});

/**
 * Returns the form's name of the field at a JSON pointer. The form has the conditions of a step in one list, however many
 * there are.
 */
export const fieldNameOf = (pointer: string): string =>
  ruleFieldNameOf(pointer.slice(1))
    .replace(/^(follow_ups\/\d+\/)show_if\/(?:all|any)\//, '$1conditions/')
    .replace(/^(follow_ups\/\d+\/)show_if\//, '$1conditions/0/')
    .replace(/^(follow_ups\/\d+\/)show_if$/, '$1match')
    .replaceAll('/', '.');
