import { hash } from 'node:crypto';
import { Problem } from '../../domain/problem.ts';

/** Returns 162 bits of a text's SHA-256. */
export const shortHash = (text: string): string => hash('sha256', text, 'base64url').slice(0, 27);

/** Returns a strong entity tag of a body (RFC 9110 section 8.8.3). */
export const etagOf = (body: string): string => `"${shortHash(body)}"`;

/**
 * Returns the entity tag of a version of a resource, equal in replies to reads and to writes. The order of members does
 * not matter: PostgreSQL returns those of a JSON column in another order than they were sent in.
 */
export const versionTagOf = (representation: unknown): string => etagOf(JSON.stringify(representation, sortMembers));

/** Characters of each part of a tag but the last. */
const PART_LENGTH = 13;

/**
 * Returns a strong entity tag with several parts: the first changes only with `settings`, the next with `content` too, the
 * last with anything in the representation. A read compares all of them. A write compares only the first ones
 * (`requireParts`), so that it is not refused because somebody read or wrote meanwhile.
 */
export const partedTagOf = (representation: unknown, ...parts: unknown[]): string => {
  const beginnings = parts.map(part => versionTagOf(part).slice(1, 1 + PART_LENGTH));
  return `"${beginnings.join('')}${versionTagOf(representation).slice(1)}`;
};

/** Returns a tag of two parts: of the settings, and of the whole representation. */
export const settingsTagOf = (settings: unknown, representation: unknown): string =>
  partedTagOf(representation, settings);

const sortMembers = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

/** What compressing proxies append to a tag, within its quotes. */
const SUFFIX = /-(?:gzip|br|zstd)"$/;

/**
 * Whether a tag that a client sent names the version of ours. Compressing proxies change the tag of a reply: nginx and
 * HAProxy weaken it (`W/"x"`), Apache appends the encoding (`"x-gzip"`). Our tags name versions, not bytes, so these
 * copies are accepted even where RFC 9110 requires strong comparison.
 */
function namesVersion(sent: string, etag: string): boolean {
  if (sent === '*' || sent === etag) return true;
  const strong = sent.startsWith('W/') ? sent.slice(2) : sent;
  return strong === etag || strong.replace(SUFFIX, '"') === etag;
}

const isIn = (header: string, etag: string): boolean => header.split(',').some(tag => namesVersion(tag.trim(), etag));

/** Whether `If-None-Match` contains the tag, or a copy changed by a compressing proxy. */
export const matchesNone = (header: string | undefined, etag: string): boolean =>
  header !== undefined && (header === etag || isIn(header, etag));

/** The conditional headers of a write. */
export interface Conditions {
  'if-match'?: string | undefined;
  'if-none-match'?: string | undefined;
}

/**
 * Throws 412 unless a write may change this version: `If-Match` must contain its tag, and `If-None-Match` must not. Null
 * represents a resource that does not exist; it matches no tag, not even `*`. Returns the tag.
 */
export function requireMatch(conditions: Conditions, representation: unknown): string | null {
  const etag = representation === null ? null : versionTagOf(representation);
  requireTag(conditions, etag);
  return etag;
}

/** Like `requireMatch`, by the tag of the version; null for a resource that does not exist. */
export function requireTag(conditions: Conditions, etag: string | null, matches = isIn): void {
  const { 'if-match': wanted, 'if-none-match': unwanted } = conditions;
  if (wanted === undefined && unwanted === undefined) return;
  const refuse = (detail: string) => new Problem('precondition-failed', detail, etag ? { extra: { etag } } : {});
  if (wanted !== undefined && !(etag && matches(wanted, etag)))
    throw refuse('If-Match does not match the current version of the resource.');
  if (etag && matchesNone(unwanted, etag)) throw refuse('If-None-Match matches the current version of the resource.');
}

/** Like `requireTag`, for a tag of `partedTagOf` of which only the first `count` parts have to match. */
export function requireParts(conditions: Conditions, etag: string, count: number): void {
  const length = count * PART_LENGTH;
  const longer = new RegExp(`("[\\w-]{${length}})[\\w-]+"`, 'g');
  requireTag(conditions, etag, (header, tag) => isIn(header.replaceAll(longer, '$1"'), `${tag.slice(0, 1 + length)}"`));
}
