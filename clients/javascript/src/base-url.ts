import { ParleyError } from './errors.ts';

const LOOPBACK = /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

function parse(url: string, page: string | undefined): URL | undefined {
  try {
    return new URL(url, page);
  } catch {
    return undefined; // URL.parse is not available in all supported runtimes
  }
}

/** Parses a URL that credentials may be sent to: `https`, or `http` on localhost (specification 4.3). */
export function checkUrl(url: string, page?: string): URL {
  const parsed = parse(url, page);
  if (parsed?.protocol === 'https:' || (parsed?.protocol === 'http:' && LOOPBACK.test(parsed.hostname))) return parsed;
  throw new ParleyError('insecure-url', `The URL must use https:// (or http://localhost): ${url}`);
}

/** Returns the base that paths are appended to. Throws `insecure-url`. */
export function checkBaseUrl(url: string): string {
  const { origin, pathname, username, password, search, hash } = checkUrl(url);
  if (username || password || search || hash)
    throw new ParleyError('insecure-url', 'The base URL must have no credentials, query or fragment.');
  return (origin + pathname).replace(/\/+$/, '');
}
