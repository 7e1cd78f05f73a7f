import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_WORDS_INDEXED, matchesTerms, searchTerms, wordsOf } from '../../src/domain/search-words.ts';

const finds = (search: string, text: string): boolean => {
  const terms = searchTerms(search);
  return terms.length > 0 && matchesTerms(wordsOf(text), terms);
};

describe('a search', () => {
  test.each([
    ['EXPORT', 'The export fails'],
    ['exp fai', 'The export fails'],
    ['fails the', 'The export fails'],
    ['uber', 'Über den Wolken'],
    ['ueber', 'Über den Wolken'],
    ['über', 'Ueber den Wolken'],
    ['mü', 'Herr Müller'],
    ['mue', 'Herr Müller'],
    ['strasse', 'Hauptstraße Straße'],
    ['straße', 'STRASSE'],
    ['cafe', 'Café'],
    ['café', 'cafe'],
    ['cafe\u0301', 'Café'],
    ['lodz', 'Łódź'],
    ['smorrebrod', 'smørrebrød'],
    ['smoerrebroed', 'smørrebrød'],
    ['istanbul', 'İstanbul'],
    ['λογος', 'ΛΟΓΟΣ'],
    ['шел', 'шёл'],
    ['ｆｕｌｌ', 'full width'],
    ['dont', "I don't know"],
    ["don't", 'I dont know'],
    ['don’t', "I don't know"],
    ['avion', "l'avion"],
    ['anna.meier@example.com', 'write to Anna.Meier@example.com, please'],
    ['anna.mei', 'write to anna.meier@example.com'],
    ['@example', 'write to anna.meier@example.com'],
    ['東京', '私は東京に行きました'],
    ['京', '私は東京に行きました'],
    ['た', '私は東京に行きました'],
    ['サポート', 'カスタマーサポートへ'],
    ['客服', '请联系客服谢谢'],
    ['ไทย', 'ภาษาไทยดี'],
    ['한국', '한국어를 배워요'],
    ['iphone 東京', '東京でiPhoneを'],
    ['👍', 'great 👍🏽'],
    ['42', 'error 42.7'],
    ['42.7', 'error 42.7'],
    ['कार्यशाला', 'यह कार्यशाला है'],
  ])('for %j finds %j', (search, text) => {
    expect(finds(search, text)).toBe(true);
  });

  test.each([
    ['port', 'The export fails'],
    ['exports', 'The export fails'],
    ['export nowhere', 'The export fails'],
    ['mueller', 'Herr Muller'],
    ['京東', '東京'],
    ['!?', 'What!?'],
  ])('for %j does not find %j', (search, text) => {
    expect(finds(search, text)).toBe(false);
  });

  test('for any prefix of any word of a text, in any case and normalization, finds the text', () => {
    const word = fc.stringMatching(/^[a-zäöüßéèñçøåłđœа-яα-ωİıぁ-んァ-ヴ一-龥가-힣]{1,40}$/u);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), fc.nat(), fc.nat(), (words, which, length) => {
        const text = words.join(' ');
        const characters = [...(words[which % words.length] as string)];
        const beginning = characters.slice(0, 1 + (length % characters.length)).join('');
        for (const search of [beginning, beginning.toUpperCase(), beginning.normalize('NFD')])
          expect([search, text, finds(search, text)]).toEqual([search, text, true]);
      }),
    );
  });

  test('for any text has words that fit the index', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), text => {
        const words = [...wordsOf(text), ...searchTerms(text).flat()];
        expect(words.filter(word => !/^[\p{L}\p{N}\p{M}\p{Extended_Pictographic}]{1,64}$/u.test(word))).toEqual([]);
        expect(words.filter(word => /[A-Z]/.test(word))).toEqual([]); // these are marks (storage/search/lexemes.ts)
      }),
    );
  });
});

test('a text has a maximum number of words', () => {
  const text = Array.from({ length: MAX_WORDS_INDEXED + 500 }, (_, number) => `w${number}`).join(' ');
  expect(wordsOf(text)).toHaveLength(MAX_WORDS_INDEXED);
});
