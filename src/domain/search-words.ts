/** Maximum length of an indexed word, in characters. Longer words are cut, in texts and in searches. */
const MAX_WORD = 32;

/** Maximum number of different words indexed per text. Further words are not found. */
export const MAX_WORDS_INDEXED = 2000;

/** Characters ignored within words: soft hyphens and zero-width marks. */
const IGNORED = /[\u00ad\u200b-\u200d\u2060\ufeff]/gu;

/** A word with its apostrophes, or one pictograph. */
const TOKEN = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*(?:['’ʼ][\p{L}\p{N}\p{M}]+)*|\p{Extended_Pictographic}/gu;

/** Runs of scripts without spaces between words. */
const SPACELESS =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]+|[^\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]+/gu;
const IS_SPACELESS =
  /^[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u;

/** Accents, and the vowel points of Hebrew and Arabic. */
const ACCENTS = /[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed]/gu;

/** Letters that Unicode does not decompose into a base letter and an accent. */
const BASE_LETTERS: Record<string, string> = {
  ...{ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ð: 'd', ł: 'l', þ: 'th', ħ: 'h', ı: 'i', ς: 'σ' },
};
/** Letters also written as two where a keyboard lacks them. */
const SPELLED_OUT: Record<string, string> = { ä: 'ae', ö: 'oe', ü: 'ue', ø: 'oe', å: 'aa' };

const replaceLetters = (word: string, letters: Record<string, string>): string =>
  word.replaceAll(/[^\p{ASCII}]/gu, letter => letters[letter] ?? letter);

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
const isAscii = (text: string): boolean => /^[\x00-\x7f]*$/.test(text);

const cut = (word: string): string => (word.length > MAX_WORD ? [...word].slice(0, MAX_WORD).join('') : word);

const withoutAccents = (word: string): string =>
  replaceLetters(word.normalize('NFD').replaceAll(ACCENTS, '').normalize('NFC'), BASE_LETTERS);

/**
 * Returns the indexed forms of a word: without accents, and with umlauts spelled out (`müller`: `muller`, `mueller`).
 */
function formsOf(word: string): string[] {
  if (isAscii(word)) return [cut(word)];
  const plain = cut(withoutAccents(word));
  const spelled = cut(withoutAccents(replaceLetters(word, SPELLED_OUT)));
  return plain === spelled ? [plain] : [plain, spelled];
}

const ASCII_TOKEN = /[a-z0-9]+(?:'[a-z0-9]+)*/g;

const tokensOf = (text: string): string[] =>
  (isAscii(text) ? text.toLowerCase().match(ASCII_TOKEN) : unicodeTokensOf(text)) ?? [];

const unicodeTokensOf = (text: string): string[] | null =>
  text.normalize('NFKC').toLowerCase().normalize('NFC').replaceAll(IGNORED, '').match(TOKEN);

/** Splits a token by script: adjacent Japanese and Latin are two words. */
const partsOf = (token: string): string[] => (isAscii(token) ? [token] : (token.match(SPACELESS) ?? []));

/** Returns each pair of adjacent characters; a single character is returned as it is. */
function pairsOf(run: string): string[] {
  const characters = [...withoutAccents(run)];
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

function indexedForms(token: string): Iterable<string> {
  return isAscii(token) && !token.includes("'") ? [cut(token)] : formsOfParts(token);
}

function* formsOfParts(token: string): Iterable<string> {
  for (const part of partsOf(token)) {
    if (IS_SPACELESS.test(part)) {
      yield* pairsOf(part);
      yield [...withoutAccents(part)].at(-1) as string; // so that a search for this character finds it as well
      continue;
    }
    const pieces = part.split(/['’ʼ]/u);
    yield* formsOf(pieces.join(''));
    if (pieces.length > 1) yield* formsOf(pieces.at(-1) as string); // the noun in "l'avion"
  }
}

/**
 * Returns the distinct words under which a text is found, at most `MAX_WORDS_INDEXED`.
 *
 * Case, accents and compatibility forms are ignored. Umlauts are indexed as the base letter and as two letters. Scripts
 * without spaces are indexed by pairs of adjacent characters. A pictograph is a word.
 */
export function wordsOf(text: string): string[] {
  const words = new Set<string>();
  for (const token of tokensOf(text))
    for (const form of indexedForms(token)) {
      if (words.size === MAX_WORDS_INDEXED) return [...words];
      words.add(form);
    }
  return [...words];
}

/** The alternatives for one word of a search. A text matches if one of its words starts with one of these. */
export type SearchTerm = readonly string[];

function* searchedForms(token: string): Iterable<SearchTerm> {
  for (const part of partsOf(token)) {
    if (IS_SPACELESS.test(part)) for (const pair of pairsOf(part)) yield [pair];
    else yield formsOf(part.replaceAll(/['’ʼ]/gu, ''));
  }
}

/**
 * Returns the distinct terms of a search, all of which a text must match. Empty for a search without letters and
 * digits.
 *
 * An e-mail address is split into words at its punctuation.
 */
export function searchTerms(search: string): SearchTerm[] {
  const terms = new Map<string, SearchTerm>();
  for (const token of tokensOf(search)) for (const term of searchedForms(token)) terms.set(term.join(' '), term);
  return [...terms.values()];
}

/** Whether a text with these words matches all terms. The search index implements the same rule. */
export const matchesTerms = (words: readonly string[], terms: readonly SearchTerm[]): boolean =>
  terms.every(term => term.some(form => words.some(word => word.startsWith(form))));
