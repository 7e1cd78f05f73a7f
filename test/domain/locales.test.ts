import cldr from 'cldr-core/supplemental/parentLocales.json' with { type: 'json' };
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  chooseLocale,
  indexLocales,
  isCanonicalLocale,
  matcherOf,
  type ParsedLocale,
  parentsOf,
  parseAcceptLanguage,
  parseLocale,
  rankLocales,
} from '../../src/domain/locales.ts';

test.each([
  ['de', true],
  ['pt-BR', true],
  ['zh-Hant-TW', true],
  ['de-DE-1996', true],
  ['DE', false],
  ['pt-br', false],
  ['de_DE', false],
  ['english', false],
  ['x-private', false],
  ['', false],
])('%j is a canonical tag: %s', (tag, expected) => {
  expect(isCanonicalLocale(tag)).toBe(expected);
});

test.each([
  ['de-AT,de;q=0.9,en;q=0.8', ['de-AT', 'de', 'en']],
  ['en;q=0.5, fr ; q=1.0, de;q=0.75', ['fr', 'de', 'en']],
  ['en, de', ['en', 'de']],
  ['de;q=0, en', ['en']],
  ['*', ['*']],
  ['', []],
  ['de;q=2, fr;q=x, <script>, en;q=0.1;v=1, it', ['it']],
  [`${'xx,'.repeat(30)}de`, Array(20).fill('xx')],
])('Accept-Language %j is %j', (header, expected) => {
  expect(parseAcceptLanguage(header)).toEqual(expected);
});

/** Returns the language of a card of a question with these tags, the first of which is its own. */
const lookUp = (ranges: string[], available: string[]): string =>
  chooseLocale(rankLocales(ranges, indexLocales(available)), new Set(available), available[0] as string);

describe('a lookup', () => {
  const available = ['en', 'de', 'zh-Hant', 'pt-BR', 'de-1996'];
  test.each([
    [['de-AT'], 'de'],
    [['DE_at'], 'de'],
    [['zh-Hant-TW'], 'zh-Hant'],
    [['zh-Hans'], 'en'],
    [['pt'], 'pt-BR'],
    [['pt-br-x-old'], 'pt-BR'],
    [['fr', 'de-CH-1996'], 'de'],
    [['de-1996-x-1'], 'de-1996'],
    [['*', 'de'], 'de'],
    [['*-CH'], 'en'],
    [['de-*-1996'], 'de-1996'],
    [['de_DE.UTF-8'], 'de'],
    [['de_DE@euro'], 'de'],
    [['', '-', '--', 'x', 'x'.repeat(10_000), '\0'], 'en'],
  ])('of %j finds %s', (ranges, expected) => {
    expect(lookUp(ranges, available)).toBe(expected);
  });

  test.each([
    ['zh-Hans-CN', 'zh-CN'],
    ['zh-CN', 'zh-Hans'],
    ['zh-Hans-SG', 'zh-Hans'],
    ['zh-SG', 'zh-CN'],
    ['zh-TW', 'zh-Hant'],
    ['zh-HK', 'zh-Hant'],
    ['zh-MO', 'zh-HK'],
    ['zh-Hant-MO', 'zh-Hant-HK'],
    ['es-MX', 'es-419'],
    ['es-MX', 'es-ES'],
    ['no', 'nb'],
    ['nb-NO', 'no'],
    ['nn', 'nb'],
    ['pt-AO', 'pt-PT'],
    ['en-AU', 'en-GB'],
    ['iw', 'he'],
    ['sr-Latn-RS', 'sr-Latn'],
    ['sr-RS', 'sr-Cyrl'],
    ['fil-PH', 'fil'],
  ])('of the device language %s finds %s', (device, translation) => {
    expect(lookUp([device], ['ar', translation])).toBe(translation);
  });

  test.each([
    ['zh-TW', 'zh'],
    ['zh-CN', 'zh-Hant'],
    ['zh-Hant', 'zh-Hans'],
    ['sr', 'sr-Latn'],
    ['uz-Cyrl', 'uz'],
    ['de', 'nl'],
    ['sv', 'nb'],
  ])('of %s does not find %s, which has another script or language', (device, translation) => {
    expect(lookUp([device], ['ar', translation])).toBe('ar');
  });

  test.each([
    ['es-MX', ['ar', 'es', 'es-419'], 'es-419'],
    ['es-MX', ['ar', 'es-AR', 'es'], 'es'],
    ['en-DE', ['ar', 'en-US', 'en-150', 'en'], 'en-150'],
    ['pt-AO', ['ar', 'pt', 'pt-PT'], 'pt-PT'],
    ['fr-CA', ['fr-FR', 'fr-BE'], 'fr-FR'],
    ['fr-CA', ['ar', 'fr-FR', 'fr-BE'], 'fr-BE'],
    ['zh-TW', ['ar', 'zh-HK', 'zh-Hant'], 'zh-Hant'],
    ['no', ['nn', 'nb'], 'nn'],
    ['no', ['ar', 'nn', 'nb'], 'nb'],
  ])('of %s in %j finds %s: the nearest parent, then without a region, its own, by tag', (device, tags, expected) => {
    expect(lookUp([device], tags)).toBe(expected);
  });

  test('tries every form of a language before the next one', () => {
    expect(lookUp(['zh-CN', 'en'], ['ar', 'en', 'zh-Hans'])).toBe('zh-Hans');
    expect(lookUp(['xx-YY', 'en-GB'], ['ar', 'en'])).toBe('en');
  });
});

