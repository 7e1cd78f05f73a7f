import { ParleyError } from './errors.ts';

const LOOPBACK = /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

export interface UrlOptions {
  allowHttp?: boolean | undefined;
  /** Address that relative URLs refer to. */
  page?: string | undefined;
}

/**
 * Parses a URL that credentials may be sent to: `https`, or `http` on localhost (specification 4.3). With `allowHttp`
 * also `http` elsewhere.
 */
export function checkUrl(url: string, { allowHttp = false, page }: UrlOptions = {}): URL {
  try {
    const parsed = new URL(url, page);
    const isHttp = parsed.protocol === 'http:' && (allowHttp || LOOPBACK.test(parsed.hostname));
    if (parsed.protocol === 'https:' || isHttp) return parsed;
  } catch {} // not a URL
  throw new ParleyError('insecure-url', `The URL must use https:// (or http://localhost, or allowHttp): ${url}`);
}

/** Returns the base that paths are appended to. Throws `insecure-url`. */
export function checkBaseUrl(url: string, allowHttp = false): string {
  const { origin, pathname, username, password, search, hash } = checkUrl(url, { allowHttp });
  if (username || password || search || hash)
    throw new ParleyError('insecure-url', 'The base URL must have no credentials, query or fragment.');
  return (origin + pathname).replace(/\/+$/, '');
}
