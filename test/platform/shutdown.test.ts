import { expect, test } from 'vitest';
import { createLog, createThrottle } from '../../src/platform/log.ts';
import { stopInOrder } from '../../src/platform/shutdown.ts';

const log = createLog('silent', 'test');

test('the steps of a shutdown run in sequence, and one that fails or hangs is skipped', async () => {
  const done: string[] = [];
  const clean = await stopInOrder(
    [
      { name: 'fails', run: () => Promise.reject(new Error('no')) },
      { name: 'hangs', limitMs: 100, run: () => new Promise(() => undefined) },
      { name: 'ends', run: async () => void done.push('ends') },
    ],
    log,
  );
  expect(clean).toBe(false);
  expect(done).toEqual(['ends']);
});

test('a shutdown in which every step succeeds is clean', async () => {
  expect(await stopInOrder([{ name: 'ends', run: async () => undefined }], log)).toBe(true);
});

test('a throttle passes one message of a kind, and reports how many it held back', () => {
  let now = 0;
  const passed: [string, number][] = [];
  const throttle = createThrottle(1000, () => now);
  const log = (kind: string) => throttle(kind, held => passed.push([kind, held]));
  log('a');
  log('a');
  log('b');
  now = 1001;
  log('a');
  expect(passed).toEqual([
    ['a', 0],
    ['b', 0],
    ['a', 1],
  ]);
});
