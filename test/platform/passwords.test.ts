import { expect, test } from 'vitest';
import { hashPassword, passwordsWaiting, verifyPassword } from '../../src/platform/passwords.ts';

test("a password is stored as argon2id at OWASP's cost, and only that password matches", async () => {
  const hashed = await hashPassword('correct horse battery');
  expect(hashed).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(await verifyPassword('correct horse battery', hashed)).toBe(true);
  expect(await verifyPassword('correct horse batterY', hashed)).toBe(false);
  expect(await hashPassword('correct horse battery')).not.toBe(hashed);
});

test('without a hash no password matches', async () => {
  for (const tried of ['', 'x', 'correct horse battery'])
    for (const hashed of [null, undefined]) expect(await verifyPassword(tried, hashed)).toBe(false);
});

test('two are computed at once, others wait, and the event loop continues', async () => {
  const all = Array.from({ length: 6 }, (_, index) => hashPassword(`password number ${index}`));
  expect(passwordsWaiting()).toBe(4);
  let turns = 0;
  let turn = setImmediate(function next() {
    turns++;
    turn = setImmediate(next);
  });
  expect(new Set(await Promise.all(all)).size).toBe(6);
  clearImmediate(turn);
  expect(turns).toBeGreaterThan(50); // one for each password if they were computed on this thread
  expect(passwordsWaiting()).toBe(0);
});
