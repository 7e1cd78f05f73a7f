import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runFlags, START_FLAGS } from '../../src/platform/v8-flags.ts';

const nameOf = (flag: string): string => flag.replace(/^--(no-)?/, '').replace(/=.*/, '');

test('only a process that serves alone compiles its code early', () => {
  expect(runFlags('serve')).toContainEqual(expect.stringContaining('turbofan'));
  expect([runFlags('work'), runFlags('start')]).toEqual([[], []]);
});

test('every V8 flag exists in this version of Node', () => {
  const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
  const onCommandLine = ['package.json', 'Dockerfile'].flatMap(file =>
    readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8').match(/--[a-z-]*semi-space[a-z-]*/g),
  );
  const flags = [...START_FLAGS, ...runFlags('serve'), ...onCommandLine] as string[];
  expect(flags).toHaveLength(8);
  for (const flag of flags) expect(known).toContain(`--${nameOf(flag)} (`);
});
