import { MAX_SCANNED, type Page } from '../../domain/pages.ts';
import { type SearchTerm, searchTerms } from '../../domain/search-words.ts';
import { endEarly, keyOf, type List, readPage, readPageOf } from '../database/lists.ts';
import type { TenantStorage } from '../database/orm.ts';
import { toTsquery } from './lexemes.ts';

/** More frequent words are not looked up in the index: scanning the list finds them sooner. */
const MAX_HITS = 20_000;

/** Limits of one request. Tests use lower ones. */
export interface SearchLimits {
  /** Maximum number of rows scanned in list order, where a page ends. */
  lookAt: number;
  /** Maximum number of matching rows whose ids are read from the index. */
  found: number;
}

export const ANSWER_LIMITS: SearchLimits = { lookAt: MAX_SCANNED, found: 2000 };

/** A search reads every message of a conversation, so it scans fewer conversations. */
export const CONVERSATION_LIMITS: SearchLimits = { lookAt: 1000, found: 2000 };

/** Up to this number, each term is looked up separately; the remaining, shortest ones are combined. */
const MAX_TERMS = 16;

/** A searchable list: how its rows match words, and how rows with rare words are found. */
export interface SearchableList<Row> {
  /** Returns a new list without a start position. */
  list(): List<Row>;
  /** Whether `access` is selective enough to skip the search index. */
  narrow: boolean;
  limits: SearchLimits;
  /** SQL condition for rows that match a `tsquery`, its only parameter. Uses the table's name. */
  matches: string;
  /** Returns the ids of all matching rows after a position, for a page of `limit`, or undefined if there are too many. */
  find(terms: readonly string[], limit: number, after: string[] | null): Promise<Found | undefined>;
}

/** Ids of matching rows in batches, in list order. */
export interface Found {
  batches: string[][];
  /** The position in the list up to which the ids are complete; null if they all are. */
  upTo: string[] | null;
}

/** Combines the terms beyond `MAX_TERMS` into one, which limits the cost of a search. */
function toQueries(tenantId: string, terms: readonly SearchTerm[]): string[] {
  const queries = terms.map(term => toTsquery(tenantId, term)).toSorted((one, other) => other.length - one.length);
  const rest = queries.splice(MAX_TERMS - 1);
  return rest.length > 0 ? [...queries, rest.join(' & ')] : queries;
}

/**
 * Returns a page of the rows that match all words of a search.
 *
 * The index finds rare words. When all words are frequent, scanning the list fills a page soon.
 */
export async function searchPage<Row extends { id: string }>(
  tenant: TenantStorage,
  searchable: SearchableList<Row>,
  search: string,
  limit: number,
  after: string[] | null,
): Promise<Page<Row>> {
  const terms = searchTerms(search);
  if (terms.length === 0) return { rows: [], next: null };
  const queries = toQueries(tenant.tenantId, terms);
  const found = searchable.narrow ? undefined : await searchable.find(queries, limit, after);
  if (found) return readFound(tenant, searchable, found, limit, after);
  const list = searchable.list();
  list.filters.and(searchable.matches, queries.join(' & '));
  return readPage(tenant, list, limit, after, searchable.limits.lookAt);
}

async function readFound<Row extends { id: string }>(
  tenant: TenantStorage,
  searchable: SearchableList<Row>,
  { batches, upTo }: Found,
  limit: number,
  after: string[] | null,
): Promise<Page<Row>> {
  const rows: Row[] = [];
  for (const ids of batches) {
    const list = searchable.list();
    const page = await readPageOf(tenant, list, ids, limit - rows.length, after);
    rows.push(...page.rows);
    const last = rows.at(-1);
    if (page.next) return { rows, next: page.next };
    if (last && rows.length === limit && (ids !== batches.at(-1) || upTo))
      return { rows, next: keyOf(list.order, last) };
  }
  return upTo ? endEarly(rows, upTo) : { rows, next: null };
}

/**
 * Finds at most `most` answers with these words after a position in the list, newest received first. Without further
 * filters, the first batch fills a page of `limit` and shows whether there are more.
 */
export async function findAnswers(
  tenant: TenantStorage,
  terms: readonly string[],
  { limit, after, most }: { limit: number; after: string[] | null; most: number },
): Promise<Found | undefined> {
  const rows = await tenant.query<{ found: string | null; found_at: Date }>(
    'select found, found_at from search_answers($1, $2, $3, $4, $5)',
    [terms, after?.[0] ?? null, after?.[1] ?? null, MAX_HITS, most],
  );
  if (rows[0]?.found === null) return undefined;
  const ids = rows.slice(0, most).map(({ found }) => found as string);
  const last = rows[most - 1];
  const upTo = rows.length > most && last ? [last.found_at.toISOString(), last.found as string] : null;
  const batches = [ids.slice(0, limit + 1), ids.slice(limit + 1)].filter(batch => batch.length > 0);
  return { batches, upTo };
}

/** Finds conversations with a message, note or subject containing these words. */
export async function findConversations(
  tenant: TenantStorage,
  terms: readonly string[],
  most: number,
): Promise<Found | undefined> {
  const rows = await tenant.query<{ found: string | null }>('select search_messages($1, $2, $3) as found', [
    terms,
    MAX_HITS,
    most,
  ]);
  if (rows[0]?.found === null) return undefined;
  return { batches: rows.length > 0 ? [rows.map(({ found }) => found as string)] : [], upTo: null };
}
