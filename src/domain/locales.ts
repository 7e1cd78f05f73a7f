import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { documentedAs } from './documented.ts';
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
function rememberRecent<T>(read: (text: string) => T): (text: string) => T {
  const recent = new LRUCache<string, { value: T }>({ max: 500 });
  return text => {
    const known = recent.get(text);
    if (known) return known.value;
    const value = read(text);
    if (text.length <= LONGEST_REMEMBERED) recent.set(text, { value });
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

/** A language tag with its likely subtags (UTS 35). */
export interface ParsedLocale {
  /** In canonical form, without extensions. */
  tag: string;
  language: string;
  script: string;
  /** The subtags that the text contains. */
  given: { script: string | undefined; region: string | undefined; variants: string[] };
}

/** `no` is the macrolanguage of the two forms of Norwegian; devices send any of the three. */
const NORWEGIAN = new Set(['nb', 'nn', 'no']);

function parse(text: string): ParsedLocale | null {
  if (text.length > LONGEST_REMEMBERED) return null;
  const subtags = text.replace(/[.@].*/, '').split(/[-_]/);
  try {
    const locale = new Intl.Locale(subtags.filter(subtag => subtag !== '*').join('-'));
    const { language, script = '' } = locale.maximize();
    const { baseName: tag, script: givenScript, region } = locale;
    const variants = tag.split('-').slice(1 + Number(givenScript !== undefined) + Number(region !== undefined));
    const given = { script: givenScript, region, variants };
    return { tag, language: NORWEGIAN.has(language) ? 'no' : language, script, given };
  } catch {
    return null; // there is no other way to check
  }
}

/**
 * Returns a parsed language tag; null for any other text. `de_DE.UTF-8`, as some devices write it, is `de-DE`, and
 * wildcards are left out.
 */
export const parseLocale = rememberRecent(parse);

/**
 * A language as a device names it, in a query. A text that is no tag is ignored: a wrong setting of a device must not
 * cost its user the cards.
 */
export const DeviceLocale = z
  .string()
  .transform(text => (parseLocale(text) ? text : undefined))
  .optional()
  .meta({ override: documentedAs({ type: 'string' }) });

/** Regions whose languages inherit from another region's than the language's own (CLDR 48, parentLocales). */
const PARENTS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'en-001':
      'en-150 en-AG en-AI en-AU en-BB en-BM en-BS en-BW en-BZ en-CC en-CK en-CM en-CX en-CY en-DG en-DM en-ER en-FJ en-FK en-FM en-GB en-GD en-GG en-GH en-GI en-GM en-GS en-GY en-HK en-ID en-IE en-IL en-IM en-IN en-IO en-JE en-JM en-KE en-KI en-KN en-KY en-LC en-LR en-LS en-MG en-MO en-MS en-MT en-MU en-MV en-MW en-MY en-NA en-NF en-NG en-NR en-NU en-NZ en-PG en-PK en-PN en-PW en-RW en-SB en-SC en-SD en-SG en-SH en-SL en-SS en-SX en-SZ en-TC en-TK en-TO en-TT en-TV en-TZ en-UG en-VC en-VG en-VU en-WS en-ZA en-ZM en-ZW',
    'en-150':
      'en-AT en-BE en-CH en-CZ en-DE en-DK en-EE en-ES en-FI en-FR en-GE en-HU en-IT en-LT en-LV en-NL en-NO en-PL en-PT en-RO en-SE en-SI en-SK en-UA',
    'en-IN': 'hi-Latn',
    'es-419':
      'es-AR es-BO es-BR es-BZ es-CL es-CO es-CR es-CU es-DO es-EC es-GT es-HN es-JP es-MX es-NI es-PA es-PE es-PR es-PY es-SV es-US es-UY es-VE',
    'fr-HT': 'ht',
    no: 'nb nn',
    'pt-PT': 'pt-AO pt-CH pt-CV pt-FR pt-GQ pt-GW pt-LU pt-MO pt-MZ pt-ST pt-TL',
    'zh-Hant-HK': 'zh-Hant-MO',
  }).flatMap(([parent, children]) => children.split(' ').map(child => [child, parent] as const)),
);

