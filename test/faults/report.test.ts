import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { blankResult, withResults } from './report.ts';
import { SCENARIOS } from './scenarios/index.ts';

const PROJECT = resolve(import.meta.dirname, '../..');
const GUARANTEES = readFileSync(join(PROJECT, 'docs/guarantees.md'), 'utf8');

test('a full run replaces the table in docs/guarantees.md and nothing else', () => {
  const result = { ...blankResult(SCENARIOS[0] as never, 'valkey', 1, 1), sent: 1234, faults: { kill: 20 } };
  const once = withResults(GUARANTEES, [result], 'run-one', SCENARIOS);
  const twice = withResults(once, [result, result], 'run-two', SCENARIOS);
  expect(twice).toContain('In all 2,468 answers sent');
  expect(twice).toContain('40 faults, 40 of them kills');
  expect(twice).not.toContain('run-one');
  const around = (text: string) => text.split(/<!-- results -->.*<!-- \/results -->/s);
  expect(around(twice)).toEqual(around(GUARANTEES));
});

test('the table names its run, the commits that were tested, and the scenarios that are not part of it', () => {
  const [one, two, three] = SCENARIOS.slice(0, 3).map(scenario => blankResult(scenario, 'valkey', 1, 1));
  const results = [
    { ...one, version: 'abc1234' },
    { ...two, version: 'def5678-dirty' },
  ] as never;
  const tried = (scenarios: typeof SCENARIOS) => withResults(GUARANTEES, results, '2026-11-24', scenarios);
  expect(tried(SCENARIOS.slice(0, 3))).toContain(
    `Run of 2026-11-24, commit abc1234, def5678-dirty. Not part of it, and tested separately: ${three?.test}.`,
  );
  expect(tried(SCENARIOS.slice(0, 2))).toContain('Run of 2026-11-24, commit abc1234, def5678-dirty.\n');
  expect(one?.version).toMatch(/^[0-9a-f]{7,}(-dirty)?$/);
});

test('every scenario has a result in docs/guarantees.md, or is named as not part of the run', () => {
  const [block = ''] = /<!-- results -->.*<!-- \/results -->/s.exec(GUARANTEES) ?? [];
  const tested = new Set([...block.matchAll(/^\| (R\d+(?:-control)?) \|/gm)].map(([, id]) => id));
  const missing = SCENARIOS.map(({ id }) => id).filter(id => !tested.has(id));
  expect(block.match(/tested separately: (.*)\.$/m)?.[1]?.split(', ') ?? []).toEqual(missing);
});

test('a document without the markers is an error', () => {
  expect(() => withResults('# Nothing', [], 'x', [])).toThrow('no place');
});

test('every test in docs/guarantees.md exists', () => {
  const named = [...GUARANTEES.matchAll(/`(test\/[\w./-]+)`\s+"([^"]+)"/g)].map(([, file, title]) => [
    file,
    title?.replaceAll(/\s+/g, ' '),
  ]);
  expect(named.length).toBeGreaterThan(15);
  for (const [file, title] of named) expect(readFileSync(join(PROJECT, file as string), 'utf8')).toContain(title);
  const paths = [...GUARANTEES.matchAll(/`(test\/[\w./-]+\.ts)`/g)].map(([, file]) => file as string);
  const files = new Set(readdirSync(join(PROJECT, 'test'), { recursive: true }).map(file => `test/${file}`));
  expect(paths.filter(file => !files.has(file))).toEqual([]);
});

test('every scenario is listed with a guarantee, and every number is a scenario', () => {
  const promises = GUARANTEES.slice(0, GUARANTEES.indexOf('## Results'));
  const named = new Set(promises.match(/\bR\d+(-control)?\b/g));
  const ids = new Set(SCENARIOS.map(scenario => scenario.id));
  expect([...named].filter(id => !ids.has(id))).toEqual([]);
  expect([...ids].filter(id => !named.has(id))).toEqual([]);
});
