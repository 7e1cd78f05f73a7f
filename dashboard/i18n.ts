import { setupI18n } from '@lingui/core';
import { loadPart } from './load-part.ts';

export const LOCALES = { en: 'English', de: 'Deutsch' } as const;
export type Locale = keyof typeof LOCALES;

const STORAGE_KEY = 'parley.locale';
const i18n = setupI18n();
i18n.setMessagesCompiler(text => [text]); // an English text without parameters, which the messages leave out

/** Compiled messages from `locales/de.json` (vite.config.ts). The keys are the English texts. */
const LOAD: Record<Locale, () => Promise<{ messages: Record<string, never> }>> = {
  en: () => import('virtual:messages/en'),
  de: () => import('virtual:messages/de'),
};

const isLocale = (text: string | null | undefined): text is Locale => text === 'en' || text === 'de';

/** The saved language, else the first supported one of the browser, else English. */
export function preferredLocale(): Locale {
  const chosen = localStorage.getItem(STORAGE_KEY);
  if (isLocale(chosen)) return chosen;
  return navigator.languages.map(tag => tag.slice(0, 2)).find(isLocale) ?? 'en';
}

/** Activates a language with its compiled messages. */
export const setTexts = (locale: Locale, messages: Record<string, never>): void =>
  i18n.loadAndActivate({ locale, messages });

/** Loads and activates a language. */
export async function activate(locale: Locale): Promise<void> {
  const { messages } = await loadPart(LOAD[locale]);
  setTexts(locale, messages);
  document.documentElement.lang = locale;
}

export const saveLocale = (locale: Locale): void => localStorage.setItem(STORAGE_KEY, locale);

export const locale = (): string => i18n.locale;

/** Translates a text to the active language. The key is the English text, in ICU MessageFormat. */
export const t = (message: string, values?: Record<string, unknown>): string => i18n._(message, values);

/** Locale of dates and numbers: English ones are British, as the texts are read all over the world. */
const formatLocale = (): string => (i18n.locale === 'en' ? 'en-GB' : i18n.locale);

export const formatNumber = (value: number, options: Intl.NumberFormatOptions = {}): string =>
  new Intl.NumberFormat(formatLocale(), options).format(value);

export const formatShare = (share: number, digits = 0): string =>
  formatNumber(share, { style: 'percent', maximumFractionDigits: digits });

export const formatTime = (
  time: string | Date,
  options: Intl.DateTimeFormatOptions = { dateStyle: 'medium', timeStyle: 'short' },
): string => new Intl.DateTimeFormat(formatLocale(), options).format(new Date(time));

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];

/** Formats a time relative to now, in the largest fitting unit. */
export function formatRelative(time: string | Date, now = Date.now()): string {
  const seconds = (new Date(time).getTime() - now) / 1000;
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? (['second', 1] as const);
  const style = unit === 'minute' || unit === 'hour' ? 'short' : 'long'; // avoids “last mo.”
  const format = new Intl.RelativeTimeFormat(formatLocale(), { numeric: 'auto', style });
  return unit === 'second' ? t('just now') : format.format(Math.trunc(seconds / size), unit);
}

/** Formats the time since a point in the past, in the largest fitting unit: “5 min”. At least a minute. */
export function formatDuration(since: string | Date, now = Date.now()): string {
  const seconds = Math.max(60, (now - new Date(since).getTime()) / 1000);
  const [unit, size] = UNITS.find(([, length]) => seconds >= length) ?? (['minute', 60] as const);
  const unitDisplay = unit === 'minute' || unit === 'hour' ? 'short' : 'long'; // avoids “5 Tg.”
  const style: Intl.NumberFormatOptions = { style: 'unit', unit, unitDisplay };
  return formatNumber(Math.trunc(seconds / size), style);
}