test("parents are those of Unicode's CLDR, unless they have another script", () => {
  const { parentLocale } = cldr.supplemental.parentLocales;
  for (const [tag, parent] of Object.entries(parentLocale)) {
    const parents = parentsOf(parseLocale(tag) as ParsedLocale);
    expect([tag, parents[1]]).toEqual([tag, parent === 'und' ? undefined : parent]);
  }
});

test.each([
  ['de', ['de', 'de-AT', 'de_at'], ['nl', 'den']],
  ['zh-Hans', ['zh-CN', 'zh', 'zh-Hans-SG'], ['zh-TW', 'zh-Hant']],
  ['zh-Hant', ['zh-TW', 'zh-HK'], ['zh-CN']],
  ['zh', ['zh-TW', 'zh-CN'], ['yue']],
  ['zh-CN', ['zh-Hans-CN', 'zh-CN'], ['zh-Hans', 'zh-SG']],
  ['es-419', ['es-MX', 'es-419'], ['es', 'es-ES']],
  ['pt-PT', ['pt-PT'], ['pt-AO', 'pt']],
  ['no', ['nb', 'nn-NO', 'no'], ['sv']],
  ['de-DE', ['de-DE', 'de-Latn-DE'], ['de', 'de-AT']],
  ['sr-Latn', ['sr-Latn-RS', 'sr-ME-x-1', 'sh'], ['sr', 'sr-RS']],
  ['?', [], ['de', '?']],
])('an audience of %s contains %j and not %j', (range, members, others) => {
  const matches = matcherOf(range);
  expect(members.filter(tag => !matches(tag))).toEqual([]);
  expect(others.filter(matches)).toEqual([]);
});

const TAG = fc.constantFrom(
  'de',
  'de-AT',
  'de-CH',
  'en',
  'en-GB',
  'zh-Hant',
  'zh-HK',
  'zh-CN',
  'zh',
  'pt-BR',
  'nb',
  'nn',
);
const RANGE = fc.oneof(TAG, fc.constantFrom('de-DE-1996', 'zh-Hant-HK-x-old', 'EN_us', '*', 'nl', 'zh-TW', 'no', 'pt'));

test('one ranking of all tags gives each question the result of its own lookup', () => {
  fc.assert(
    fc.property(
      fc.array(RANGE, { maxLength: 5 }),
      fc.array(fc.uniqueArray(TAG, { minLength: 1 }), { minLength: 1, maxLength: 4 }),
      (ranges, questions) => {
        const ranked = rankLocales(ranges, indexLocales(questions.flat()));
        for (const tags of questions)
          expect(chooseLocale(ranked, new Set(tags), tags[0] as string)).toBe(lookUp(ranges, tags));
      },
    ),
  );
});
