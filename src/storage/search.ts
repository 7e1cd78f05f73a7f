import { MAX_SCANNED, type Page } from '../domain/pages.ts';
import { type SearchTerm, searchTerms } from '../domain/search-words.ts';
import { endEarly, keyOf, type List, readPage, readPageOf } from './lists.ts';
import type { TenantStorage } from './orm.ts';
import { isIndexed, type TextKind, toTsquery } from './search-index.ts';
import type { Where } from './sql.ts';

/** Words that more texts have are not looked up in the index: reading in the order of the list finds them sooner. */
const MAX_HITS = 20_000;

/** How much one request may read. Tests read less. */
export interface SearchLimits {
  /** How many rows are read in the order of the list; a page ends there. */
  lookAt: number;
  /** Of how many matching rows the index gives the ids. */
  found: number;
}

export const ANSWER_LIMITS: SearchLimits = { lookAt: MAX_SCANNED, found: 2000 };

/** A search reads every message of a conversation, so it reads fewer conversations. */
export const CONVERSATION_LIMITS: SearchLimits = { lookAt: 1000, found: 2000 };

/** Each term is looked up by itself up to this number; the further ones, the shortest, as one. */
const MAX_TERMS = 16;

/** A list that can be searched: how its rows match words, and where the rows of rare words are found. */
export interface SearchableList<Row> {
  /** The list anew, without a place to start after. */
  list(): List<Row>;
  /** Whether `access` leaves so few rows that the index of words is not asked. */
  narrow: boolean;
  /** The texts that have to be indexed before the index is asked. */
  kinds: readonly TextKind[];
  limits: SearchLimits;
  /** Whether a row of the list, under the name of its table, matches a `tsquery`, which is the only parameter. */
  matches: string;
  /** The condition for as long as the index is incomplete. */
  filterUnindexed(list: List<Row>, search: string): Promise<void>;
  /** The ids of all matching rows after a page, or undefined if there are too many. */
  find(terms: readonly string[], after: string[] | null): Promise<Found | undefined>;
}

/** Ids of matching rows in batches, of which each comes after the one before it in the list. */
export interface Found {
  batches: string[][];
  /** The place in the list up to which these are all of them; null if there are no others. */
  upTo: string[] | null;
}

/** Adds the terms beyond `MAX_TERMS` to one, so that no search costs more than so many terms. */
function toQueries(tenantId: string, terms: readonly SearchTerm[]): string[] {
  const queries = terms.map(term => toTsquery(tenantId, term)).toSorted((one, other) => other.length - one.length);
  const rest = queries.splice(MAX_TERMS - 1);
  return rest.length > 0 ? [...queries, rest.join(' & ')] : queries;
}

/**
 * A page of the rows that match all words of a search.
 *
 * The index finds rare words. Where it does not help, because all words are frequent, the rows are read in the order of
 * the list, which then fills a page soon.
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
  const [indexed, found] = await Promise.all([
    isIndexed(tenant, searchable.kinds),
    searchable.narrow ? undefined : searchable.find(queries, after),
  ]);
  if (!indexed) return readUnindexed(tenant, searchable, search, limit, after);
  if (found) return readFound(tenant, searchable, found, limit, after);
  const list = searchable.list();
  list.filters.and(searchable.matches, queries.join(' & '));
  return readPage(tenant, list, limit, after, searchable.limits.lookAt);
}

async function readUnindexed<Row extends { id: string }>(
  tenant: TenantStorage,
  searchable: SearchableList<Row>,
  search: string,
  limit: number,
  after: string[] | null,
): Promise<Page<Row>> {
  const list = searchable.list();
  await searchable.filterUnindexed(list, search);
  return readPage(tenant, list, limit, after, searchable.limits.lookAt);
}

/** A page usually needs only the first batch. */
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

/** The first batch is small: without further filters it fills a page. */
const inBatches = (ids: string[], first: number): string[][] =>
  [ids.slice(0, first), ids.slice(first)].filter(batch => batch.length > 0);
const FIRST_BATCH = 25;

/** The answers of these words after a place in the list, newest received first. */
export async function findAnswers(
  tenant: TenantStorage,
  terms: readonly string[],
  after: string[] | null,
  most: number,
): Promise<Found | undefined> {
  const rows = await tenant.query<{ found: string | null; found_at: Date }>(
    'select found, found_at from search_answers($1, $2, $3, $4, $5)',
    [terms, after?.[0] ?? null, after?.[1] ?? null, MAX_HITS, most],
  );
  if (rows[0]?.found === null) return undefined;
  const ids = rows.slice(0, most).map(({ found }) => found as string);
  const last = rows[most - 1];
  const upTo = rows.length > most && last ? [last.found_at.toISOString(), last.found as string] : null;
  return { batches: inBatches(ids, FIRST_BATCH), upTo };
}

/** The conversations with a message, note or subject of these words. */
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

const HAS_WORDS = `(tenant_words(tenant_id, subject) @@ tenant_query($, $) or (select true from messages
  where messages.tenant_id = conversations.tenant_id and conversation_id = conversations.id and kind <> 'event'
    and tenant_words(messages.tenant_id, body) @@ tenant_query($, $) limit 1))`;

/**
 * The condition on a conversation while its tenant's messages are being indexed: words as they stand, with their accents,
 * by the index of the version before, which goes with that version.
 */
export async function whereUnindexedWords(
  where: Where,
  { tenantId, query }: TenantStorage,
  words: string,
): Promise<void> {
  const found = await query<{ id: string }>('select search_conversations($1, $2) as id', [
    words,
    CONVERSATION_LIMITS.found + 1,
  ]);
  if (found.length > CONVERSATION_LIMITS.found) return where.and(HAS_WORDS, tenantId, words, tenantId, words);
  where.and(
    'id = any($::uuid[])',
    found.map(({ id }) => id),
  );
}
