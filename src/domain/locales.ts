import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { rule } from './field-errors.ts';

/** Maximum number of languages of a tenant, and of translations of a question. */
export const MAX_LOCALES = 50;

/** Maximum length of a tag: room for language, script, region and two variants. */
export const MAX_TAG_LENGTH = 35;

/** Maximum number of language ranges read from `Accept-Language`. Browsers send fewer than ten. */
const MAX_RANGES = 20;

/** Whether a tag has a language of two or three letters and is in canonical form (BCP 47). */
export const isCanonicalLocale = (tag: string): boolean => {
  try {
    return /^[a-z]{2,3}(-|$)/.test(tag) && Intl.getCanonicalLocales(tag)[0] === tag;
  } catch {
    return false; // there is no other way to check
  }
};

export const Locale = z
  .string()
  .max(MAX_TAG_LENGTH)
  .refine(isCanonicalLocale, rule('invalid-format', 'Must be a BCP 47 language tag such as en or pt-BR.'))
  .meta({ description: 'BCP 47 tag in canonical form, such as `en` or `pt-BR`', example: 'en' });

const RANGE = /^(?:\*|[a-z]{1,8})(?:-(?:\*|[a-z0-9]{1,8}))*$/i;

/** Returns the weight of a range in `Accept-Language`; 0 if it is not acceptable or not well-formed (RFC 9110, 12.4.2). */
const weightOf = (parameters: readonly string[]): number => {
  if (parameters.length === 0) return 1;
  const [, weight] = /^\s*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*$/i.exec(parameters.join(';')) ?? [];
  return Number(weight ?? 0);
};

/** Returns what `read` returns for a text, and remembers it for recent texts: a browser sends the same with every request. */
function rememberRecent(read: (text: string) => readonly string[]): (text: string) => readonly string[] {
  const recent = new LRUCache<string, readonly string[]>({ max: 500 });
  return text => {
    const known = recent.get(text);
    if (known) return known;
    const value = read(text);
    if (text.length <= LONGEST_REMEMBERED) recent.set(text, value);
    return value;
  };
}

const LONGEST_REMEMBERED = 200;

/**
 * Returns the language ranges of `Accept-Language`, most preferred first (RFC 9110, 12.5.4). Malformed ones are ignored,
 * and so are those after the 20th.
 */
export const parseAcceptLanguage = rememberRecent(header =>
  header
    .split(',', MAX_RANGES)
    .map(item => {
      const [range = '', ...parameters] = item.split(';');
      return { range: range.trim(), weight: weightOf(parameters) };
    })
    .filter(({ range, weight }) => weight > 0 && RANGE.test(range))
    .toSorted((one, other) => other.weight - one.weight)
    .map(({ range }) => range),
);

/**
 * Returns a language range and its shorter forms in lower case, longest first, such as `zh-hant-tw`, `zh-hant`, `zh`
 * (RFC 4647, 3.4). `de_DE`, as some devices write it, is `de-DE`. The wildcard has no forms.
 */
const formsOf = rememberRecent(range => {
  const subtags = range
    .toLowerCase()
    .split(/[-_]/)
    .filter(subtag => subtag !== '*');
  const forms: string[] = [];
  for (; subtags.length > 0; subtags.pop()) {
    if (subtags.length > 1 && subtags.at(-1)?.length === 1) continue; // never ends with the start of an extension
    forms.push(subtags.join('-'));
  }
  return forms;
});

/** Tags by their form in lower case. */
export type LocaleIndex = ReadonlyMap<string, string>;

export const indexLocales = (tags: Iterable<string>): LocaleIndex =>
  new Map([...tags].map(tag => [tag.toLowerCase(), tag]));

/**
 * Returns those of the indexed tags that match the language ranges, best match first, each once.
 *
 * The first of them that a question has is the result of a lookup among that question's tags (RFC 4647, 3.4), with the
 * ranges in order of preference. So one ranking of all tags in use serves every question.
 */
export function rankLocales(ranges: readonly string[], index: LocaleIndex): string[] {
  const ranked = new Set<string>();
  for (const range of ranges)
    for (const form of formsOf(range)) {
      const tag = index.get(form);
      if (tag !== undefined) ranked.add(tag);
    }
  return [...ranked];
}

/** Returns the first ranked tag that is available, or `own`, which always is. */
export const chooseLocale = (
  ranked: readonly string[],
  available: Pick<ReadonlySet<string>, 'has'>,
  own: string,
): string => ranked.find(tag => available.has(tag)) ?? own;
