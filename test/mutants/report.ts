import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { applyFault, type Fault } from './operators.ts';
import { folderOf } from './sample.ts';

/** The share of faults that tests must notice. */
export const MIN_SCORE = 0.85;

/** The changed lines of a fault, by which a review refers to it: line numbers change too often. */
export interface Change {
  path: string;
  before: string;
  after: string;
}

/** A survivor that was looked into. `equivalent` ones cannot change behaviour and are not tried again. */
export interface Review extends Change {
  equivalent: boolean;
  reason: string;
}

/** The outcome of one fault. */
export interface Result extends Change {
  line: number;
  operator: string;
  noticed: boolean;
  /** The first test that failed, or why the run ended without one. */
  by?: string;
  /** The number of test files that run the faulty code. */
  files: number;
  seconds: number;
  /** Why a survivor is accepted. */
  reason?: string;
}

const MAX_WIDTH = 200;
const shorten = (lines: string): string => {
  const text = lines.replace(/\s+/g, ' ').trim();
  return text.length > MAX_WIDTH ? `${text.slice(0, MAX_WIDTH)}…` : text;
};

/** Returns the lines that a fault changes, as they are and as they become. */
export function describeChange(fault: Fault, text: string): Change {
  const start = text.lastIndexOf('\n', fault.start - 1) + 1;
  const lineEnd = text.indexOf('\n', fault.end);
  const end = lineEnd === -1 ? text.length : lineEnd;
  const faulty = applyFault(text, fault);
  return {
    path: fault.path,
    before: shorten(text.slice(start, end)),
    after: shorten(faulty.slice(start, end + faulty.length - text.length)),
  };
}

export const isSame = (a: Change, b: Change): boolean =>
  a.path === b.path && a.before === b.before && a.after === b.after;

/** Returns the share of the results that were noticed; 1 without results. */
export const scoreOf = (results: Result[]): number =>
  results.length === 0 ? 1 : results.filter(({ noticed }) => noticed).length / results.length;

const percent = (score: number): string => `${Math.round(score * 100)} %`;

function tableOf(results: Result[]): string {
  const folders = Map.groupBy(results, ({ path }) => folderOf(path));
  const row = (name: string, of: Result[]) =>
    `| ${name} | ${of.length} | ${of.filter(({ noticed }) => noticed).length} | ${percent(scoreOf(of))} |`;
  return [
    '| Folder | Faults | Noticed | Share |',
    '|---|---:|---:|---:|',
    ...[...folders].sort(([a], [b]) => a.localeCompare(b)).map(([folder, of]) => row(folder, of)),
    row('all', results),
  ].join('\n');
}

const describeSurvivor = ({ path, line, operator, before, after, files, reason }: Result): string =>
  [
    `${path}:${line} ${operator} (${files === 0 ? 'no test runs this code' : `${files} test files passed`})`,
    `  - ${before}`,
    `  + ${after}`,
    `  ${reason ?? 'NOT REVIEWED'}`,
  ].join('\n');

/** Returns the table by folder and the list of survivors, as Markdown. */
export function describeResults(results: Result[]): string {
  const survivors = results.filter(({ noticed }) => !noticed);
  return `${tableOf(results)}\n\nSurvivors: ${survivors.length}\n\n${survivors.map(describeSurvivor).join('\n\n')}\n`;
}

/** Writes the results to `results/<name>.json` and returns the path. */
export function writeResults(results: Result[], seed: number, name: string): string {
  const folder = join(import.meta.dirname, 'results');
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${name}.json`);
  writeFileSync(path, `${JSON.stringify({ seed, score: Number(scoreOf(results).toFixed(3)), results }, null, 2)}\n`);
  return path;
}
