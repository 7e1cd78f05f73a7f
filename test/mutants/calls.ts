import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from '../support/modules.ts';
import type { Workspace } from './workspace.ts';

/** What a test file calls, in its own process and in its child processes. */
export interface FileCalls {
  /** Digest of the file, since a changed file is recorded again. */
  digest: string;
  durationMs: number;
  /** Fails without a fault, for instance because a tool is missing: the file cannot notice one. */
  fails: boolean;
  /** The names of the called functions by module of `src`; a module without any was only loaded. */
  calls: Record<string, string[]>;
}

/** Calls by test file. */
export type Calls = Record<string, FileCalls>;

interface Coverage {
  result: { url: string; functions: { functionName: string; ranges: { count: number }[] }[] }[];
}

const CACHE = join(import.meta.dirname, 'results/calls.json');
/** The time after which a test file counts as blocked. */
const SILENCE_MS = 10 * 60_000;

const digestOf = (texts: string[]): string => createHash('sha256').update(texts.join('\0')).digest('base64url');

const addCoverage = ({ result }: Coverage, folder: string, calls: Map<string, Set<string>>): void => {
  for (const { url, functions } of result) {
    const path = url.replace('file://', '');
    if (!path.startsWith(`${folder}/src/`)) continue;
    const module = path.slice(folder.length + 1);
    const names = calls.get(module) ?? new Set();
    calls.set(module, names);
    for (const { functionName, ranges } of functions)
      if ((ranges[0]?.count ?? 0) > 0 && functionName) names.add(functionName);
  }
};

type Recording = Pick<FileCalls, 'durationMs' | 'calls'>;

/** Reads the recordings of a run, by test file. A file that ended before its tests has none. */
function readRecordings(recordedTo: string, folder: string): Map<string, Recording> {
  const found = new Map<string, Recording>();
  for (const recording of readdirSync(recordedTo).map(name => join(recordedTo, name))) {
    const testFile = join(recording, 'test-file.json');
    if (!existsSync(testFile)) continue;
    const { file, durationMs } = JSON.parse(readFileSync(testFile, 'utf8')) as { file: string; durationMs: number };
    const calls = new Map<string, Set<string>>();
    for (const name of readdirSync(recording).filter(each => each.startsWith('coverage')))
      addCoverage(JSON.parse(readFileSync(join(recording, name), 'utf8')), folder, calls);
    const sorted = [...calls].map(([module, names]) => [module, [...names].sort()]);
    found.set(file.slice(folder.length + 1), { durationMs, calls: Object.fromEntries(sorted) });
  }
  return found;
}

/** Runs test files without a fault. */
async function recordFiles(workspace: Workspace, files: string[]): Promise<Calls> {
  const recordTo = mkdtempSync(join(workspace.folder, 'calls-'));
  const { failures } = await workspace.run(files, SILENCE_MS, recordTo);
  const recordings = readRecordings(recordTo, workspace.folder);
  rmSync(recordTo, { recursive: true });
  return Object.fromEntries(
    files.map(file => {
      const recording = recordings.get(file) ?? { durationMs: 0, calls: {} };
      const fails = !recordings.has(file) || failures.some(failure => failure.startsWith(file));
      return [file, { digest: digestOf([readFileSync(join(workspace.folder, file), 'utf8')]), fails, ...recording }];
    }),
  );
}

/** Files recorded in one run of Vitest, which saves its start. */
const BATCH = 8;

/**
 * Returns the calls of every test file, each of which runs once without a fault.
 *
 * They are kept in `results/calls.json` until the source or the test file changes.
 */
export async function recordCalls(
  workspaces: Workspace[],
  files: string[],
  sources: string[],
  report: (text: string) => void,
): Promise<Calls> {
  const source = digestOf(sources);
  const kept = existsSync(CACHE)
    ? (JSON.parse(readFileSync(CACHE, 'utf8')) as { source: string; calls: Calls })
    : undefined;
  const calls: Calls = kept?.source === source ? kept.calls : {};
  const isRecorded = (file: string) =>
    calls[file]?.fails === false && calls[file].digest === digestOf([readFileSync(join(ROOT, file), 'utf8')]);
  const left = files.filter(file => !isRecorded(file));
  mkdirSync(dirname(CACHE), { recursive: true }); // no results are committed
  await Promise.all(
    workspaces.map(async workspace => {
      for (let batch = left.splice(0, BATCH); batch.length > 0; batch = left.splice(0, BATCH)) {
        const recorded = await recordFiles(workspace, batch);
        Object.assign(calls, recorded);
        writeFileSync(CACHE, JSON.stringify({ source, calls }));
        for (const file of batch) if (recorded[file]?.fails) report(`${file} FAILS without a fault`);
        report(`recorded ${batch.length} test files (${left.length} left)`);
      }
    }),
  );
  return Object.fromEntries(files.map(file => [file, calls[file] as FileCalls]));
}
