import { ParleyError } from './errors.ts';

export type QueryValue = string | number | boolean | null | undefined;
/** Query parameters; null and undefined are omitted. */
export type Query = { [name: string]: QueryValue };

/**
 * Fills the `{names}` of a path in order.
 *
 * Throws `invalid-argument` for an empty value, `.` and `..`, which would change the path, and for a lone surrogate.
 */
export function fillPath(pattern: string, values: readonly string[]): string {
  let next = 0;
  return pattern.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(values[next++] ?? '');
    if (/^\.{0,2}$|\p{Cs}/u.test(value))
      throw new ParleyError('invalid-argument', `${name} must not be "${value}".`, {
        code: name,
      });
    return encodeURIComponent(value);
  });
}

/** Appends the query to a path. */
export function withQuery(path: string, query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value != null);
  return given[0] ? `${path}?${new URLSearchParams(given as [string, string][])}` : path;
}
