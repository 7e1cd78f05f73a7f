import type { z } from 'zod';
import type { ProblemError } from './problem.ts';

/** A JSON pointer (RFC 6901) of a path into a document. */
export const jsonPointer = (path: readonly PropertyKey[]): string =>
  path.map(part => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** How many faults a reply names: a body of a thousand unknown fields is told enough by then. */
const MAX_FAULTS = 50;

/** What a failed parse found, each with its place, at most 50; a schema's union tells of its nearest branch. */
export function describeIssues(error: z.ZodError): ProblemError[] {
  const faults = error.issues.flatMap(issue =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map(key => ({
          pointer: jsonPointer([...issue.path, key]),
          code: 'unknown-field',
          detail: 'this field is not known here',
        }))
      : [{ pointer: jsonPointer(issue.path), code: issue.code.replaceAll('_', '-'), detail: issue.message }],
  );
  return faults.slice(0, MAX_FAULTS);
}

/** Whether objects and arrays of a parsed JSON document nest deeper than `limit` levels; it goes no deeper itself. */
export function isDeeperThan(document: unknown, limit: number): boolean {
  if (typeof document !== 'object' || document === null) return false;
  if (limit === 0) return true;
  const parts = Array.isArray(document) ? document : Object.values(document);
  for (const part of parts) if (isDeeperThan(part, limit - 1)) return true;
  return false;
}
