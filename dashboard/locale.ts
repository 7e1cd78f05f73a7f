import { createContext, useContext } from 'react';
import type { Locale } from './i18n.ts';

interface Speaking {
  spoken: Locale;
  speak(locale: Locale): Promise<void>;
}

export const LocaleContext = createContext<Speaking | null>(null);

/** The language of the pages, and how to change it. */
export function useLocale(): Speaking {
  const speaking = useContext(LocaleContext);
  if (!speaking) throw new Error('There is no language outside of the app.');
  return speaking;
}
