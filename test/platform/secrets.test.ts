import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createKeychain, equalInConstantTime, randomSecret } from '../../src/platform/secrets.ts';

const newKey = () => randomBytes(32).toString('base64');

describe('a sealed secret', () => {
  const secretKey = newKey();
  const keychain = createKeychain(secretKey);

  test('opens for the same key and context, in any process', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (secret, context) => {
        expect(createKeychain(secretKey).unseal(keychain.seal(secret, context), context)).toBe(secret);
      }),
    );
  });

  test('never looks the same twice, nor like its text', () => {
    const [one, two] = [keychain.seal('secret-text', 'a'), keychain.seal('secret-text', 'a')];
    expect(one.equals(two)).toBe(false);
    expect(one.includes('secret-text')).toBe(false);
  });

  test('does not open with another key, for another row, changed or cut', () => {
    const sealed = keychain.seal('secret-text', 'row-1');
    expect(() => createKeychain(newKey()).unseal(sealed, 'row-1')).toThrow();
    expect(() => keychain.unseal(sealed, 'row-2')).toThrow();
    for (let index = 0; index < sealed.length; index++) {
      const changed = Buffer.from(sealed);
      changed[index] = (changed[index] as number) ^ 1;
      expect(() => keychain.unseal(changed, 'row-1')).toThrow();
      expect(() => keychain.unseal(sealed.subarray(0, index), 'row-1')).toThrow();
    }
  });
});

test('a code for one purpose or one cut of its parts is no code for another', () => {
  const keychain = createKeychain(newKey());
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

test('bytes are equal when all are, and only then', () => {
  expect(equalInConstantTime(Buffer.from('ab'), Buffer.from('ab'))).toBe(true);
  expect(equalInConstantTime(Buffer.from('ab'), Buffer.from('ac'))).toBe(false);
  expect(equalInConstantTime(Buffer.from('ab'), Buffer.from('abc'))).toBe(false);
});
