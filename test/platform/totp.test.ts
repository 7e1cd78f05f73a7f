import { expect, test } from 'vitest';
import { matchTotp, newTotpSecret, toBase32, totpCode, totpStep } from '../../src/platform/totp.ts';

/** The secret of the test vectors in RFC 6238 appendix B. */
const SECRET = toBase32(Buffer.from('12345678901234567890'));

test.each([
  [59, '94287082'],
  [1111111109, '07081804'],
  [1111111111, '14050471'],
  [1234567890, '89005924'],
  [2000000000, '69279037'],
  [20000000000, '65353130'],
])('at %i seconds the code matches RFC 6238', (seconds, eightDigits) => {
  expect(totpCode(SECRET, totpStep(new Date(seconds * 1000)))).toBe(eightDigits.slice(2));
});

test('base32 follows RFC 4648', () => {
  expect(toBase32(Buffer.from('foobar'))).toBe('MZXW6YTBOI');
  expect(newTotpSecret()).toMatch(/^[A-Z2-7]{32}$/);
});

test('a code is valid only for its step and the adjacent ones', () => {
  const now = new Date(1_234_567_890_000);
  const step = totpStep(now);
  for (const drift of [-1, 0, 1]) expect(matchTotp(SECRET, totpCode(SECRET, step + drift), now)).toBe(step + drift);
  for (const drift of [-2, 2]) expect(matchTotp(SECRET, totpCode(SECRET, step + drift), now)).toBeUndefined();
  for (const code of ['', '1', '12345', '1234567', 'abcdef']) expect(matchTotp(SECRET, code, now)).toBeUndefined();
});
