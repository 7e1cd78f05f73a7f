import { isIPv4, isIPv6 } from 'node:net';

/** An address with a port, as some proxies add to `X-Forwarded-For`. */
const WITH_PORT = /^(?:\[(?<v6>[^\]]*)\](?::\d+)?|(?<v4>\d+\.\d+\.\d+\.\d+):\d+)$/;
/** An IPv4-mapped IPv6 address in canonical form. */
const MAPPED = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;
/** The groups of a /64, the usual network of one subscriber. */
const NETWORK_GROUPS = 4;
const IPV6_GROUPS = 8;

/**
 * Returns an IP address in canonical form (RFC 5952), without port and zone; null for any other text.
 *
 * An IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) is returned as IPv4.
 */
export function parseAddress(text: string): string | null {
  const groups = WITH_PORT.exec(text)?.groups;
  const [bare = ''] = (groups?.v6 ?? groups?.v4 ?? text).split('%');
  if (isIPv4(bare)) return bare;
  if (!isIPv6(bare)) return null;
  const address = new URL(`http://[${bare}]`).hostname.slice(1, -1);
  const mapped = MAPPED.exec(address);
  if (!mapped) return address;
  return mapped
    .slice(1)
    .flatMap(group => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255])
    .join('.');
}

/** Returns the first `count` of the eight groups of a canonical IPv6 address. */
function leadingGroups(address: string, count: number): string[] {
  const [before = [], after = []] = address.split('::').map(part => part.split(':').filter(Boolean));
  const zeros = Array(IPV6_GROUPS - before.length - after.length).fill('0');
  return [...before, ...zeros, ...after].slice(0, count);
}

/**
 * Returns the part of a canonical address that its user cannot choose freely, for counting: an IPv4 address itself, or
 * the /64 of an IPv6 address. All requests without a known address count as one.
 */
export function networkOf(address: string | null): string {
  if (address === null) return 'unknown';
  return address.includes(':') ? `${leadingGroups(address, NETWORK_GROUPS).join(':')}::/64` : address;
}

/** Returns the network of a canonical address that may be stored with `ip_mode: truncated`: its /24 or /48. */
export const truncateAddress = (address: string): string =>
  address.includes(':') ? `${leadingGroups(address, 3).join(':')}::` : address.replace(/\d+$/, '0');
