import { ParleyError } from './errors.ts';

export type QueryValue = string | number | boolean | undefined;
/** The parameters of a query; what is undefined is left out. */
export type Query = { [name: string]: QueryValue };

/** Text for a path or a query: everything but the unreserved characters of RFC 3986 percent-encoded. */
const encode = (value: string): string =>
  encodeURIComponent(value).replace(/[!'()*]/g, sign => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

/**
 * A path whose `{names}` are filled in, in order.
 *
 * Throws `invalid-argument` for a value that is nothing, `.` or `..`: no URL can hold it, it would lead to another path.
 */
export function fillPath(pattern: string, values: readonly string[]): string {
  let next = 0;
  return pattern.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(values[next++] ?? '');
    if (/^\.{0,2}$/.test(value))
      throw new ParleyError('invalid-argument', `${name} must be the name of something, not "${value}".`, {
        code: name,
      });
    return encode(value);
  });
}

/** A path with its query. */
export function withQuery(path: string, query: Query): string {
  const parts = Object.keys(query).flatMap(name => {
    const value = query[name];
    return value === undefined ? [] : [`${encode(name)}=${encode(String(value))}`];
  });
  return parts.length === 0 ? path : `${path}?${parts.join('&')}`;
}
