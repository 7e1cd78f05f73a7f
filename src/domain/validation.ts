import type { z } from 'zod';
import type { ProblemError } from './problem.ts';

/** Returns the JSON pointer (RFC 6901) of a path. */
export const jsonPointer = (path: readonly PropertyKey[]): string =>
  path.map(part => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** Maximum number of faults in a reply, enough for a body with a thousand unknown fields. */
const MAX_FAULTS = 50;

/** Returns the faults of a failed parse with their pointers, at most 50. For a union, those of the nearest branch. */
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

/** Whether a parsed JSON document is nested deeper than `limit` levels. Recurses no deeper itself. */
export function isDeeperThan(document: unknown, limit: number): boolean {
  if (typeof document !== 'object' || document === null) return false;
  if (limit === 0) return true;
  const parts = Array.isArray(document) ? document : Object.values(document);
  for (const part of parts) if (isDeeperThan(part, limit - 1)) return true;
  return false;
}
