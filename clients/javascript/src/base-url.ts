import { ParleyError } from './errors.ts';

const LOOPBACK = /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

function parse(url: string, page: string | undefined): URL | undefined {
  try {
    return new URL(url, page);
  } catch {
    return undefined; // the constructor has no form that reports without throwing
  }
}

/** An address that tokens may travel to: `https`, or `http` on this very machine (specification 4.3). */
export function checkUrl(url: string, page?: string): URL {
  const parsed = parse(url, page);
  if (parsed?.protocol === 'https:' || (parsed?.protocol === 'http:' && LOOPBACK.test(parsed.hostname))) return parsed;
  throw new ParleyError('insecure-url', `The address must be https:// (or http://localhost): ${url}`);
}

/** The base that paths are appended to. Throws `insecure-url` before anything is sent. */
export function checkBaseUrl(url: string): string {
  const { origin, pathname, username, password, search, hash } = checkUrl(url);
  if (username || password || search || hash)
    throw new ParleyError('insecure-url', 'The base URL must be an address and a path alone.');
  return (origin + pathname).replace(/\/+$/, '');
}
