import type { Bench } from './bench.ts';
import { NOISE_LIMIT } from './cpu.ts';
import { koaNextTo } from './goal.ts';
import { GOALS } from './goals.ts';
import { mean, short } from './numbers.ts';
import type { Round } from './report.ts';
import { KOA, obstacle, STEPS, type Step } from './steps.ts';

type Log = (text: string) => void;

/** The figures needed by the selected goals. */
function wantedFigures({ settings: { goals } }: Bench): Set<string> {
  const selected = GOALS.filter(({ number }) => goals.length === 0 || goals.includes(number));
  return new Set(selected.flatMap(({ figures }) => figures));
}

/** Figures that `quick` omits unless their goal is selected by number. */
const isDetail = (figure: string): boolean => figure.startsWith('cold ') && figure !== 'cold cards';

/** The steps that produce a wanted figure and can run on this machine. */
function plan(bench: Bench, wanted: Set<string>): Step[] {
  const { goals, profile, quick } = bench.settings;
  const isQuickly = (step: Step) => !quick || goals.length > 0 || !step.figures.some(isDetail);
  return STEPS.filter(
    step =>
      step.figures.some(name => wanted.has(name)) &&
      isQuickly(step) &&
      (!profile || step.profiled) &&
      !obstacle(step, bench),
  );
}

/** The rate of bare Koa, and whether other programs kept the machine busy meanwhile. */
interface Floor {
  rate: number;
  isNoisy: boolean;
}

/** Runs every step once; steps compared with bare Koa run between two runs of it (A B A B A). */
async function measureRound(bench: Bench, steps: Step[], wanted: Set<string>, log: Log): Promise<Round> {
  const round: Round = { figures: {}, noisy: new Set(), costs: [] };

  const measure = async (step: Step) => {
    const { figures, costs } = await step.run(bench);
    round.costs.push(...costs);
    const values = Object.entries(figures).map(([name, value]) => `${name} ${short(value)}`);
    log(values.join(', '));
    return { figures, isNoisy: costs.some(({ cost }) => cost.other > NOISE_LIMIT) };
  };
  const measureFloor = async (): Promise<Floor> => {
    const { figures, isNoisy } = await measure(KOA);
    return { rate: figures.koa as number, isNoisy };
  };
  const take = async (step: Step) => {
    const { figures, isNoisy } = await measure(step);
    Object.assign(round.figures, figures);
    if (isNoisy) for (const name of step.figures) round.noisy.add(name);
  };

  let last: Floor | undefined; // the preceding run of Koa, if the next step directly follows one
  for (const step of steps) {
    const floors = bench.settings.profile ? [] : step.figures.map(koaNextTo).filter(name => wanted.has(name));
    const before = floors.length > 0 ? (last ?? (await measureFloor())) : undefined;
    await take(step);
    last = undefined;
    if (!before) continue;
    const after = await measureFloor();
    for (const name of floors) {
      round.figures[name] = mean([before.rate, after.rate]);
      if (before.isNoisy || after.isNoisy) round.noisy.add(name);
    }
    last = after;
  }
  return round;
}

/** Runs all rounds in sequence. Reports the figures of each step and why a step is skipped. */
export async function measureRounds(bench: Bench, log: Log): Promise<Round[]> {
  const wanted = wantedFigures(bench);
  const steps = plan(bench, wanted);
  const left = new Set(STEPS.flatMap(step => obstacle(step, bench) ?? []));
  for (const reason of left) log(`skipped: ${reason}`);
  const rounds: Round[] = [];
  for (let number = 1; number <= bench.settings.rounds; number++)
    rounds.push(await measureRound(bench, steps, wanted, text => log(`round ${number}: ${text}`)));
  return rounds;
}
