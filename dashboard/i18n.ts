import { setupI18n } from '@lingui/core';

export const LOCALES = { en: 'English', de: 'Deutsch' } as const;
export type Locale = keyof typeof LOCALES;

const KEPT_UNDER = 'parley.locale';
const i18n = setupI18n();

/** The compiled messages, from `locales/de.json` (vite.config.ts). English is the key itself. */
const LOAD: Record<Locale, () => Promise<{ messages: Record<string, never> }>> = {
  en: () => import('virtual:messages/en'),
  de: () => import('virtual:messages/de'),
};

const isLocale = (text: string | null | undefined): text is Locale => text === 'en' || text === 'de';

/** The language chosen here before, else the first of the browser's that there is, else English. */
export function preferredLocale(): Locale {
  const chosen = localStorage.getItem(KEPT_UNDER);
  if (isLocale(chosen)) return chosen;
  return navigator.languages.map(tag => tag.slice(0, 2)).find(isLocale) ?? 'en';
}

/** Loads a language and speaks it from then on. */
export async function activate(locale: Locale): Promise<void> {
  const { messages } = await LOAD[locale]();
  i18n.loadAndActivate({ locale, messages });
  document.documentElement.lang = locale;
}

export const keepLocale = (locale: Locale): void => localStorage.setItem(KEPT_UNDER, locale);

export const locale = (): string => i18n.locale;

/** A text in the language that is spoken. The key is the English text, in ICU MessageFormat. */
export const t = (message: string, values?: Record<string, unknown>): string => i18n._(message, values);

export const formatNumber = (value: number, options: Intl.NumberFormatOptions = {}): string =>
  new Intl.NumberFormat(i18n.locale, options).format(value);

export const formatShare = (share: number, digits = 0): string =>
  formatNumber(share, { style: 'percent', maximumFractionDigits: digits });

export const formatTime = (
  time: string | Date,
  options: Intl.DateTimeFormatOptions = { dateStyle: 'medium', timeStyle: 'short' },
): string => new Intl.DateTimeFormat(i18n.locale, options).format(new Date(time));

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];

/** How long ago, or in how long, in the largest unit that fits. */
export function formatRelative(time: string | Date, now = Date.now()): string {
  const seconds = (new Date(time).getTime() - now) / 1000;
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? (['second', 1] as const);
  const style = unit === 'minute' || unit === 'hour' ? 'short' : 'long'; // “last mo.” is no word
  const format = new Intl.RelativeTimeFormat(i18n.locale, { numeric: 'auto', style });
  return unit === 'second' ? t('just now') : format.format(Math.trunc(seconds / size), unit);
}
