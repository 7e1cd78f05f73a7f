import { createContext, useContext } from 'react';
import type { Locale } from './i18n.ts';

interface LocaleChoice {
  current: Locale;
  change(locale: Locale): Promise<void>;
}

export const LocaleContext = createContext<LocaleChoice | null>(null);

/** The current language of the pages and a function to change it. */
export function useLocale(): LocaleChoice {
  const choice = useContext(LocaleContext);
  if (!choice) throw new Error('useLocale must be used within the app.');
  return choice;
}
