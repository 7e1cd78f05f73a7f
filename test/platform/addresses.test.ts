import fc from 'fast-check';
import { expect, test } from 'vitest';
import { networkOf } from '../../src/platform/addresses.ts';

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
  ['', ''],
  ['unknown', 'unknown'],
  ['1::2::3', '1::2::3'],
  ['2001:db8:1:2:3:4:5:6:7', '2001:db8:1:2:3:4:5:6:7'],
  ['2001:db8:xyz::', '2001:db8:xyz::'],
  [`_${'x'.repeat(100)}`, `_${'x'.repeat(63)}`],
])('%s counts as %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test('all addresses of one /64 count as one, those of two as two', () => {
  const group = fc.integer({ min: 0, max: 0xffff });
  const half = fc.tuple(group, group, group, group);
  const write = (groups: number[]) => groups.map(each => each.toString(16)).join(':');
  fc.assert(
    fc.property(half, half, half, half, (network, other, one, two) => {
      fc.pre(write(network) !== write(other) && network.concat(other).some(Boolean));
      fc.pre([network, other].every(each => each.some(Boolean))); // ::ffff:0:0/96 is IPv4
      expect(networkOf(write([...network, ...one]))).toBe(networkOf(write([...network, ...two])));
      expect(networkOf(write([...network, ...one]))).not.toBe(networkOf(write([...other, ...one])));
    }),
  );
});
