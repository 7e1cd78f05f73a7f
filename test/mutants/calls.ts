import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { ROOT } from '../support/modules.ts';
import type { Fault } from './operators.ts';
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
const TIMEOUT_MS = 15 * 60_000;

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

/** Reads what one test file recorded. */
function readRecording(recording: string, folder: string): { file: string; calls: FileCalls['calls'] } | undefined {
  const testFile = join(recording, 'test-file');
  if (!existsSync(testFile)) return undefined; // the file ended before its tests
  const calls = new Map<string, Set<string>>();
  for (const name of readdirSync(recording).filter(each => each.startsWith('coverage')))
    addCoverage(JSON.parse(readFileSync(join(recording, name), 'utf8')), folder, calls);
  const sorted = [...calls].map(([module, names]) => [module, [...names].sort()]);
  return { file: readFileSync(testFile, 'utf8').slice(folder.length + 1), calls: Object.fromEntries(sorted) };
}

/** Runs one test file without a fault. */
async function recordFile(workspace: Workspace, file: string): Promise<FileCalls> {
  const recordTo = mkdtempSync(join(tmpdir(), 'parley-calls-'));
  const { passed, durationMs } = await workspace.run([file], TIMEOUT_MS, recordTo);
  const found = readdirSync(recordTo).map(name => readRecording(join(recordTo, name), workspace.folder));
  rmSync(recordTo, { recursive: true });
  return {
    digest: digestOf([readFileSync(join(ROOT, file), 'utf8')]),
    durationMs,
    fails: !passed,
    calls: found.find(each => each?.file === file)?.calls ?? {},
  };
}

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
  const isCurrent = (file: string) => calls[file]?.digest === digestOf([readFileSync(join(ROOT, file), 'utf8')]);
  const left = files.filter(file => !isCurrent(file));
  await Promise.all(
    workspaces.map(async workspace => {
      for (let file = left.shift(); file; file = left.shift()) {
        const recorded = await recordFile(workspace, file);
        calls[file] = recorded;
        report(`recorded ${file}${recorded.fails ? ': FAILS without a fault' : ''} (${left.length} left)`);
        writeFileSync(CACHE, JSON.stringify({ source, calls }));
      }
    }),
  );
  return Object.fromEntries(files.map(file => [file, calls[file] as FileCalls]));
}

/** Nearest first: tests named as the module, then those of its folder, then the others; fast ones before slow ones. */
const distance = (file: string, fault: Fault): number => {
  const [module, test] = [fault.path, file].map(path => basename(path).split('.')[0] as string) as [string, string];
  if (module.startsWith(test) || test.startsWith(module)) return 0;
  return fault.path.split('/')[1] === file.split('/')[1] ? 1 : 2;
};

/** Returns the test files that run the faulty code, in the order in which to try them. */
export function filesThatRun(fault: Fault, calls: Calls): string[] {
  const runs = ({ calls: called, fails }: FileCalls) =>
    !fails && (fault.within ? called[fault.path]?.includes(fault.within) : called[fault.path]);
  return Object.entries(calls)
    .filter(([, file]) => runs(file))
    .map(([file, { durationMs }]) => ({
      file,
      durationMs,
      far: distance(file, fault),
      last: Number(file.endsWith('.check.ts')),
    }))
    .sort((a, b) => a.last - b.last || a.far - b.far || a.durationMs - b.durationMs)
    .map(({ file }) => file);
}
