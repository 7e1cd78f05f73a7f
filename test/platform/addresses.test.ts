import fc from 'fast-check';
import { expect, test } from 'vitest';
import { networkOf, parseAddress, truncateAddress } from '../../src/platform/addresses.ts';

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:c000:201', '192.0.2.1'],
  ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
  ['192.0.2.1:50123', '192.0.2.1'],
  ['[::ffff:192.0.2.1]:50123', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::ffff', '2001:db8:1:2::/64'],
  ['[2001:db8:1:2::1]', '2001:db8:1:2::/64'],
  ['[2001:db8:1:2::1]:443', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['', 'unknown'],
  ['1::2::3', 'unknown'],
  ['2001:db8:1:2:3:4:5:6:7', 'unknown'],
  ['2001:db8:xyz::', 'unknown'],
])('%s counts as %s', (address, network) => {
  expect(networkOf(parseAddress(address))).toBe(network);
});

test.each([
  ['203.0.113.9', '203.0.113.9', '203.0.113.0'],
  ['203.0.113.9:52144', '203.0.113.9', '203.0.113.0'],
  ['::ffff:192.0.2.7', '192.0.2.7', '192.0.2.0'],
  ['[2001:db8:1:2:3::4]:443', '2001:db8:1:2:3::4', '2001:db8:1::'],
  ['2001:DB8:0:0::1', '2001:db8::1', '2001:db8:0::'],
  ['fe80::1%eth0', 'fe80::1', 'fe80:0:0::'],
  ['::1', '::1', '0:0:0::'],
])('%s is the address %s, truncated %s', (text, address, truncated) => {
  expect(parseAddress(text)).toBe(address);
  expect(truncateAddress(address)).toBe(truncated);
});

test.each([
  '',
  'unknown',
  '_hidden',
  '203.0.113.9, 198.51.100.1',
  '203.0.113.256',
  '203.0.113',
  '203.0.113.9:',
  '0x7f.1',
])('%o is no address', text => {
  expect(parseAddress(text)).toBeNull();
});

test('all addresses of one /64 count as one, those of two as two', () => {
  const group = fc.integer({ min: 0, max: 0xffff });
  const half = fc.tuple(group, group, group, group);
  const write = (groups: number[]) => groups.map(each => each.toString(16)).join(':');
  const network64 = (groups: number[]) => networkOf(parseAddress(write(groups)));
  fc.assert(
    fc.property(half, half, half, half, (network, other, one, two) => {
      fc.pre(write(network) !== write(other) && network.concat(other).some(Boolean));
      fc.pre([network, other].every(each => each.some(Boolean))); // ::ffff:0:0/96 is IPv4
      expect(network64([...network, ...one])).toBe(network64([...network, ...two]));
      expect(network64([...network, ...one])).not.toBe(network64([...other, ...one]));
    }),
  );
});
