import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { createThrottle } from '../../src/platform/log.ts';
import { collectGarbage } from '../support/memory.ts';

const LOG = new URL('../../src/platform/log.ts', import.meta.url).href;

/** The output of a program that uses the log. */
async function outputOf(statements: string) {
  const program = `import { createLog } from ${JSON.stringify(LOG)}; const log = createLog('info', 'test'); ${statements}`;
  return promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
}

describe('the log', () => {
  test('contains no credentials and no user content', async () => {
    const fields = [
      'authorization',
      'cookie',
      'password',
      'secret',
      'api_key',
      'access_token',
      'token',
      'values',
      'comment',
      'body',
    ];
    const hidden = Object.fromEntries(fields.map(field => [field, 'hidden-value']));
    const { stdout, stderr } = await outputOf(
      `log.info(${JSON.stringify({ ...hidden, headers: hidden })}, 'a message'); log.info({ request: ${JSON.stringify(hidden)} });`,
    );
    expect(stdout).toBe('');
    expect(stderr).not.toContain('hidden-value');
    expect(stderr.split('[redacted]')).toHaveLength(3 * fields.length + 1);
  });

  test('is one JSON object per line, for any message', async () => {
    const { stderr } = await outputOf(
      `log.info({ path: 'a\\r\\n{"level":"error"}\\u001b[31m' }, 'one\\ntwo\\u001b[2J'); log.debug('not hidden');`,
    );
    const lines = stderr.trimEnd().split('\n');
    expect(lines).toHaveLength(1);
    expect(stderr).not.toContain('\u001b');
    expect(JSON.parse(lines[0] as string)).toMatchObject({ level: 'info', role: 'test', msg: 'one\ntwo\u001b[2J' });
  });
});

test('a throttle passes one message of a kind per interval, and counts the rest', () => {
  let now = 0;
  const throttle = createThrottle(1000, () => now);
  const written: [string, number][] = [];
  const write = (kind: string) => throttle(kind, held => written.push([kind, held]));
  for (now of [0, 1, 2, 999]) write('a');
  write('b');
  now = 1000;
  write('a');
  write('a');
  expect(written).toEqual([
    ['a', 0],
    ['b', 0],
    ['a', 3],
  ]);
});

test('a throttle keeps a bounded number of messages, even if all differ', () => {
  let now = 0;
  const throttle = createThrottle(1000, () => now);
  const passed: string[] = [];
  const message = (number: number) => `connect ECONNREFUSED 10.0.0.1:${number} ${'x'.repeat(10_000)}${number}`;
  const log = (number: number) => throttle(message(number), held => passed.push(`${number}: ${held}`));
  for (let number = 0; number < 200; number++) log(number);
  expect(passed).toHaveLength(101); // the others are summed up in one line
  now = 1000;
  log(1000);
  expect(passed.at(-1)).toBe('1000: 0');
  const before = collectGarbage();
  for (let number = 2000; number < 22_000; number++) log(number);
  expect(collectGarbage() - before).toBeLessThan(5_000_000); // of 200 MB
});
