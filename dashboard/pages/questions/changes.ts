import { t } from '../../i18n.ts';
import { typeName } from '../../words.ts';
import { configOf } from './config-values.ts';
import type { QuestionValues } from './form.ts';
import { languageName } from './languages/names.ts';
import { sourceTexts } from './languages/translations.ts';
import { rulesOf } from './rules/rule-values.ts';
import { comparedSteps, type FollowUpValues, showIfText } from './steps/step-values.ts';
import { EMPTY_THANKS, type ThanksValues } from './thanks/thanks-values.ts';

/** A change visible to users. */
export interface Change {
  label: string;
  before?: string;
  after?: string;
}

interface Seen {
  title: string;
  description: string;
  type: string;
  low: string;
  high: string;
  style: string;
  scale: string;
  url: string;
  options: Map<string, string>;
}

const styleName = (style: unknown): string =>
  ({ number: t('Numbers'), smiley: t('Smileys'), star: t('Stars') })[String(style)] ?? '';

/** The parts that the question itself and its follow-ups have. */
type StepTexts = Pick<QuestionValues, 'type' | 'title' | 'description' | 'config'>;

/** Extracts the parts of a step that are visible to users. */
function seenOf({ type, title, description, config }: StepTexts): Seen {
  const { labels, style, scale, url, options } = configOf(type, config) as {
    labels?: { low?: string; high?: string };
    style?: string;
    scale?: number;
    url?: string;
    options?: { id: string; label: string }[];
  };
  return {
    title,
    description,
    type: typeName(type),
    low: labels?.low ?? '',
    high: labels?.high ?? '',
    style: styleName(style),
    scale: scale ? t('1 to {scale}', { scale }) : '',
    url: url ?? '',
    options: new Map(options?.map(({ id, label }) => [id, label])),
  };
}

const NOTHING: Seen = {
  title: '',
  description: '',
  type: '',
  low: '',
  high: '',
  style: '',
  scale: '',
  url: '',
  options: new Map(),
};

function optionChanges(before: Seen['options'], after: Seen['options']): Change[] {
  const ids = [...new Set([...before.keys(), ...after.keys()])];
  return ids.map(id => ({ label: t('Option'), before: before.get(id), after: after.get(id) }));
}

const isChange = ({ before, after }: Change): boolean => before !== after;

function stepChanges(before: StepTexts | undefined, after: StepTexts): Change[] {
  const old = before ? seenOf(before) : NOTHING;
  const next = seenOf(after);
  const texts: [label: string, name: Exclude<keyof Seen, 'options'>][] = [
    [t('Question'), 'title'],
    [t('Description'), 'description'],
    [t('Type'), 'type'],
    [t('Scale'), 'scale'],
    [t('Display style'), 'style'],
    [t('Low end label'), 'low'],
    [t('High end label'), 'high'],
    [t('Link'), 'url'],
  ];
  return [
    ...texts.map(([label, name]) => ({ label, before: old[name] || undefined, after: next[name] || undefined })),
    ...optionChanges(old.options, next.options),
  ].filter(isChange);
}

/** Whether two steps are shown under the same condition, whatever the titles of the steps in it. */
const hasSameShowIf = (one: FollowUpValues, other: FollowUpValues): boolean =>
  one.match === other.match &&
  (one.match === 'always' || JSON.stringify(one.conditions) === JSON.stringify(other.conditions));

function ruleChanges(before: QuestionValues | undefined, after: QuestionValues, step: FollowUpValues): Change[] {
  const old = before?.follow_ups.find(({ id }) => id === step.id);
  const requiredText = (one: FollowUpValues) => (one.required ? t('Yes') : t('No'));
  const showIf: Change = {
    label: t('Show this step'),
    ...(before && old ? { before: showIfText(old, comparedSteps(before)) } : {}),
    after: showIfText(step, comparedSteps(after)),
  };
  const required: Change = {
    label: t('Required'),
    ...(old ? { before: requiredText(old) } : {}),
    after: requiredText(step),
  };
  return [...(old && hasSameShowIf(old, step) ? [] : [showIf]), ...[required].filter(isChange)];
}

const followUpChanges = (before: QuestionValues | undefined, after: QuestionValues): Change[] =>
  after.follow_ups.flatMap((step, at) => {
    const old = before?.follow_ups.find(({ id }) => id === step.id);
    return [...stepChanges(old, step), ...ruleChanges(before, after, step)].map(change => ({
      ...change,
      label: `${t('Step {number}', { number: at + 2 })} · ${change.label}`,
    }));
  });

function thanksChanges(before: QuestionValues | undefined, after: QuestionValues): Change[] {
  const textsOf = ({ title, body, link }: ThanksValues): [label: string, text: string][] => [
    [t('Title of the thanks'), title],
    [t('Text of the thanks'), body],
    [t('Link text'), link.label],
    [t('Link address'), link.url],
  ];
  const old = textsOf(before?.thanks ?? EMPTY_THANKS);
  return textsOf(after.thanks)
    .map(([label, text], at) => ({ label, before: old[at]?.[1] || undefined, after: text || undefined }))
    .filter(isChange);
}

/** A change of the rules; texts and steps are the same for those who see the question. */
function ruleSetChanges(before: QuestionValues | undefined, after: QuestionValues): Change[] {
  const isSame = before && JSON.stringify(rulesOf(before)) === JSON.stringify(rulesOf(after));
  return !before || isSame ? [] : [{ label: t('Who, when and how many'), after: t('Changed') }];
}

/** The translations that differ, each with its language. */
function translationChanges(before: QuestionValues | undefined, after: QuestionValues): Change[] {
  const tags = new Set([...Object.keys(before?.translations ?? {}), ...Object.keys(after.translations)]);
  const sources = sourceTexts(after);
  return [...tags].flatMap(tag =>
    sources
      .map(({ place, label }) => ({
        label: `${languageName(tag)} · ${label}`,
        before: before?.translations[tag]?.[place] || undefined,
        after: after.translations[tag]?.[place] || undefined,
      }))
      .filter(isChange),
  );
}

const removedSteps = (before: QuestionValues | undefined, after: QuestionValues): Change[] =>
  (before?.follow_ups ?? [])
    .filter(({ id }) => !after.follow_ups.some(step => step.id === id))
    .map(({ title }) => ({ label: t('Removed step'), before: title }));

/** The order of the steps that both have, if it differs. */
function orderChange(before: QuestionValues | undefined, after: QuestionValues): Change[] {
  const titlesIn = (one: QuestionValues, other: QuestionValues) =>
    one.follow_ups.filter(({ id }) => other.follow_ups.some(step => step.id === id));
  if (!before) return [];
  const [old, next] = [titlesIn(before, after), titlesIn(after, before)];
  if (old.every(({ id }, at) => next[at]?.id === id)) return [];
  const listed = (steps: FollowUpValues[]) => steps.map(({ title }) => title).join(' → ');
  return [{ label: t('Order of the steps'), before: listed(old), after: listed(next) }];
}

/** Lists the changes that users will see, compared with `before`; all parts for the first version. */
export const changesFor = (before: QuestionValues | undefined, after: QuestionValues): Change[] => [
  ...stepChanges(before, after),
  ...orderChange(before, after),
  ...followUpChanges(before, after),
  ...removedSteps(before, after),
  ...thanksChanges(before, after),
  ...ruleSetChanges(before, after),
  ...translationChanges(before, after),
];