/** Returns a tag and its CLDR parents of the same script, the nearest first: `es-MX`, `es-419`, `es`. */
export function parentsOf({ tag, script }: ParsedLocale): string[] {
  const parents: string[] = [];
  for (let next: string | undefined = tag; next; next = PARENTS.get(next) ?? next.split('-').slice(0, -1).join('-'))
    if (parseLocale(next)?.script === script) parents.push(next);
  return parents;
}

/** Tags that are in use, and those of each language and script. */
export interface LocaleIndex {
  size: number;
  has(tag: string): boolean;
  /** Returns the tags of a language in a script: without a region first, then by tag. */
  related(locale: ParsedLocale): readonly string[];
}

const familyOf = ({ language, script }: ParsedLocale): string => `${language}-${script}`;

const regionsLast = (one: string, other: string): number =>
  Number(hasRegion(one)) - Number(hasRegion(other)) || (one < other ? -1 : 1);

const hasRegion = (tag: string): boolean => parseLocale(tag)?.given.region !== undefined;

export function indexLocales(tags: Iterable<string>): LocaleIndex {
  const known = new Set(tags);
  const families = new Map<string, string[]>();
  for (const tag of [...known].sort(regionsLast)) {
    const family = familyOf(parseLocale(tag) as ParsedLocale);
    families.set(family, [...(families.get(family) ?? []), tag]);
  }
  return {
    size: known.size,
    has: tag => known.has(tag),
    related: locale => families.get(familyOf(locale)) ?? [],
  };
}

/** The tags that a range finds in any index: itself and its parents. */
const formsOf = rememberRecent(range => {
  const locale = parseLocale(range);
  return locale && { locale, forms: parentsOf(locale) };
});

/**
 * Returns those of the indexed tags that match the language ranges, best match first, each once; related ones, of which a
 * question's own is preferred, in one entry with commas.
 *
 * For each range these are the exact tag, its CLDR parents, and then the tags of the same language and script (UTS 35);
 * never another script. So one ranking of all tags in use serves every question.
 */
export function rankLocales(ranges: readonly string[], index: LocaleIndex): string[] {
  const ranked = new Set<string>();
  for (const range of ranges) {
    const found = formsOf(range);
    if (!found) continue;
    for (const form of found.forms) if (index.has(form)) ranked.add(form);
    const related = index.related(found.locale).join(',');
    if (related !== '') ranked.add(related);
  }
  return [...ranked];
}

/** Returns the best available tag of a ranking, or `own`, which always is. */
export function chooseLocale(
  ranked: readonly string[],
  available: Pick<ReadonlySet<string>, 'has'>,
  own: string,
): string {
  for (const entry of ranked) {
    const tags = entry.includes(',') ? entry.split(',').filter(tag => available.has(tag)) : [entry];
    const [first] = tags;
    if (first === undefined || !available.has(first)) continue;
    return tags.includes(own) && hasRegion(own) === hasRegion(first) ? own : first;
  }
  return own;
}

/** Returns a test of tags: `de` matches `de-AT`, `zh-Hans` matches `zh-CN`, and `es-419` matches `es-MX`. */
export function matcherOf(range: string): (tag: string) => boolean {
  const wanted = parseLocale(range);
  if (!wanted) return () => false;
  const { given } = wanted;
  return tag => {
    const locale = parseLocale(tag);
    if (locale?.language !== wanted.language) return false;
    if (given.script !== undefined && locale.script !== wanted.script) return false;
    const isThere = given.region === undefined || locale.given.region === given.region || isWithin(locale, wanted);
    return isThere && given.variants.every(variant => locale.given.variants.includes(variant));
  };
}

/** Whether a locale's region is in the group of regions that another names, such as 419, Latin America. */
const isWithin = (locale: ParsedLocale, { tag, given }: ParsedLocale): boolean =>
  /^\d/.test(given.region ?? '') && parentsOf(locale).includes(tag);
