import { readFileSync } from 'node:fs';
import { measureAgainst } from './against.ts';
import { openBench } from './bench.ts';
import { drawCurves } from './chart.ts';
import { describeMachine } from './cpu.ts';
import type { Curve } from './curve.ts';
import { measureGrowth } from './growth.ts';
import { LOAD_GENERATOR } from './load.ts';
import { short } from './numbers.ts';
import { largestSelfTimes, type SelfTime } from './profile.ts';
import { costTable, goalTable, growthTable, meanCosts, outcomes, toJson, toTable, writeResult } from './report.ts';
import { measureRounds } from './rounds.ts';
import { measureScaling } from './scaling/run.ts';
import { toTables } from './scaling/tables.ts';
import { readSettings, USAGE } from './settings.ts';
import { openStores, type Stores } from './stores.ts';

const startedAt = new Date();
const log = (text: string): void => {
  const seconds = Math.round((Date.now() - startedAt.getTime()) / 1000);
  process.stderr.write(`${String(seconds).padStart(5)} s  ${text}\n`);
};
const print = (text: string): void => void process.stdout.write(`${text}\n`);

const PROFILES = ['goal-1-serve', 'goal-3-serve', 'goal-9-work', 'goal-20-work'];

const selfTimeTable = (what: string, times: SelfTime[]): string =>
  toTable([
    ['', what, 'self', 'of busy'],
    ...times.map(({ name, ms, share }) => ['', name, `${short(ms)} ms`, `${short(share * 100)} %`]),
  ]);

function printProfiles(): void {
  for (const name of PROFILES) {
    const { functions, origins } = largestSelfTimes(name);
    print(`\nbench/profiles/${name}.cpuprofile: the ten largest self-times\n`);
    print(selfTimeTable('function', functions));
    print(`\n${selfTimeTable('package, file', origins)}`);
  }
}

type RunSettings = NonNullable<ReturnType<typeof readSettings>>;

async function runOnStores(settings: RunSettings): Promise<void> {
  await using stores = await openStores();
  const measured = settings.scaling
    ? measureScaling(settings, stores, startedAt, { log, print })
    : run(settings, stores);
  await Promise.race([measured, interrupted]);
}

async function run(settings: RunSettings, stores: Stores): Promise<void> {
  const machine = describeMachine();
  print(
    `Parley bench${settings.quick ? ', quick' : ''}: ${machine}\nStores: ${stores.description}\nLoad: ${LOAD_GENERATOR}\n`,
  );
  await using bench = await openBench(settings, stores);
  log('tenants, questions and users created');
  if (settings.against) return print(`\n${await measureAgainst(bench, settings.against, log)}`);
  const rounds = settings.measuresGoals ? await measureRounds(bench, log) : [];
  if (settings.profile) return printProfiles();
  const curves: Curve[] = settings.growth ? await measureGrowth(bench, log) : [];

  const all = outcomes(rounds);
  const costs = meanCosts(rounds);
  if (all.length > 0) print(`\n${goalTable(all)}\n\nCPU time per request or answer, means\n\n${costTable(costs)}`);
  if (curves.length > 0) {
    print(`\nGrowth\n\n${growthTable(curves)}`);
    print(`\n${writeResult(startedAt, 'svg', drawCurves(curves))}`);
  }
  const about = { started_at: startedAt, machine, stores: stores.description, load: LOAD_GENERATOR, settings };
  print(writeResult(startedAt, 'json', toJson(about, rounds, all, costs, curves)));
  log('done');
}

/** Rejects on a signal, so that the stores are stopped as after any failure: containers outlive this process. */
const interrupted = new Promise<never>((_, reject) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => reject(new Error(`stopped by ${signal}`)));
});

const settings = readSettings(process.argv.slice(2));
if (settings?.from) print(toTables(JSON.parse(readFileSync(settings.from, 'utf8'))));
else if (settings) await runOnStores(settings);
else print(USAGE);
process.exit();
