import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type SearchTerm, wordsOf } from '../domain/search-words.ts';

/*
 * The form of a word in the search index: the tag of its tenant, the word in lower case, and the mark of the week in
 * which it was indexed.
 */

/** Cached tags of tenants. Computing one takes as long as preparing a short text. */
const tags = new LRUCache<string, string>({ max: 1000 });

/**
 * Returns the prefix of a tenant's indexed words, so that searches do not read entries of other tenants.
 *
 * It is short because each word has it. Two tenants with the same prefix only slow each other's searches down slightly.
 */
function tagOf(tenantId: string): string {
  let tag = tags.get(tenantId);
  if (tag === undefined) {
    tag = createHash('sha256').update(tenantId).digest('base64url').slice(0, 4);
    tags.set(tenantId, tag);
  }
  return tag;
}

const WEEK_MS = 7 * 24 * 3600 * 1000;

/** After so many weeks the marks repeat, because PostgreSQL never removes a word from the index. */
const WEEKS = 52;

/**
 * Returns the end of words that are indexed now: two capital letters, which no word contains.
 *
 * For each row that is added to a word, PostgreSQL logs the list of the word's rows as a whole. The mark limits these
 * lists to a week. Searches look for the beginning of a word, so they find it with every mark, or without one.
 */
function weekMark(): string {
  const week = Math.floor(Date.now() / WEEK_MS) % WEEKS;
  return String.fromCharCode(65 + Math.floor(week / 26), 65 + (week % 26));
}

/** Returns a text's words as `tsvector` input; null without words. Words are letters and digits and need no escaping. */
export function toTsvector(tenantId: string, text: string): string | null {
  const words = wordsOf(text);
  if (words.length === 0) return null;
  const [tag, mark] = [tagOf(tenantId), weekMark()];
  return words.map(word => `'${tag}${word}${mark}'`).join(' ');
}

/** Returns a term as `tsquery` input. */
export const toTsquery = (tenantId: string, term: SearchTerm): string =>
  `(${term.map(form => `'${tagOf(tenantId)}${form}':*`).join(' | ')})`;
