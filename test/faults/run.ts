import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildPooler } from '../containers/pooler.ts';
import { markdownOf, publishResults, type Result, readResults, writeResults } from './report.ts';
import type { Scenario } from './scenario.ts';
import { SCENARIOS } from './scenarios/index.ts';
import { type Backend, removeContainers } from './stores.ts';
import { runTrial } from './trial.ts';

const USAGE = `npm run faults [-- quick | soak] [-- options]

  quick               the fast subset, a tenth of the size
  soak                only R27
  table FILE          print an earlier run's results as Markdown, and do nothing else
  --only R4,R10       only these scenarios
  --backend B         only this store for the queue: valkey or postgres
  --pooler            reach PostgreSQL through PgBouncer in transaction mode; a scenario with its own proxy bypasses it
  --seed N            the seed of all chance (default: the time)
  --lanes N           trials at once (default 2); those that measure times always run one by one
  --size X            the part of the full size (default 1, quick 0.1)
  --into FILE         go on with a whole run: what failed or is missing in its results, or what --only names, is
                      tried and put in its place there
`;

const log = (text: string): void => void process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);

interface Trial {
  scenario: Scenario;
  backend: Backend;
}

interface Plan {
  trials: Trial[];
  lanes: number;
  pooled: boolean;
  seed: number;
  size: number;
  name: string;
  /** The results of earlier trials, which are combined with those of this run. */
  earlier: Result[];
  /** Whether it runs all scenarios at full size, or continues such a run. */
  isWhole: boolean;
}

const today = (): string => new Date().toISOString().slice(0, 10);

const isOf = (result: Result, { scenario, backend }: Trial): boolean =>
  result.test === scenario.id && result.backend === backend;

function readPlan(args: string[]): Plan | undefined {
  const value = { type: 'string' } as const;
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      only: value,
      backend: value,
      seed: value,
      size: value,
      lanes: value,
      into: value,
      pooler: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const [mode] = positionals;
  if (values.help || (mode && !['quick', 'soak'].includes(mode))) return undefined;
  const asked = (mode === 'soak' ? 'R27' : values.only)?.split(',');
  const unknown = asked?.filter(id => !SCENARIOS.some(scenario => scenario.id === id)) ?? [];
  if (unknown.length > 0) throw new Error(`there is no scenario ${unknown.join(', ')}`);
  const wanted = SCENARIOS.filter(scenario => (asked ? asked.includes(scenario.id) : !scenario.onRequest));
  const chosen = wanted.filter(({ id, omitted }) => {
    const reason = omitted?.();
    if (reason) log(`${id}: ${reason}`);
    return reason === undefined;
  });
  const backendsOf = ({ backends, quick = [] }: Scenario) => (mode === 'quick' ? quick : backends);
  const earlier = values.into ? readResults(values.into) : [];
  const trials = chosen
    .flatMap(scenario =>
      backendsOf(scenario)
        .filter(backend => !values.backend || values.backend === backend)
        .map(backend => ({ scenario, backend })),
    )
    .filter(trial => asked || !earlier.some(result => result.passed && isOf(result, trial)));
  if (values.into && values.size) throw new Error('a whole run is of full size: leave --size out');
  const isWhole =
    values.into !== undefined || (!asked && !values.backend && !values.size && !values.pooler && mode !== 'quick');
  return {
    trials,
    pooled: values.pooler ?? false,
    lanes: Number(values.lanes ?? 2),
    seed: Number(values.seed ?? Math.floor(Date.now() / 1000) % 1_000_000),
    size: Number(values.size ?? (mode === 'quick' ? 0.1 : 1)),
    isWhole,
    earlier: earlier.filter(result => !trials.some(trial => isOf(result, trial))),
    name: values.into ? basename(values.into, '.json') : `${today()}${isWhole ? '' : `-${mode ?? 'part'}`}`,
  };
}

/** Runs one trial and prints its result. */
async function runOne({ scenario, backend }: Trial, { pooled, seed, size }: Plan, root: string): Promise<Result> {
  const label = `${scenario.id} (${backend})`;
  log(`${label}: ${scenario.title}`);
  const folder = join(root, `${scenario.id}-${backend}`);
  const progress = (text: string) => log(`${label}: ${text}`);
  const result = await runTrial(scenario, { backend, pooled, seed, size, folder, progress });
  log(`${label}: ${summaryOf(result)}`);
  if (!result.passed) log(`${label}: rerun with --only ${scenario.id} --backend ${backend} --seed ${seed}`);
  return result;
}

/** Runs the trials that measure times one by one, then the others in parallel. */
async function runPlan(plan: Plan): Promise<boolean> {
  const { trials, seed, size, lanes, name, earlier } = plan;
  if (plan.pooled) await buildPooler();
  const results = new Map<Trial, Result>();
  const inOrder = () => sorted([...earlier, ...results.values()]);
  const root = mkdtempSync(join(tmpdir(), 'parley-faults-'));
  log(`${trials.length} trials, seed ${seed}, size ${size}, ${lanes} at once; ledgers and logs in ${root}`);
  const runLane = async (left: Trial[]) => {
    for (let trial = left.shift(); trial; trial = left.shift()) {
      results.set(trial, await runOne(trial, plan, root));
      writeResults(inOrder(), name); // after each trial, so that an aborted run keeps its results
    }
  };
  await runLane(trials.filter(({ scenario }) => scenario.exclusive));
  const together = trials.filter(({ scenario }) => !scenario.exclusive);
  await Promise.all(Array.from({ length: lanes }, () => runLane(together)));
  process.stdout.write(`${markdownOf(inOrder())}\n`);
  if (plan.isWhole) publishResults(inOrder(), name, SCENARIOS);
  log(`results in ${writeResults(inOrder(), name)}.{json,md}`);
  const failed = inOrder().filter(result => !result.passed);
  const names = failed.map(result => `${result.test} (${result.backend})`);
  log(failed.length === 0 ? 'all expectations were met' : `FAILED: ${names.join(', ')}`);
  return failed.length === 0;
}

/** Sorts the results in the order of the scenarios. */
const sorted = (results: Result[]): Result[] => {
  const place = (result: Result) => SCENARIOS.findIndex(scenario => scenario.id === result.test);
  return results.sort((a, b) => place(a) - place(b) || b.backend.localeCompare(a.backend));
};

const summaryOf = (result: Result): string =>
  [
    result.passed ? 'held' : 'FAILED',
    `${Math.round(result.seconds)} s`,
    `sent ${result.sent}, acknowledged ${result.acknowledged}, stored ${result.stored}, quarantined ${result.quarantined}`,
    `lost ${result.lost}, doubled ${result.doubled}`,
  ].join('; ');

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, async () => {
    log(`aborted by ${signal}`);
    await removeContainers();
    process.exit(1);
  });

const args = process.argv.slice(2);
if (args[0] === 'table') process.stdout.write(`${markdownOf(readResults(args[1] ?? ''))}\n`);
else {
  const plan = readPlan(args);
  if (plan) process.exit((await runPlan(plan)) ? 0 : 1);
  process.stderr.write(USAGE);
  process.exitCode = 2;
}
