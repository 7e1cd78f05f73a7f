import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { blankResult, withResults } from './report.ts';
import { SCENARIOS } from './scenarios/index.ts';

const PROJECT = resolve(import.meta.dirname, '../..');
const GUARANTEES = readFileSync(join(PROJECT, 'docs/guarantees.md'), 'utf8');

test('a full run replaces the table in docs/guarantees.md and nothing else', () => {
  const result = { ...blankResult(SCENARIOS[0] as never, 'valkey', 1, 1), sent: 1234, faults: { kill: 20 } };
  const once = withResults(GUARANTEES, [result], 'run-one');
  const twice = withResults(once, [result, result], 'run-two');
  expect(twice).toContain('In all 2,468 answers sent');
  expect(twice).toContain('40 faults, 40 of them kills');
  expect(twice).not.toContain('run-one');
  const around = (text: string) => text.split(/<!-- results -->.*<!-- \/results -->/s);
  expect(around(twice)).toEqual(around(GUARANTEES));
});

test('a document without the markers is an error', () => {
  expect(() => withResults('# Nothing', [], 'x')).toThrow('no place');
});

test('every test in docs/guarantees.md exists', () => {
  const named = [...GUARANTEES.matchAll(/`(test\/[\w./-]+)` "([^"]+)"/g)].map(([, file, title]) => [file, title]);
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
