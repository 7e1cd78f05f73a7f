import { formatNumber, t } from '../../../i18n.ts';
import type { Change } from '../changes.ts';

/** A recall in a text, as in `src/domain/questions/recall.ts`: the attribute and the text for users without it. */
const RECALL = /\{\{\s*identity\.attributes\.([A-Za-z0-9_.-]{1,64})\s*\|([^{}]*)\}\}/g;

/** Returns a text with its recalls in words. */
export const readableText = (text: string): string =>
  text.replaceAll(RECALL, (_, attribute: string, fallback: string) =>
    t('[{attribute}, or “{fallback}”]', { attribute, fallback: fallback.trim() }),
  );

/** Letters written from right to left, and characters that change the order of the text after them. */
const CHANGES_ORDER = /[\p{Script=Arabic}\p{Script=Hebrew}\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/** Returns a text as a name in a sentence, whose order it does not change: recalls as the text for users without the attribute. */
export function shortText(text: string): string {
  const short = text.replaceAll(RECALL, (_, __, fallback: string) => fallback.trim());
  return CHANGES_ORDER.test(short) ? `\u2068${short}\u2069` : short;
}

const recalledIn = (text: unknown): Set<string> =>
  new Set(typeof text === 'string' ? [...text.matchAll(RECALL)].map(([, name = '']) => name) : []);

/** Returns the added and removed recalls of a text. */
export function recallTexts(before: unknown, after: unknown): string[] {
  const [old, now] = [recalledIn(before), recalledIn(after)];
  return [
    ...[...now].filter(name => !old.has(name)).map(name => t('recalls the attribute “{name}”', { name })),
    ...[...old].filter(name => !now.has(name)).map(name => t('no longer recalls the attribute “{name}”', { name })),
  ];
}

const asText = (value: unknown): string | undefined => {
  if (value === null || value === undefined || value === '') return undefined;
  if (typeof value === 'boolean') return value ? t('Yes') : t('No');
  return typeof value === 'number' ? formatNumber(value) : readableText(String(value));
};

function verbFor(before: string | undefined, after: string | undefined, part: string): string {
  if (before === undefined) return t('{part} added', { part });
  return after === undefined ? t('{part} removed', { part }) : t('{part} changed', { part });
}

/**
 * Returns the change of a text, a number or a switch, such as “Step “Why?” · Description changed”.
 *
 * @param subject the step, the language or both; empty for the question itself
 */
export function valueChange(subject: readonly string[], part: string, before: unknown, after: unknown): Change[] {
  const [old, now] = [asText(before), asText(after)];
  if (old === now) return [];
  const label = [...subject, verbFor(old, now, part), ...recallTexts(before, after)].join(' · ');
  return [{ label, ...(old === undefined ? {} : { before: old }), ...(now === undefined ? {} : { after: now }) }];
}

interface Option {
  id: string;
  label: string;
}

/** Returns the changes of the options of a choice. */
function optionChanges(subject: readonly string[], before: Option[], after: Option[]): Change[] {
  const labelIn = (options: Option[], id: string) => options.find(option => option.id === id)?.label;
  const ids = [...new Set([...before, ...after].map(({ id }) => id))];
  const changed = ids.flatMap(id => valueChange(subject, t('Option'), labelIn(before, id), labelIn(after, id)));
  const orderOf = (options: Option[], others: Option[]) =>
    options.filter(({ id }) => others.some(other => other.id === id)).map(({ id }) => id);
  const [old, now] = [orderOf(before, after), orderOf(after, before)];
  if (old.join('\n') === now.join('\n')) return changed;
  const listed = (list: string[]) => list.map(id => readableText(labelIn(after, id) ?? id)).join(' → ');
  const label = [...subject, t('Options reordered')].join(' · ');
  return [...changed, { label, before: listed(old), after: listed(now) }];
}

const styleName = (style: unknown): string | undefined =>
  ({ number: t('Numbers'), smiley: t('Smileys'), star: t('Stars') })[String(style)];

const inputName = (input: unknown): string | undefined =>
  ({ text: t('Any text'), email: t('Email address'), url: t('URL'), number: t('Number') })[String(input)];

/** The names of the parts of a config whose value is shown as it is. */
const partName = (name: string): string =>
  ({
    allow_other: t('Allow “Other” with free text'),
    shuffle: t('Show options in random order'),
    min: t('Minimum selections'),
    max: t('Maximum selections'),
    min_length: t('Minimum length'),
    max_length: t('Maximum length'),
    scale: t('Scale'),
    url: t('Link'),
  })[name] ?? name;

/** Returns the changes of a part of a step's config. */
export function configChanges(subject: readonly string[], name: string, before: unknown, after: unknown): Change[] {
  if (name === 'options') return optionChanges(subject, (before ?? []) as Option[], (after ?? []) as Option[]);
  if (name === 'style') return valueChange(subject, t('Display style'), styleName(before), styleName(after));
  if (name === 'input') return valueChange(subject, t('Input type'), inputName(before), inputName(after));
  if (name !== 'labels') return valueChange(subject, partName(name), before, after);
  const [old, now] = [before, after].map(labels => (labels ?? {}) as { low?: string; high?: string });
  return [
    ...valueChange(subject, t('Low end label'), old?.low, now?.low),
    ...valueChange(subject, t('High end label'), old?.high, now?.high),
  ];
}
