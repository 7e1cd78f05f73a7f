import { hash } from 'node:crypto';
import { Problem } from '../../domain/problem.ts';

/** Returns a strong entity tag of a body (RFC 9110 section 8.8.3). */
export const etagOf = (body: string): string => `"${hash('sha256', body, 'base64url').slice(0, 27)}"`;

const tagsOf = (header: string): string[] => header.split(',').map(tag => tag.trim());

/** Whether `If-None-Match` contains the tag, by weak comparison as the RFC requires. */
export const matchesNone = (header: string | undefined, etag: string): boolean =>
  header !== undefined &&
  (header === etag || tagsOf(header).some(tag => tag === '*' || tag.replace(/^W\//, '') === etag));

/**
 * Throws 412 when `If-Match` is present and does not contain the tag of the representation, by strong comparison. Null
 * represents a resource that does not exist and never matches.
 */
export function requireMatch(header: string | undefined, representation: unknown): void {
  if (header === undefined) return;
  const etag = etagOf(JSON.stringify(representation));
  if (representation === null || !tagsOf(header).some(tag => tag === '*' || tag === etag))
    throw new Problem('precondition-failed', 'If-Match does not match the current version of the resource.', {
      extra: { etag },
    });
}
