/** An address with a port, as some proxies add to `X-Forwarded-For`. */
const WITH_PORT = /^(?:\[(?<v6>[^\]]*)\](?::\d+)?|(?<v4>\d+\.\d+\.\d+\.\d+):\d+)$/;
const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;
const IPV6_GROUPS = 8;
/** The groups of a /64, the usual network of one subscriber. */
const NETWORK_GROUPS = 4;
const MAPPED = '0:0:0:0:0:ffff';
/** Longer than any address. Other texts are used as they are, cut to this length. */
const MAX_LENGTH = 64;

/** Converts the IPv4 part of an IPv6 address into its last two groups. */
function unfoldIpv4(address: string): string {
  const tail = address.slice(address.lastIndexOf(':') + 1);
  if (!IPV4.test(tail)) return address;
  const [a = 0, b = 0, c = 0, d = 0] = tail.split('.').map(Number);
  return `${address.slice(0, -tail.length)}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

/** Returns the eight groups of an IPv6 address without leading zeros; `undefined` when it is not one. */
function groupsOf(address: string): string[] | undefined {
  const [head = '', tail, ...rest] = unfoldIpv4(address).split('::');
  const split = (part: string) => (part === '' ? [] : part.split(':'));
  const [before, after] = [split(head), split(tail ?? '')];
  const missing = IPV6_GROUPS - before.length - after.length;
  const isComplete = tail === undefined ? missing === 0 : missing > 0;
  const groups = [...before, ...Array(Math.max(0, missing)).fill('0'), ...after];
  if (rest.length > 0 || !isComplete || !groups.every(group => /^[0-9a-f]{1,4}$/.test(group))) return undefined;
  return groups.map(group => Number.parseInt(group, 16).toString(16));
}

/**
 * Returns the part of an address that its user cannot choose freely, for counting: an IPv4 address itself, or the /64
 * of an IPv6 address.
 *
 * An IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) counts as IPv4. Port and zone are removed. Other texts are returned
 * in lower case, cut to 64 characters.
 */
export function networkOf(address: string): string {
  const groups = WITH_PORT.exec(address)?.groups;
  const [bare = ''] = (groups?.v6 ?? groups?.v4 ?? address).toLowerCase().split('%');
  const parts = bare.includes(':') ? groupsOf(bare) : undefined;
  if (!parts) return bare.slice(0, MAX_LENGTH);
  if (parts.slice(0, 6).join(':') === MAPPED) {
    const bytes = parts.slice(6).flatMap(group => {
      const value = Number.parseInt(group, 16);
      return [value >> 8, value & 255];
    });
    return bytes.join('.');
  }
  return `${parts.slice(0, NETWORK_GROUPS).join(':')}::/64`;
}
