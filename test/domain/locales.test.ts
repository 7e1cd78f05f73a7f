import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  chooseLocale,
  indexLocales,
  isCanonicalLocale,
  parseAcceptLanguage,
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

describe('a lookup', () => {
  const available = ['en', 'de', 'zh-Hant', 'pt-BR', 'de-1996'];
  const lookUp = (...ranges: string[]) =>
    chooseLocale(rankLocales(ranges, indexLocales(available)), new Set(available), 'en');
  test.each([
    [['de-AT'], 'de'],
    [['DE_at'], 'de'],
    [['zh-Hant-TW'], 'zh-Hant'],
    [['zh-Hans'], 'en'],
    [['pt'], 'en'],
    [['pt-br-x-old'], 'pt-BR'],
    [['fr', 'de-CH-1996'], 'de'],
    [['de-1996-x-1'], 'de-1996'],
    [['*', 'de'], 'de'],
    [['*-CH'], 'en'],
    [['de-*-1996'], 'de-1996'],
    [['', '-', '--', 'x'], 'en'],
  ])('of %j finds %s', (ranges, expected) => {
    expect(lookUp(...ranges)).toBe(expected);
  });
});

const TAG = fc.constantFrom('de', 'de-AT', 'de-CH', 'en', 'en-GB', 'zh-Hant', 'zh-Hant-TW', 'fr', 'pt-BR', 'sr-Latn');
const RANGE = fc.oneof(TAG, fc.constantFrom('de-DE-1996', 'zh-Hant-HK-x-old', 'EN_us', '*', 'nl', 'sr-Cyrl'));

/** RFC 4647, 3.4, for one question, written out in another way: range by range. */
function lookUpStepwise(ranges: string[], available: string[], own: string): string {
  for (const range of ranges) {
    let rest = range.toLowerCase().replaceAll('_', '-');
    while (rest !== '') {
      const found = available.find(tag => tag.toLowerCase() === rest);
      if (found) return found;
      rest = rest.replace(/(-[a-z0-9])?(^|-)[^-]*$/, '');
    }
  }
  return own;
}

test('one ranking of all tags gives each question the result of its own lookup', () => {
  fc.assert(
    fc.property(
      fc.array(RANGE, { maxLength: 5 }),
      fc.array(fc.uniqueArray(TAG, { minLength: 1 }), { minLength: 1, maxLength: 4 }),
      (ranges, questions) => {
        const ranked = rankLocales(ranges, indexLocales(questions.flat()));
        for (const tags of questions)
          expect(chooseLocale(ranked, new Set(tags), tags[0] as string)).toBe(
            lookUpStepwise(ranges, tags, tags[0] as string),
          );
      },
    ),
  );
});
