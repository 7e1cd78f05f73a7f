import type { Schemas } from '../../../api/schema.ts';
import { t } from '../../../i18n.ts';
import { configOf } from '../config-values.ts';
import type { StepValues } from '../steps/step-values.ts';
import type { ThanksValues } from '../thanks/thanks-values.ts';

type Translation = Schemas['Translation'];

/** The texts of each language by tag, then by their place, such as `follow_ups/reason/title`. Steps are named by their `id`. */
export type TranslationValues = Record<string, Record<string, string>>;

/** A text of the question itself. */
export interface SourceText {
  place: string;
  /** The name of the text, such as “Step 2 · Description”. */
  label: string;
  text: string;
}

type TextsOfStep = Pick<StepValues, 'type' | 'title' | 'config'> & { description: string };

interface ConfigTexts {
  labels?: { low?: string; high?: string };
  options?: { id: string; label: string }[];
}

function textsOfStep(step: TextsOfStep, start: string, prefix: string): SourceText[] {
  const { labels = {}, options = [] } = configOf(step.type, step.config) as ConfigTexts;
  const all: [place: string, label: string, text: string | undefined][] = [
    ['title', t('Question'), step.title],
    ['description', t('Description'), step.description],
    ['config/labels/low', t('Low end label'), labels.low],
    ['config/labels/high', t('High end label'), labels.high],
    ...options.map(({ id, label }, at): [string, string, string] => [
      `config/options/${id}`,
      t('Option {number}', { number: at + 1 }),
      label,
    ]),
  ];
  return all.flatMap(([place, label, text]) =>
    text ? [{ place: `${start}${place}`, label: `${prefix}${label}`, text }] : [],
  );
}

function textsOfThanks({ title, body, link }: ThanksValues): SourceText[] {
  const all = [
    { place: 'thanks/title', label: t('Title of the thanks'), text: title },
    { place: 'thanks/body', label: t('Text of the thanks'), text: body },
    { place: 'thanks/link/label', label: t('Link text'), text: link.label },
  ];
  return all.filter(({ text }) => text !== '');
}

/** The parts of a question that have texts for users. */
type TextValues = StepValues & { description: string; thanks: ThanksValues };

/** Returns every text of the question that is translated, in order. */
export const sourceTexts = (values: TextValues): SourceText[] => [
  ...textsOfStep(values, '', ''),
  ...values.follow_ups.flatMap((step, at) =>
    textsOfStep(step, `follow_ups/${step.id}/`, `${t('Step {number}', { number: at + 2 })} · `),
  ),
  ...textsOfThanks(values.thanks),
];

/** Returns the texts that a language lacks. */
export const missingTexts = (sources: readonly SourceText[], texts: Record<string, string>): SourceText[] =>
  sources.filter(({ place }) => !texts[place]);

function flatten(node: object, start = ''): [string, string][] {
  return Object.entries(node).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' ? [[`${start}${name}`, value]] : flatten((value ?? {}) as object, `${start}${name}/`),
  );
}

/** Editor values of stored translations. */
export const translationValuesOf = (translations: Record<string, Translation>): TranslationValues =>
  Object.fromEntries(Object.entries(translations).map(([tag, texts]) => [tag, Object.fromEntries(flatten(texts))]));

/** The parts of a translation that are edited here; others, such as those of a later version, are kept. */
const EDITED = /^(title|description|config|follow_ups|thanks)(\/|$)/;

/** Returns a language as the API expects it, without edited texts that the question itself does not have. */
function translationOf(
  texts: Record<string, string>,
  sources: readonly SourceText[],
  keys: Map<string, string>,
): Translation {
  const translation: Record<string, unknown> = {};
  const places = [...sources.map(({ place }) => place), ...Object.keys(texts).filter(place => !EDITED.test(place))];
  for (const place of places) {
    const text = texts[place];
    if (!text) continue;
    const names = place.split('/');
    if (names[0] === 'follow_ups') names[1] = keys.get(names[1] as string) as string;
    let node = translation;
    for (const name of names.slice(0, -1)) {
      node[name] ??= {};
      node = node[name] as Record<string, unknown>;
    }
    node[names.at(-1) as string] = text;
  }
  return translation;
}

/** Returns the translations as the API expects them. */
export function translationsOf(values: TextValues & { translations: TranslationValues }): Record<string, Translation> {
  const sources = sourceTexts(values);
  const keys = new Map(values.follow_ups.map(({ id, key }) => [id, key]));
  return Object.fromEntries(
    Object.entries(values.translations).map(([tag, texts]) => [tag, translationOf(texts, sources, keys)]),
  );
}
