import type { IncomingMessage } from 'node:http';
import type { Config } from '../../platform/config.ts';

type Home = Pick<Config, 'BASE_URL'>;

const isSecure = ({ BASE_URL }: Home): boolean => BASE_URL.startsWith('https:');

/** A cookie's name: over TLS with the prefix by which browsers keep it from other hosts and from plain HTTP. */
const nameOf = (name: string, config: Home): string => `${isSecure(config) ? '__Host-' : ''}parley_${name}`;

/** What `Set-Cookie` says so that scripts never see it and other sites' requests never carry it (RFC 6265bis). */
export const setCookie = (name: string, value: string, maxAgeSeconds: number, config: Home): string =>
  `${nameOf(name, config)}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${isSecure(config) ? '; Secure' : ''}`;

export const clearCookie = (name: string, config: Home): string => setCookie(name, '', 0, config);

/** The value of one of our cookies; the first of two, which a `__Host-` cookie can not have. */
export function readCookie(request: Pick<IncomingMessage, 'headers'>, name: string, config: Home): string | undefined {
  const start = `${nameOf(name, config)}=`;
  const found = request.headers.cookie?.split(';').find(part => part.trimStart().startsWith(start));
  return found?.trim().slice(start.length) || undefined;
}
