import { ParleyError } from './errors.ts';

export type QueryValue = string | number | boolean | undefined;
/** Query parameters; undefined values are omitted. */
export type Query = { [name: string]: QueryValue };

/** Percent-encodes everything except the unreserved characters of RFC 3986. */
const encode = (value: string): string =>
  encodeURIComponent(value).replace(/[!'()*]/g, sign => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

/**
 * Fills the `{names}` of a path in order.
 *
 * Throws `invalid-argument` for an empty value, `.` and `..`, which would change the path.
 */
export function fillPath(pattern: string, values: readonly string[]): string {
  let next = 0;
  return pattern.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(values[next++] ?? '');
    if (/^\.{0,2}$/.test(value))
      throw new ParleyError('invalid-argument', `${name} must not be "${value}".`, {
        code: name,
      });
    return encode(value);
  });
}

/** Appends the query to a path. */
export function withQuery(path: string, query: Query): string {
  const parts = Object.keys(query).flatMap(name => {
    const value = query[name];
    return value === undefined ? [] : [`${encode(name)}=${encode(String(value))}`];
  });
  return parts.length === 0 ? path : `${path}?${parts.join('&')}`;
}
