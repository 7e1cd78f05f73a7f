/** `npm run test:mutants`: see README.md. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from '../support/modules.ts';
import { findDockerFault } from '../support/store-servers.ts';
import { type Calls, recordCalls } from './calls.ts';
import type { Fault } from './operators.ts';
import { createOrder } from './order.ts';
import {
  type Change,
  describeChange,
  describeResults,
  isSame,
  MIN_SCORE,
  type Result,
  type Review,
  scoreOf,
  writeResults,
} from './report.ts';
import { type Module, sampleFaults } from './sample.ts';
import { openWorkspace, type Workspace } from './workspace.ts';

const TEST_FILES = ['test/**/*.test.ts', 'test/{api,commands,coordination,e2e,platform,queue,worker}/*.check.ts'];

/** Released migrations never change, so a fault in one is not a fault that somebody could introduce. */
const LEFT_OUT = /^src\/storage\/migrations\//;

const say = (text: string): void => void process.stderr.write(`${text}\n`);

const find = (patterns: string[]): string[] =>
  globSync(patterns, { cwd: ROOT, exclude: path => path.includes('node_modules') }).toSorted();

const readModules = (): Module[] =>
  find(['src/**/*.ts']).map(path => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));

const readReviews = (): Review[] => JSON.parse(readFileSync(join(import.meta.dirname, 'reviewed.json'), 'utf8'));

function readOptions() {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string' },
      count: { type: 'string', default: '100' },
      workers: { type: 'string', default: '2' },
      only: { type: 'string', default: '' },
      tests: { type: 'string', default: '' },
      nearest: { type: 'string' },
      list: { type: 'boolean', default: false },
    },
  });
  const seed = Number(values.seed ?? Math.floor(Date.now() / 1000) % 1_000_000);
  const [count, workers] = [Number(values.count), Number(values.workers)];
  const nearest = values.nearest === undefined ? undefined : Number(values.nearest);
  if (![seed, count, workers, nearest ?? 1].every(Number.isSafeInteger))
    throw new Error('seed, count, workers and nearest are whole numbers');
  return { ...values, seed, count, workers, nearest };
}

type Options = ReturnType<typeof readOptions>;

interface ChosenFault {
  fault: Fault;
  /** The text of its module. */
  module: string;
  change: Change;
  review: Review | undefined;
}

/** A test file that exceeds the usual duration of the slowest one by this factor counts as failed: a fault can block it. */
const SLOWDOWN = 3;
const MIN_SILENCE_MS = 60_000;

/** Tries one fault against the test files that run it. */
async function tryFault(
  workspace: Workspace,
  fault: Fault,
  files: string[],
  calls: Calls,
): Promise<Pick<Result, 'noticed' | 'by' | 'files' | 'seconds'>> {
  if (files.length === 0) return { noticed: false, files: 0, seconds: 0 };
  const slowestMs = Math.max(...files.map(file => calls[file]?.durationMs ?? 0));
  const run = await workspace.withFault(fault, () => workspace.run(files, MIN_SILENCE_MS + slowestMs * SLOWDOWN));
  const seconds = Math.round(run.durationMs / 1000);
  if (run.passed) return { noticed: false, files: files.length, seconds };
  const by = run.timedOut
    ? 'a test file that never ended'
    : (run.failures[0] ?? run.output.trim().split('\n').at(-1) ?? 'no output');
  return { noticed: true, by, files: files.length, seconds };
}

/** The faults of a run, with their texts and reviews. */
function chooseFaults({ seed, count, only }: Options, modules: Module[]): ChosenFault[] {
  const reviews = readReviews();
  const texts = new Map(modules.map(({ path, text }) => [path, text]));
  const choose = (fault: Fault): ChosenFault => {
    const module = texts.get(fault.path) as string;
    const change = describeChange(fault, module);
    return { fault, module, change, review: reviews.find(review => isSame(review, change)) };
  };
  const mutable = modules.filter(({ path }) => !LEFT_OUT.test(path));
  return sampleFaults(mutable, seed, count, fault => choose(fault).review?.equivalent ?? false)
    .filter(({ path, line }) => `${path}:${line}`.includes(only))
    .map(choose);
}

/**
 * Tries the faults, as many at a time as there are workspaces. `onResult` receives the results so far. `nearest` limits
 * the test files of each fault.
 */
async function tryFaults(
  workspaces: Workspace[],
  faults: ChosenFault[],
  calls: Calls,
  onResult: (results: Result[]) => void,
  nearest?: number,
): Promise<Result[]> {
  const results: Result[] = [];
  const left = [...faults];
  const order = createOrder(
    calls,
    new Map(Object.keys(calls).map(file => [file, readFileSync(join(ROOT, file), 'utf8')])),
  );
  const work = async (workspace: Workspace) => {
    for (let chosen = left.shift(); chosen; chosen = left.shift()) {
      const { fault, module, change, review } = chosen;
      const outcome = await tryFault(workspace, fault, order(fault, module).slice(0, nearest), calls);
      const { line, operator } = fault;
      const reason = outcome.noticed ? undefined : review?.reason;
      results.push({ ...change, line, operator, ...outcome, ...(reason ? { reason } : {}) });
      const verdict = outcome.noticed ? `noticed by ${outcome.by}` : 'SURVIVED';
      say(`${results.length}/${faults.length} ${fault.path}:${line} ${operator}: ${verdict} (${outcome.seconds} s)`);
      onResult(results);
    }
  };
  await Promise.all(workspaces.map(work));
  return results;
}

async function openWorkspaces(count: number, stack: AsyncDisposableStack): Promise<Workspace[]> {
  const hasDocker = (await findDockerFault()) === undefined;
  if (!hasDocker) say('*** No containers: tests with Valkey are LEFT OUT, which lowers the score. ***');
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void stack.disposeAsync().then(() => process.exit(1)));
  const workspaces: Workspace[] = [];
  while (workspaces.length < count) workspaces.push(stack.use(await openWorkspace(hasDocker)));
  return workspaces;
}

async function main(options: Options): Promise<boolean> {
  const { seed, count, workers, only, tests, nearest } = options;
  const modules = readModules();
  const faults = chooseFaults(options, modules);
  say(`seed ${seed}: ${faults.length} faults`);
  if (options.list) {
    for (const { fault, change } of faults)
      say(`${fault.path}:${fault.line} ${fault.operator}\n  - ${change.before}\n  + ${change.after}`);
    return true;
  }
  await using stack = new AsyncDisposableStack();
  const workspaces = await openWorkspaces(workers, stack);
  const sources = modules.map(({ text }) => text);
  const calls = await recordCalls(workspaces, find(tests ? [tests] : TEST_FILES), sources, say);
  const name = `${new Date().toISOString().slice(0, 10)}-${seed}${only || tests || nearest || count < 100 ? '-part' : ''}`;
  const write = (results: Result[]) => writeResults(results, seed, name);
  const results = await tryFaults(workspaces, faults, calls, write, nearest);
  process.stdout.write(describeResults(results));
  say(`results in ${write(results)}`);
  return scoreOf(results) >= MIN_SCORE;
}

if (!(await main(readOptions()))) process.exitCode = 1;
