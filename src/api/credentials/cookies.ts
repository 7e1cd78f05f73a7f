import type { IncomingMessage } from 'node:http';
import type { Config } from '../../platform/config.ts';

type Home = Pick<Config, 'BASE_URL'>;

const isSecure = ({ BASE_URL }: Home): boolean => BASE_URL.startsWith('https:');

/** A cookie's name. Over TLS it has the prefix that keeps it from other hosts and from plain HTTP. */
const nameOf = (name: string, config: Home): string => `${isSecure(config) ? '__Host-' : ''}parley_${name}`;

/** A `Set-Cookie` value hidden from scripts and from requests of other sites (RFC 6265bis). */
export const setCookie = (name: string, value: string, maxAgeSeconds: number, config: Home): string =>
  `${nameOf(name, config)}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${isSecure(config) ? '; Secure' : ''}`;

export const clearCookie = (name: string, config: Home): string => setCookie(name, '', 0, config);

/** Returns the value of one of Parley's cookies: the first if it occurs twice, which the prefix `__Host-` rules out. */
export function readCookie(request: Pick<IncomingMessage, 'headers'>, name: string, config: Home): string | undefined {
  const start = `${nameOf(name, config)}=`;
  const found = request.headers.cookie?.split(';').find(part => part.trimStart().startsWith(start));
  return found?.trim().slice(start.length) || undefined;
}
