import { describe, expect, test } from 'vitest';
import { matchLocale } from '../../../clients/javascript/src/feedback/locales.ts';
import { addTexts, textsFor } from '../../../clients/javascript/src/feedback/texts.ts';
import { chooseLocale, indexLocales, rankLocales } from '../../../src/domain/locales.ts';

/** The tag that the server chooses for a card, by the same rule. */
function chosenOnServer(wanted: string, available: string[]): string {
  return chooseLocale(rankLocales([wanted], indexLocales(available)), new Set(available), 'en');
}

const REGIONS = Array.from({ length: 26 * 26 }, (_, index) =>
  String.fromCharCode(65 + Math.floor(index / 26), 65 + (index % 26)),
);
const LANGUAGES = ['en', 'es', 'pt', 'zh', 'zh-Hant', 'no', 'nb', 'nn', 'sr', 'sr-Latn', 'fr', 'hi-Latn'];

describe('the texts of a language', () => {
  test.each([
    [
      'every parent',
      [
        'en',
        'en-001',
        'en-150',
        'es',
        'es-419',
        'pt',
        'pt-PT',
        'zh-Hant-HK',
        'zh-Hant',
        'zh-Hans',
        'no',
        'en-IN',
        'fr-HT',
      ],
    ],
    ['no parent', ['en', 'es-MX', 'pt-BR', 'zh-TW', 'zh-CN', 'nb', 'sr', 'sr-Latn', 'fr-CA', 'fr']],
    ['regions only', ['en', 'es-ES', 'es-AR', 'pt-PT', 'zh-HK', 'nn', 'nb', 'sr-Cyrl-BA', 'fr-CH']],
  ])('are chosen as the server chooses that of a card: %s', (_, available) => {
    const tags = LANGUAGES.flatMap(language => [language, ...REGIONS.map(region => `${language}-${region}`)]);
    const odd = ['ht', 'zh-Hant-MO', 'en-150', 'en-001', 'es-419', 'de_AT', 'xx', '', '*', 'de-DE-u-co-phonebk', 'C'];
    for (const wanted of [...tags, ...odd])
      expect([wanted, matchLocale(wanted, available) ?? 'en']).toEqual([wanted, chosenOnServer(wanted, available)]);
  });

  test.each([
    ['zh-CN', 'zh-Hans'],
    ['zh-Hans-CN', 'zh-Hans'],
    ['zh-TW', 'zh-Hant'],
    ['zh_HK', 'zh-Hant'],
    ['es-MX', 'es-419'],
    ['es-ES', 'es'],
    ['no', 'nb'],
    ['nn-NO', 'nb'],
    ['sr-Latn', 'en'],
    ['no tag at all', 'en'],
  ])('%s: %s', (wanted, language) => {
    for (const each of ['zh-Hans', 'ZH-hant', 'es', 'es-419', 'nb', 'sr']) addTexts(each, { send: each });
    expect(textsFor(wanted).language).toBe(language);
  });
});
