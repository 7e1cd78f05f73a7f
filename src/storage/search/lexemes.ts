import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { DAY_MS } from '../../domain/durations.ts';
import { type SearchTerm, wordsOf } from '../../domain/search-words.ts';

/*
 * The form of a word in the search index: the tag of its tenant, the word in lower case, and for tenants with many texts
 * the mark of the week in which it was indexed.
 */

/** A tenant whose texts this process indexes. */
interface IndexedTenant {
  tag: string;
  /** The last week in which it indexed a text, and the number of texts in that week. */
  week: number;
  texts: number;
}

/** The tenants of recent texts. Computing a tag takes as long as preparing a short text. */
const tenants = new LRUCache<string, IndexedTenant>({ max: 1000 });

function indexedTenant(tenantId: string): IndexedTenant {
  let tenant = tenants.get(tenantId);
  if (tenant === undefined) {
    const tag = createHash('sha256').update(tenantId).digest('base64url').slice(0, 4);
    tenant = { tag, week: 0, texts: 0 };
    tenants.set(tenantId, tenant);
  }
  return tenant;
}

/**
 * Returns the prefix of a tenant's indexed words, so that searches do not read entries of other tenants.
 *
 * It is short because each word has it. Two tenants with the same prefix only slow each other's searches down slightly.
 */
const tagOf = (tenantId: string): string => indexedTenant(tenantId).tag;

const WEEK_MS = 7 * DAY_MS;

/** After so many weeks the marks repeat, because PostgreSQL never removes a word from the index. */
const WEEKS = 52;

/** Texts of a tenant that a process indexes without a mark each week. Words of small tenants have short lists anyway. */
export const UNMARKED_TEXTS = 1000;

/**
 * Returns the end of words of a tenant's next text: two capital letters, which no word contains, or an empty text.
 *
 * For each row that is added to a word, PostgreSQL logs the list of the word's rows as a whole. The mark limits these
 * lists to a week. Searches look for the beginning of a word, so they find it with every mark, or without one.
 */
function nextMark(tenant: IndexedTenant): string {
  const week = Math.floor(Date.now() / WEEK_MS);
  tenant.texts = tenant.week === week ? tenant.texts + 1 : 1;
  tenant.week = week;
  if (tenant.texts <= UNMARKED_TEXTS) return '';
  const mark = week % WEEKS;
  return String.fromCharCode(65 + Math.floor(mark / 26), 65 + (mark % 26));
}

/** Returns a text's words as `tsvector` input; null without words. Words are letters and digits and need no escaping. */
export function toTsvector(tenantId: string, text: string): string | null {
  const words = wordsOf(text);
  if (words.length === 0) return null;
  const tenant = indexedTenant(tenantId);
  const mark = nextMark(tenant);
  return words.map(word => `'${tenant.tag}${word}${mark}'`).join(' ');
}

/** Returns a term as `tsquery` input. */
export const toTsquery = (tenantId: string, term: SearchTerm): string =>
  `(${term.map(form => `'${tagOf(tenantId)}${form}':*`).join(' | ')})`;
