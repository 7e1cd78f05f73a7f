import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSeals, equalInConstantTime, MAC_PURPOSES, randomSecret } from '../../src/platform/secrets.ts';
import { makeKeychain, newSecretKey } from '../support/keychain.ts';

const [first, second, third] = [newSecretKey(), newSecretKey(), newSecretKey()];

describe('a sealed secret', () => {
  const seals = createSeals({ current: first, others: [] });

  test('opens for the same key and context, in any process', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (secret, context) => {
        const elsewhere = createSeals({ current: first, others: [] });
        expect(elsewhere.unseal(seals.seal(secret, context), context)).toBe(secret);
      }),
    );
  });

  test('differs each time, and never contains its text', () => {
    const [one, two] = [seals.seal('secret-text', 'a'), seals.seal('secret-text', 'a')];
    expect(one.equals(two)).toBe(false);
    expect(one.includes('secret-text')).toBe(false);
  });

  test('does not open with other keys, for another row, or when modified', () => {
    const sealed = seals.seal('secret-text', 'row-1');
    expect(() => createSeals({ current: second, others: [third] }).unseal(sealed, 'row-1')).toThrow();
    const both = createSeals({ current: second, others: [first] });
    for (const opener of [seals, both]) {
      expect(() => opener.unseal(sealed, 'row-2')).toThrow();
      for (let index = 0; index < sealed.length; index++) {
        const changed = Buffer.from(sealed);
        changed[index] = (changed[index] as number) ^ 1;
        expect(() => opener.unseal(changed, 'row-1')).toThrow();
        expect(() => opener.unseal(sealed.subarray(0, index), 'row-1')).toThrow();
      }
    }
  });

  test('is created only with the current key, and opens with any, which is reported', () => {
    const seals = createSeals({ current: second, others: [third, first] });
    const sealedBy = (current: string) => createSeals({ current, others: [] }).seal('secret-text', 'row-1');
    for (const key of [first, second, third]) expect(seals.unseal(sealedBy(key), 'row-1')).toBe('secret-text');
    expect([second, third, first].map(key => seals.keyOf(sealedBy(key), 'row-1'))).toEqual([0, 1, 2]);
    expect(seals.keyOf(sealedBy(newSecretKey()), 'row-1')).toBe(-1);
    expect(seals.keyOf(sealedBy(second), 'row-2')).toBe(-1);
    expect(createSeals({ current: second, others: [] }).unseal(seals.seal('new', 'row-1'), 'row-1')).toBe('new');
    expect(() => createSeals({ current: first, others: [] }).unseal(seals.seal('new', 'row-1'), 'row-1')).toThrow();
  });
});

test('each purpose and each secret key has a separate, deterministic key', () => {
  const seals = createSeals({ current: first, others: [second] });
  const derived = MAC_PURPOSES.flatMap(purpose => [0, 1].map(keyNumber => seals.derive(purpose, keyNumber)));
  expect(new Set(derived.map(key => key.toString('hex'))).size).toBe(2 * MAC_PURPOSES.length);
  const swapped = createSeals({ current: second, others: [first] });
  expect(swapped.derive('cards', 1).equals(seals.derive('cards', 0))).toBe(true);
});

test('card ids equal those computed by previous versions', () => {
  const keychain = makeKeychain(Buffer.alloc(32, 7).toString('base64'));
  expect(keychain.mac('cards', 'a', 'b').toString('hex')).toBe(
    '2469bcb2efbe646091d25c10982eebf23002d10de76dd250e4155955294031ef',
  );
});

test('a MAC for one purpose or one split of its parts is invalid for another', () => {
  const keychain = makeKeychain();
  const codes = [
    keychain.mac('cards', 'a', 'b'),
    keychain.mac('cursors', 'a', 'b'),
    keychain.mac('cards', 'ab'),
    keychain.mac('cards', 'a', 'b', ''),
    keychain.mac('cards', '["a","b"]'),
  ].map(code => code.toString('hex'));
  expect(new Set(codes).size).toBe(codes.length);
  expect(keychain.mac('cards', 'a', 'b').toString('hex')).toBe(codes[0]);
});

test('a new secret is 32 random bytes as base64url', () => {
  const secrets = Array.from({ length: 100 }, randomSecret);
  for (const secret of secrets) expect(Buffer.from(secret, 'base64url')).toHaveLength(32);
  for (const secret of secrets) expect(secret).toMatch(/^[\w-]{43}$/);
  expect(new Set(secrets).size).toBe(100);
});

test('byte arrays are equal exactly if all bytes are', () => {
  expect(equalInConstantTime(Buffer.from('ab'), Buffer.from('ab'))).toBe(true);
  expect(equalInConstantTime(Buffer.from('ab'), Buffer.from('ac'))).toBe(false);
  expect(equalInConstantTime(Buffer.from('ab'), Buffer.from('abc'))).toBe(false);
});
