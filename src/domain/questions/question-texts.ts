import type { Attributes } from '../people/identities.ts';
import { jsonPointer } from '../validation.ts';
import type { QuestionContent } from './questions.ts';
import { recall, recalledIn } from './recall.ts';
import type { Thanks } from './thanks.ts';
import type { Translation, Translations } from './translations.ts';
import type { QuestionConfig } from './types/index.ts';

/** Where a text is: its path in a translation, and its JSON pointer in the question. They differ where lists have ids. */
export interface TextPlace {
  path: readonly string[];
  pointer: string;
}

/** Returns the new text of a place. */
type ChangeText = (text: string, place: TextPlace) => string;

/** The parts of a step with texts for users. */
interface StepWithTexts {
  title: string;
  description: string;
  config: QuestionConfig;
}

interface ConfigTexts {
  labels?: { low?: string; high?: string };
  options?: { id: string; label: string }[];
}

function mapConfig(config: QuestionConfig, { path, pointer }: TextPlace, change: ChangeText): QuestionConfig {
  const { labels, options } = config as ConfigTexts;
  if (!labels && !options) return config;
  const at = (names: string[], place: string): TextPlace => ({
    path: [...path, ...names],
    pointer: `${pointer}/${place}`,
  });
  const sides = Object.entries(labels ?? {}).map(([side, label]) => [
    side,
    change(label, at(['labels', side], `labels/${side}`)),
  ]);
  const changed = options?.map(({ id, label }, index) => ({
    id,
    label: change(label, at(['options', id], `options/${index}/label`)),
  }));
  const texts = { ...(labels && { labels: Object.fromEntries(sides) }), ...(changed && { options: changed }) };
  return { ...config, ...texts } as QuestionConfig;
}

const mapStep = <Step extends StepWithTexts>(step: Step, { path, pointer }: TextPlace, change: ChangeText): Step => ({
  ...step,
  title: change(step.title, { path: [...path, 'title'], pointer: `${pointer}/title` }),
  description: change(step.description, { path: [...path, 'description'], pointer: `${pointer}/description` }),
  config: mapConfig(step.config, { path: [...path, 'config'], pointer: `${pointer}/config` }, change),
});

/** Returns the thanks with each text changed. The address of the link is the same in every language. */
function mapThanks(thanks: Thanks | null, change: ChangeText): Thanks | null {
  if (!thanks) return null;
  const { title, body, link } = thanks;
  const at = (...path: string[]): TextPlace => ({
    path: ['thanks', ...path],
    pointer: jsonPointer(['thanks', ...path]),
  });
  return {
    title: change(title, at('title')),
    body: change(body, at('body')),
    link: link && { ...link, label: change(link.label, at('link', 'label')) },
  };
}

/** What users see of a question in one language. */
export type QuestionInOneLanguage = Omit<QuestionContent, 'translations'>;

/**
 * Returns a question with each of its texts for users changed. The only function that knows where these texts are: a new
 * kind of text is added here and in the schema of translations.
 */
const mapTexts = <Content extends QuestionInOneLanguage>(content: Content, change: ChangeText): Content => ({
  ...mapStep(content, { path: [], pointer: '' }, change),
  follow_ups: content.follow_ups.map((step, index) =>
    mapStep(step, { path: ['follow_ups', step.key], pointer: `/follow_ups/${index}` }, change),
  ),
  thanks: mapThanks(content.thanks, change),
});

/** Returns a question's own texts for users that are not empty, each with its place. */
export function listTexts(content: QuestionInOneLanguage): (TextPlace & { text: string })[] {
  const texts: (TextPlace & { text: string })[] = [];
  mapTexts(content, (text, place) => {
    if (text !== '') texts.push({ text, ...place });
    return text;
  });
  return texts;
}

/** Returns a text of a translation; an empty text if there is none. */
export function translatedText(translation: Translation, path: readonly string[]): string {
  const found = path.reduce<unknown>(
    (node, name) =>
      typeof node === 'object' && node !== null && Object.hasOwn(node, name) ? node[name as never] : undefined,
    translation,
  );
  return typeof found === 'string' ? found : '';
}

/** Returns the places of a question's texts that a translation lacks. */
export const findMissingTexts = <Place extends TextPlace>(texts: readonly Place[], translation: Translation): Place[] =>
  texts.filter(({ path }) => translatedText(translation, path).trim() === '');

/** Returns the tags of translations that have every text. Only drafts have others. */
export function completeLocales(content: QuestionContent): string[] {
  const texts = listTexts(content);
  return Object.entries(content.translations).flatMap(([tag, translation]) =>
    findMissingTexts(texts, translation).length === 0 ? [tag] : [],
  );
}

/** Returns the question in the language of one of its complete translations; in its own language for any other tag. */
export function translate<Content extends QuestionContent>(content: Content, locale: string): Content {
  const translation = Object.hasOwn(content.translations, locale) ? content.translations[locale] : undefined;
  if (!translation) return content;
  return mapTexts(content, (text, { path }) => text && translatedText(translation, path));
}

/** Returns the translations without texts that the question itself does not have, such as those of removed steps. */
export function pruneTranslations(content: QuestionContent): Translations {
  const places = listTexts(content);
  const kept = Object.entries(content.translations).map(([tag, translation]) => {
    const pruned = {};
    for (const { path } of places) setText(pruned, path, translatedText(translation, path));
    return [tag, pruned];
  });
  return Object.fromEntries(kept);
}

function setText(translation: object, path: readonly string[], text: string): void {
  if (text === '') return;
  let node = translation as Record<string, unknown>;
  for (const name of path.slice(0, -1)) {
    if (!Object.hasOwn(node, name)) node[name] = {};
    node = node[name] as Record<string, unknown>;
  }
  node[path.at(-1) as string] = text;
}

/** Returns the names of the attributes that a question recalls in any of its languages. */
export const recalledAttributes = (content: QuestionContent): Set<string> => {
  const places = listTexts(content);
  const translated = Object.values(content.translations).flatMap(translation =>
    places.map(({ path }) => translatedText(translation, path)),
  );
  return new Set([...places.map(({ text }) => text), ...translated].flatMap(recalledIn));
};

/** Returns the question as a user with these attributes sees it. Without any, recalls have their fallbacks. */
export const personalize = <Content extends QuestionInOneLanguage>(content: Content, attributes: Attributes): Content =>
  mapTexts(content, text => recall(text, attributes));
