import type { z } from 'zod';
import type { ProblemError } from './problem.ts';

/** A JSON pointer (RFC 6901) of a path into a document. */
export const jsonPointer = (path: readonly PropertyKey[]): string =>
  path.map(part => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** What a failed parse found, each with its place; a schema's union tells of its nearest branch. */
export function describeIssues(error: z.ZodError): ProblemError[] {
  return error.issues.flatMap(issue =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map(key => ({
          pointer: jsonPointer([...issue.path, key]),
          code: 'unknown-field',
          detail: 'this field is not known here',
        }))
      : [{ pointer: jsonPointer(issue.path), code: issue.code.replaceAll('_', '-'), detail: issue.message }],
  );
}

/** Whether a parsed JSON document nests deeper than `limit`, found without recursion. */
export function isDeeperThan(document: unknown, limit: number): boolean {
  let level: unknown[] = [document];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limit) return true;
    level = level.flatMap(value => (value !== null && typeof value === 'object' ? Object.values(value) : []));
  }
  return false;
}
