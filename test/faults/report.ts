import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Scenario } from './scenario.ts';
import type { Backend } from './stores.ts';
import type { Check, FaultKind } from './world.ts';

/** The result of one scenario on one backend. */
export interface Result {
  test: string;
  title: string;
  /** Whether it proves the method by losing answers on purpose. It is excluded from the sums. */
  isControl: boolean;
  backend: Backend;
  seed: number;
  size: number;
  /** The commit that was tested, with `-dirty` after changes; absent in results before 2026-11-24. */
  version?: string;
  load: string;
  faultsDone: string;
  passed: boolean;
  seconds: number;
  faults: Partial<Record<FaultKind, number>>;
  sent: number;
  acknowledged: number;
  stored: number;
  quarantined: number;
  lost: number;
  doubled: number;
  /** Rows under a tenant or identity that did not send them, and rows that were never sent. */
  misplaced: number;
  unexplained: number;
  /** The longest time until answers were accepted again after a fault; null if not measured. */
  recoveryMs: number | null;
  checks: Check[];
  notes: string[];
  /** The error that ended it early. */
  failure: string | null;
}

const number = (value: number): string => value.toLocaleString('en-US');

const describeFaults = (faults: Result['faults']): string =>
  Object.entries(faults)
    .map(([kind, count]) => `${number(count)} × ${kind}`)
    .join(', ') || '–';

const row = (cells: (string | number)[]): string => `| ${cells.join(' | ')} |`;

const verdictOf = ({ passed, isControl }: Result): string => {
  if (!passed) return '**FAILED**';
  return isControl ? 'lost, as it has to' : 'held';
};

const tableRow = (result: Result): string =>
  row([
    result.test,
    result.title,
    result.backend,
    describeFaults(result.faults),
    number(result.sent),
    number(result.acknowledged),
    number(result.stored),
    number(result.quarantined),
    number(result.lost),
    number(result.doubled + result.misplaced + result.unexplained),
    result.recoveryMs === null ? '–' : `${(result.recoveryMs / 1000).toFixed(1)} s`,
    verdictOf(result),
  ]);

const sum = (results: Result[], of: (result: Result) => number): number =>
  results.reduce((total, result) => total + of(result), 0);

const HEADINGS = [
  'Test',
  'What is tried',
  'Queue in',
  'Faults',
  'Sent',
  'Acknowledged',
  'Stored',
  'Quarantined',
  'Lost',
  'Doubled or astray',
  'Longest recovery',
  '',
];

/** The results as a table, and their sums. */
export function tableOf(all: Result[]): string {
  const results = all.filter(result => !result.isControl);
  const kills = sum(results, result => result.faults.kill ?? 0);
  const faults = sum(results, result => Object.values(result.faults).reduce((total, count) => total + count, 0));
  return [
    row(HEADINGS),
    '|---|---|---|---|--:|--:|--:|--:|--:|--:|--:|---|',
    ...all.map(tableRow),
    '',
    `In all ${number(sum(results, result => result.sent))} answers sent, ${number(sum(results, result => result.acknowledged))} acknowledged, ` +
      `${number(sum(results, result => result.stored))} stored, ${number(sum(results, result => result.quarantined))} quarantined, ` +
      `${number(sum(results, result => result.lost))} lost, ${number(sum(results, result => result.doubled))} doubled; ` +
      `${number(faults)} faults, ${number(kills)} of them kills.`,
  ].join('\n');
}

/** The results as Markdown: the table, then the details of each. */
export const markdownOf = (all: Result[]): string => [tableOf(all), '', ...all.flatMap(detailsOf)].join('\n');

function detailsOf(result: Result): string[] {
  return [
    `**${result.test}, queue in ${result.backend}** (seed ${result.seed}, size ${result.size}, ${Math.round(result.seconds)} s). ${result.load}; ${result.faultsDone}.`,
    '',
    ...result.checks.map(
      ({ name, holds, measured }) => `- ${holds ? '' : '**FAILED** '}${name}${measured && `: ${measured}`}`,
    ),
    ...result.notes.map(note => `- ${note}`),
    ...(result.failure ? [`- **FAILED** ${result.failure.split('\n')[0]}`] : []),
    '',
  ];
}

const RESULTS = new URL('results/', import.meta.url);

/** Writes the results next to this file as JSON and Markdown, and returns the path without its extension. */
export function writeResults(results: Result[], name: string): string {
  mkdirSync(RESULTS, { recursive: true });
  const base = new URL(name, RESULTS).pathname;
  writeFileSync(`${base}.json`, `${JSON.stringify(results, null, 2)}\n`);
  writeFileSync(`${base}.md`, `${markdownOf(results)}\n`);
  return base;
}

/** Says which run the results are from, and which scenarios are not part of it. */
function describeRun(results: Result[], name: string, scenarios: readonly Scenario[]): string {
  const versions = new Set(results.map(({ version }) => version ?? 'unrecorded'));
  const tested = new Set(results.map(({ test }) => test));
  const missing = scenarios.map(({ id }) => id).filter(id => !tested.has(id));
  const run = `Run of ${name.slice(0, 'yyyy-mm-dd'.length)}, commit ${[...versions].join(', ')}.`;
  return missing.length === 0 ? run : `${run} Not part of it, and tested separately: ${missing.join(', ')}.`;
}

/** Inserts the table into a document, between `<!-- results -->` and `<!-- /results -->`. */
export function withResults(document: string, results: Result[], name: string, scenarios: readonly Scenario[]): string {
  const block = /(?<=<!-- results -->\n).*(?=<!-- \/results -->)/s;
  if (!block.test(document)) throw new Error('the document has no place for results');
  const run = describeRun(results, name, scenarios);
  const source = `What each measured: [test/faults/results/${name}.md](../test/faults/results/${name}.md).`;
  return document.replace(block, () => `\n${run}\n\n${tableOf(results)}\n\n${source}\n\n`);
}

/** Inserts the results of a full run into docs/guarantees.md. */
export function publishResults(results: Result[], name: string, scenarios: readonly Scenario[]): void {
  const path = new URL('../../docs/guarantees.md', import.meta.url);
  writeFileSync(path, withResults(readFileSync(path, 'utf8'), results, name, scenarios));
}

/** The results of an earlier run. */
export const readResults = (path: string): Result[] => JSON.parse(readFileSync(path, 'utf8'));

const codeVersion = (): string =>
  execFileSync('git', ['describe', '--always', '--dirty', '--exclude=*'], { cwd: RESULTS, encoding: 'utf8' }).trim();

/** An empty result. */
export const blankResult = (scenario: Scenario, backend: Backend, seed: number, size: number): Result => ({
  test: scenario.id,
  title: scenario.title,
  isControl: scenario.isControl ?? false,
  backend,
  seed,
  size,
  version: codeVersion(),
  load: scenario.load,
  faultsDone: scenario.faults,
  passed: false,
  seconds: 0,
  faults: {},
  sent: 0,
  acknowledged: 0,
  stored: 0,
  quarantined: 0,
  lost: 0,
  doubled: 0,
  misplaced: 0,
  unexplained: 0,
  recoveryMs: null,
  checks: [],
  notes: [],
  failure: null,
});
