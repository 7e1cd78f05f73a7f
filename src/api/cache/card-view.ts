import { chooseLocale, indexLocales, parseAcceptLanguage, rankLocales } from '../../domain/locales.ts';
import type { Attributes } from '../../domain/people/identities.ts';
import { shortHash } from '../http/etag.ts';
import type { CachedList, CardView } from './card-cache.ts';
import { type CardLanguages, renderCard } from './card-json.ts';
import type { LiveQuestion, TenantCatalog } from './catalog.ts';

/** How long an app should wait before the next fetch. */
export const POLL_AFTER_SECONDS = 300;

/** The languages that a request prefers, as it sent them. */
export interface LanguageRequest {
  locale?: string | undefined;
  acceptLanguage?: string | undefined;
}

const rangesOf = ({ locale, acceptLanguage }: LanguageRequest): string[] => [
  ...(locale ? [locale] : []),
  ...(acceptLanguage ? parseAcceptLanguage(acceptLanguage) : []),
];

/**
 * Returns those of the tenant's languages that a request prefers, separated by spaces. Many requests prefer the same
 * ones, such as `de-AT` and `de-CH`, so card lists are cached by them.
 */
export const preferredOf = ({ locales }: TenantCatalog, request: LanguageRequest): string =>
  locales.size < 2 ? '' : rankLocales(rangesOf(request), locales).join(' ');

const NO_ATTRIBUTES: Attributes = {};

/** Returns those of a user's attributes that cards recall. */
export function pickRecalled(questions: readonly LiveQuestion[], attributes: Attributes): Attributes {
  const names = new Set(questions.flatMap(({ cards }) => [...cards.recalled]));
  const picked = Object.entries(attributes).filter(([name]) => names.has(name));
  return picked.length > 0 ? Object.fromEntries(picked) : NO_ATTRIBUTES; // most lists share one object
}

/** Returns the card of a user with attributes that it recalls; undefined if it recalls none of them. */
const personalCard = ({ recalled, source }: CardLanguages, locale: string, attributes: Attributes) =>
  source && Object.keys(attributes).some(name => recalled.has(name))
    ? renderCard(source, locale, attributes)
    : undefined;

/** The facts of a list on which its view depends. */
type Decided = Pick<CachedList, 'positions' | 'ids' | 'profileLocale' | 'attributes'>;

/**
 * Returns the languages and texts of a list's cards. After the languages that the request prefers come that of the
 * profile and the tenant's default.
 */
export function viewOf(
  { live, locales: index, defaultLocale, appearance }: TenantCatalog,
  { positions, ids, profileLocale, attributes }: Decided,
  preferred: string,
): CardView {
  const ranked = [...preferred.split(' '), ...rankLocales([profileLocale ?? '', defaultLocale], index)];
  const personal = new Map<number, string>();
  const locales: string[] = [];
  const tags: unknown[] = [];
  for (const [place, position] of positions.entries()) {
    const { cards } = live[position] as LiveQuestion;
    const locale = chooseLocale(ranked, cards.texts, cards.own);
    const json = personalCard(cards, locale, attributes);
    if (json !== undefined) personal.set(place, json);
    locales.push(locale);
    tags.push(json ?? cards.texts.get(locale)?.tag);
  }
  const areEqual = locales.every(locale => locale === locales[0]);
  return {
    preferred,
    locales: areEqual ? (locales[0] ?? '') : locales.join(' '),
    personal: personal.size > 0 ? personal : null,
    tag: shortHash(JSON.stringify([POLL_AFTER_SECONDS, appearance, ids, tags])),
  };
}

/** Returns a question's card, without recalled attributes, in the language for a request. */
export function textsFor(
  { own, texts }: CardLanguages,
  { defaultLocale }: TenantCatalog,
  request: LanguageRequest,
): { locale: string; json: string } {
  const ranked = rankLocales([...rangesOf(request), defaultLocale], indexLocales(texts.keys()));
  const locale = chooseLocale(ranked, texts, own);
  return { locale, json: texts.get(locale)?.json ?? '' };
}

/** Returns the languages of some cards, each once; for an empty list the tenant's default language. */
export const languagesOf = ({ defaultLocale }: TenantCatalog, locales: readonly string[]): string =>
  [...new Set(locales)].join(', ') || defaultLocale;
