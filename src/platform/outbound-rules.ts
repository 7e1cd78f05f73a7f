import { BlockList, isIP } from 'node:net';

/** Maximum length of a URL in characters. */
export const MAX_URL_LENGTH = 2048;
/** The lowest port that needs no privileges. Below it, only the ports of HTTP are allowed. */
const FIRST_FREE_PORT = 1024;

/** IPv4 networks that are not part of the public internet (IANA's registry of special-purpose addresses, multicast). */
const SPECIAL_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

/** The IPv6 addresses that are routed publicly. Everything else is loopback, mapped, NAT64, private, local or multicast. */
const PUBLIC_IPV6 = '2000::/3';

/** Exceptions within `PUBLIC_IPV6`: protocols (with Teredo), AS 112, documentation, and 6to4. */
const SPECIAL_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'];

/** A network in CIDR notation. */
export interface Network {
  address: string;
  prefix: number;
}

/** Parses a network in CIDR notation, or a single address; `undefined` when it is neither. */
export function parseNetwork(text: string): Network | undefined {
  const [address = '', prefix, ...rest] = text.split('/');
  const bits = { 0: 0, 4: 32, 6: 128 }[isIP(address) as 0 | 4 | 6];
  const length = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN;
  if (bits === 0 || rest.length > 0 || address.includes('%') || !(length <= bits)) return undefined;
  return { address, prefix: length };
}

function listOf(networks: readonly Network[]): BlockList {
  const list = new BlockList();
  for (const { address, prefix } of networks) list.addSubnet(address, prefix, familyOf(address));
  return list;
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');
const parseAll = (networks: readonly string[]): Network[] => networks.map(network => parseNetwork(network) as Network);

const special = listOf(parseAll([...SPECIAL_IPV4, ...SPECIAL_IPV6]));
const publicIpv6 = listOf(parseAll([PUBLIC_IPV6]));

/** Returns whether an address may be connected to: it is public, or in one of the allowed networks. */
export function createAddressRule(allowed: readonly Network[]): (address: string) => boolean {
  const exceptions = listOf(allowed);
  return address => {
    if (isIP(address) === 0 || address.includes('%')) return false; // a zone names an interface of this machine
    const family = familyOf(address);
    if (exceptions.check(address, family)) return true;
    if (special.check(address, family)) return false;
    return family === 'ipv4' || publicIpv6.check(address, family);
  };
}

/** Exceptions by the operator to HTTPS and public addresses. */
export interface UrlRules {
  /** Whether `http:` and port 80 are allowed. */
  http: boolean;
  isAllowed(address: string): boolean;
}

/** Returns the host of a URL without the brackets of an IPv6 address. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, '$1');

/**
 * Returns why requests must not be sent to a URL, as a sentence; `undefined` when its form is fine. A host name is not
 * resolved. The URL parser has already turned decimal, octal and hexadecimal IPv4 addresses into dotted ones.
 */
export function findUrlFault(text: string, { http, isAllowed }: UrlRules): string | undefined {
  const url = URL.parse(text);
  if (/[\s\p{Cc}]/u.test(text)) return 'Must not contain spaces or line breaks.'; // the parser removes some of them
  if (!url || text.length > MAX_URL_LENGTH) return `Must be a URL of at most ${MAX_URL_LENGTH} characters.`;
  if (url.protocol !== 'https:' && !(http && url.protocol === 'http:')) return 'Must start with https://.';
  if (url.username !== '' || url.password !== '') return 'Must not contain credentials.';
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  if (port !== 443 && port < FIRST_FREE_PORT && !(http && port === 80))
    return `Must use port 443 or a port from ${FIRST_FREE_PORT} up.`;
  const host = hostOf(url);
  if (isIP(host) !== 0 && !isAllowed(host)) return 'Must not lead to a private, local or reserved address.';
  return undefined;
}
