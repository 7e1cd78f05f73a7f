/** The languages of a Formbricks survey as Parley's `locale` and `translations`. */
import { contentOf } from './content.mjs';
import { thanksIn } from './endings.mjs';
import { plain } from './survey.mjs';

/** The BCP 47 tag of a language code in the form that Parley takes; undefined if it is none. */
function tagOf(code) {
  try {
    const [tag] = Intl.getCanonicalLocales(code);
    return /^[a-z]{2,3}(-|$)/.test(tag) ? tag : undefined;
  } catch {
    return undefined; // not a language tag
  }
}

/**
 * The languages of a survey: the tag of its own texts, which are under `default` in each text, and the code and tag of every other
 * one; with a reason for each language that is left out.
 */
export function languagesOf({ languages }) {
  const listed = (languages ?? []).map(({ language, ...rest }) => ({
    code: language.code,
    tag: tagOf(language.code),
    ...rest,
  }));
  const own = listed.find(each => each.default);
  const others = listed.filter(each => each !== own);
  const reasonOf = ({ tag, enabled }) => {
    if (!tag) return 'its code is not a BCP 47 tag';
    if (enabled === false) return 'it is disabled in Formbricks';
    return tag === own?.tag ? 'it is the language of the survey itself' : undefined;
  };
  return {
    own: own?.tag,
    others: others.filter(each => !reasonOf(each)),
    losses: [
      ...(own && !own.tag ? [`the language "${own.code}" of the survey itself: its code is not a BCP 47 tag`] : []),
      ...others.filter(reasonOf).map(each => `the language "${each.code}": ${reasonOf(each)}`),
    ],
  };
}

/** The non-empty texts of a part of a question with their paths in a translation. Options are named by their ids. */
function textsIn(node, path = []) {
  if (typeof node === 'string') return node === '' ? [] : [{ path, text: node }];
  if (Array.isArray(node)) return node.flatMap(({ id, label }) => textsIn(label, [...path, id]));
  return Object.entries(node ?? {}).flatMap(([name, value]) => textsIn(value, [...path, name]));
}

const TEXTS = ['title', 'description'];

/** The texts of an element, or with `language` those of a translation. */
function textsOf(element, key, language) {
  const { config, ...content } = contentOf(element, language);
  const path = key === 'main' ? [] : ['follow_ups', key];
  return [
    ...TEXTS.flatMap(name => textsIn(content[name], [...path, name])),
    ...['labels', 'options'].flatMap(name => textsIn(config[name], [...path, 'config', name])),
  ];
}

/** The texts of the thanks. The address of the link is the same in every language. */
const textsOfThanks = thanks =>
  thanks ? textsIn({ title: thanks.title, body: thanks.body, link: { label: thanks.link?.label } }, ['thanks']) : [];

function nested(texts) {
  const translation = {};
  for (const { path, text } of texts) {
    let node = translation;
    for (const name of path.slice(0, -1)) {
      node[name] ??= {};
      node = node[name];
    }
    node[path.at(-1)] = text;
  }
  return translation;
}

/** At most this many missing texts are quoted. */
const MAX_QUOTED = 3;

function lossOf(code, missing, count) {
  if (missing.length === count) return `the language "${code}": none of its texts exist`;
  const quoted = missing.slice(0, MAX_QUOTED).map(({ text }) => `"${plain(text, 40)}"`);
  const more = missing.length > MAX_QUOTED ? ', …' : '';
  return `the language "${code}": ${missing.length} of ${count} texts are missing (${quoted.join(', ')}${more})`;
}

/**
 * The `locale` and the `translations` of a question with these steps and this ending. A language that lacks a text is left out, since
 * Parley shows a card entirely in one language; `losses` has the texts that it lacks.
 */
export function localesOf(survey, steps, ending) {
  const { own, others } = languagesOf(survey);
  const allTexts = language => [
    ...steps.flatMap(({ element, key }) => textsOf(element, key, language)),
    ...textsOfThanks(thanksIn(ending, language)),
  ];
  const wanted = allTexts();
  const translations = {};
  const losses = [];
  for (const { code, tag } of others) {
    const found = new Map(allTexts(code).map(each => [each.path.join('/'), each]));
    const missing = wanted.filter(({ path }) => !found.has(path.join('/')));
    if (missing.length > 0) losses.push(lossOf(code, missing, wanted.length));
    else translations[tag] = nested(wanted.map(({ path }) => found.get(path.join('/'))));
  }
  return { ...(own ? { locale: own } : {}), translations, losses };
}
