import { hash } from 'node:crypto';
import { Problem } from '../../domain/problem.ts';

/** A strong entity tag of a body (RFC 9110 section 8.8.3). */
export const etagOf = (body: string): string => `"${hash('sha256', body, 'base64url').slice(0, 27)}"`;

const tagsOf = (header: string): string[] => header.split(',').map(tag => tag.trim());

/** Whether `If-None-Match` names the tag; compared weakly, as the RFC has it. */
export const matchesNone = (header: string | undefined, etag: string): boolean =>
  header !== undefined &&
  (header === etag || tagsOf(header).some(tag => tag === '*' || tag.replace(/^W\//, '') === etag));

/**
 * Throws 412 when `If-Match` is there and does not name the tag of the representation; compared strongly. Null stands
 * for a resource that is not there, which nothing matches.
 */
export function requireMatch(header: string | undefined, representation: unknown): void {
  if (header === undefined) return;
  const etag = etagOf(JSON.stringify(representation));
  if (representation === null || !tagsOf(header).some(tag => tag === '*' || tag === etag))
    throw new Problem('precondition-failed', 'If-Match does not match the current version of the resource.', {
      extra: { etag },
    });
}
