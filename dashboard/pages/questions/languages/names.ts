import { locale } from '../../../i18n.ts';

/** Languages that are offered for translations. */
export const LANGUAGES = [
  ...['ar', 'bg', 'ca', 'cs', 'da', 'de', 'el', 'en', 'es', 'et', 'fi', 'fr', 'he', 'hi', 'hr', 'hu', 'id', 'it', 'ja'],
  ...['ko', 'lt', 'lv', 'ms', 'nb', 'nl', 'pl', 'pt', 'pt-BR', 'ro', 'ru', 'sk', 'sl', 'sr', 'sv', 'th', 'tr', 'uk'],
  ...['vi', 'zh-Hans', 'zh-Hant'],
];

/** Returns the name of a language in the language of the pages. */
export const languageName = (tag: string): string =>
  new Intl.DisplayNames(locale(), { type: 'language' }).of(tag) ?? tag;

/** The languages by their names, in alphabetical order. */
export const namedLanguages = (tags: readonly string[]): { tag: string; name: string }[] =>
  tags
    .map(tag => ({ tag, name: languageName(tag) }))
    .sort((one, other) => one.name.localeCompare(other.name, locale()));
