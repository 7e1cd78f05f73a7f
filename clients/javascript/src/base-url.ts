import { ParleyError } from './errors.ts';

const LOOPBACK = /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

export interface UrlOptions {
  allowHttp?: boolean | undefined;
  /** Resolves a relative URL as `fetch` does, also in `srcdoc` frames. */
  isRelative?: boolean;
}

/**
 * Parses a URL that credentials may be sent to: `https`, or `http` on localhost (specification 4.3). With `allowHttp`
 * also `http` elsewhere.
 */
export function checkUrl(url: string, { allowHttp = false, isRelative }: UrlOptions = {}): URL {
  try {
    const parsed = new URL(isRelative ? new Request(url).url : url);
    const isHttp = parsed.protocol === 'http:' && (allowHttp || LOOPBACK.test(parsed.hostname));
    if (parsed.protocol === 'https:' || isHttp) return parsed;
  } catch {} // not a URL
  throw new ParleyError('insecure-url', 'The URL must use https:// (or http://localhost, or allowHttp).');
}

/** Returns the base that paths are appended to. Throws `insecure-url`. */
export function checkBaseUrl(url: string, allowHttp = false): string {
  const { href, origin, pathname } = checkUrl(url, { allowHttp });
  if (href !== origin + pathname)
    throw new ParleyError('insecure-url', 'The base URL must have no credentials, query or fragment.');
  return (origin + pathname).replace(/\/+$/, '');
}
