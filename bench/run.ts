import { readFileSync } from 'node:fs';
import { measureAgainst } from './against.ts';
import { type Bench, openBench } from './bench.ts';
import { drawCurves } from './chart.ts';
import { describeMachine, NOISE_LIMIT } from './cpu.ts';
import { GOALS } from './goals.ts';
import { type Curve, measureGrowth } from './growth.ts';
import { LOAD_GENERATOR } from './load.ts';
import { mean, short } from './numbers.ts';
import { largestSelfTimes, type SelfTime } from './profile.ts';
import {
  costTable,
  goalTable,
  growthTable,
  meanCosts,
  outcomes,
  type Round,
  toJson,
  toTable,
  writeResult,
} from './report.ts';
import { measureScaling } from './scaling/run.ts';
import { toTables } from './scaling/tables.ts';
import { readSettings, USAGE } from './settings.ts';
import { BLOCKS, KOA, obstacle, type Step } from './steps.ts';
import { openStores, type Stores } from './stores.ts';

const startedAt = new Date();
const say = (text: string): void => {
  const seconds = Math.round((Date.now() - startedAt.getTime()) / 1000);
  process.stderr.write(`${String(seconds).padStart(5)} s  ${text}\n`);
};
const print = (text: string): void => void process.stdout.write(`${text}\n`);

const PROFILES = ['goal-1-serve', 'goal-3-serve', 'goal-9-work'];

/** The blocks with only those steps that a selected goal needs and this machine can run; Koa first where it is compared. */
function plan(bench: Bench): Step[][] {
  const { goals } = bench.settings;
  const selected = GOALS.filter(({ number }) => goals.length === 0 || goals.includes(number));
  const wanted = new Set(selected.flatMap(({ figures }) => figures));
  const isQuickly = (step: Step) => !bench.settings.quick || goals.length > 0 || !step.figures.some(isDetail);
  return BLOCKS.map(block => {
    const steps = block.filter(
      step =>
        step.figures.some(name => wanted.has(name)) &&
        isQuickly(step) &&
        (!bench.settings.profile || step.profiled) &&
        !obstacle(step, bench),
    );
    const isCompared = steps.some(step =>
      selected.some(({ figures }) => figures.includes('koa') && figures.some(name => step.figures.includes(name))),
    );
    return isCompared && !bench.settings.profile ? [KOA, ...steps] : steps;
  });
}

/** What `quick` leaves out unless a goal is asked for by its number. */
const isDetail = (figure: string): boolean => figure.startsWith('cold ') && figure !== 'cold cards';

async function measureRound(bench: Bench, blocks: Step[][], number: number): Promise<Round> {
  const figures = new Map<string, number[]>();
  const round: Round = { figures: {}, noisy: new Set(), costs: [] };
  for (const step of blocks.flat()) {
    const measured = await step.run(bench);
    for (const [name, value] of Object.entries(measured.figures))
      figures.set(name, [...(figures.get(name) ?? []), value]);
    round.costs.push(...measured.costs);
    if (measured.costs.some(({ cost }) => cost.other > NOISE_LIMIT))
      for (const name of step.figures) round.noisy.add(name);
    const values = Object.entries(measured.figures).map(([name, value]) => `${name} ${short(value)}`);
    say(`round ${number}: ${values.join(', ')}`);
  }
  round.figures = Object.fromEntries([...figures].map(([name, values]) => [name, mean(values)]));
  return round;
}

async function measureRounds(bench: Bench): Promise<Round[]> {
  const blocks = plan(bench);
  const left = new Set(BLOCKS.flat().flatMap(step => obstacle(step, bench) ?? []));
  for (const reason of left) say(`left out: what ${reason}`);
  const rounds: Round[] = [];
  for (let number = 1; number <= bench.settings.rounds; number++)
    rounds.push(await measureRound(bench, blocks, number));
  return rounds;
}

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
    ? measureScaling(settings, stores, startedAt, { say, print })
    : run(settings, stores);
  await Promise.race([measured, interrupted]);
}

async function run(settings: RunSettings, stores: Stores): Promise<void> {
  const machine = describeMachine();
  print(
    `Parley bench${settings.quick ? ', quick' : ''}: ${machine}\nStores: ${stores.description}\nLoad: ${LOAD_GENERATOR}\n`,
  );
  await using bench = await openBench(settings, stores);
  say('tenants, questions and users are there');
  if (settings.against) return print(`\n${await measureAgainst(bench, settings.against, say)}`);
  const rounds = settings.measuresGoals ? await measureRounds(bench) : [];
  if (settings.profile) return printProfiles();
  const curves: Curve[] = settings.growth ? await measureGrowth(bench, say) : [];

  const all = outcomes(rounds);
  const costs = meanCosts(rounds);
  if (all.length > 0) print(`\n${goalTable(all)}\n\nCPU time per request or answer, means\n\n${costTable(costs)}`);
  if (curves.length > 0) {
    print(`\nGrowth\n\n${growthTable(curves)}`);
    print(`\n${writeResult(startedAt, 'svg', drawCurves(curves))}`);
  }
  const about = { started_at: startedAt, machine, stores: stores.description, load: LOAD_GENERATOR, settings };
  print(writeResult(startedAt, 'json', toJson(about, rounds, all, costs, curves)));
  say('done');
}

/** Rejects when a signal comes, so that the stores are stopped as after any failure: containers outlive this process. */
const interrupted = new Promise<never>((_, reject) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => reject(new Error(`stopped by ${signal}`)));
});

const settings = readSettings(process.argv.slice(2));
if (settings?.from) print(toTables(JSON.parse(readFileSync(settings.from, 'utf8'))));
else if (settings) await runOnStores(settings);
else print(USAGE);
process.exit();
