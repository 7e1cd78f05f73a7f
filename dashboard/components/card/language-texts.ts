import { useEffect, useState } from 'react';
import { addTexts, type Texts } from '../../../clients/javascript/src/feedback/index.ts';
import { loadPart } from '../../load-part.ts';

/** The texts of the client's view, loaded when a card is shown in the language. English is built in. */
const LOAD: Record<string, () => Promise<Texts>> = {
  ar: () => import('../../../clients/javascript/src/texts/ar.ts').then(({ ar }) => ar),
  de: () => import('../../../clients/javascript/src/texts/de.ts').then(({ de }) => de),
  es: () => import('../../../clients/javascript/src/texts/es.ts').then(({ es }) => es),
  fr: () => import('../../../clients/javascript/src/texts/fr.ts').then(({ fr }) => fr),
  it: () => import('../../../clients/javascript/src/texts/it.ts').then(({ it }) => it),
  ja: () => import('../../../clients/javascript/src/texts/ja.ts').then(({ ja }) => ja),
  nl: () => import('../../../clients/javascript/src/texts/nl.ts').then(({ nl }) => nl),
  pl: () => import('../../../clients/javascript/src/texts/pl.ts').then(({ pl }) => pl),
  pt: () => import('../../../clients/javascript/src/texts/pt.ts').then(({ pt }) => pt),
};

const loaded = new Set<string>();

const primaryOf = (language: string): string => language.toLowerCase().split('-')[0] ?? '';

/** Whether the view has its texts in the language, so that a card can be shown. Without a translation it is English. */
export function useTexts(language: string): boolean {
  const primary = primaryOf(language);
  const load = LOAD[primary];
  const [, setLoaded] = useState('');
  useEffect(() => {
    if (!load || loaded.has(primary)) return;
    void loadPart(load).then(texts => {
      addTexts(primary, texts);
      loaded.add(primary);
      setLoaded(primary);
    });
  }, [primary, load]);
  return !load || loaded.has(primary);
}

/** Writing direction of a language. */
export const directionOf = (language: string): 'ltr' | 'rtl' =>
  /^(ar|fa|he|ur)$/.test(primaryOf(language)) ? 'rtl' : 'ltr';
