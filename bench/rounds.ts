import type { Bench } from './bench.ts';
import { NOISE_LIMIT } from './cpu.ts';
import { GOALS, koaBeside } from './goals.ts';
import { mean, short } from './numbers.ts';
import type { Round } from './report.ts';
import { KOA, obstacle, STEPS, type Step } from './steps.ts';

type Say = (text: string) => void;

/** The figures that the selected goals are made of. */
function wantedFigures({ settings: { goals } }: Bench): Set<string> {
  const selected = GOALS.filter(({ number }) => goals.length === 0 || goals.includes(number));
  return new Set(selected.flatMap(({ figures }) => figures));
}

/** What `quick` leaves out unless a goal is asked for by its number. */
const isDetail = (figure: string): boolean => figure.startsWith('cold ') && figure !== 'cold cards';

/** The steps that give a wanted figure and that this machine can run. */
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

/** What bare Koa gave, and whether something else kept the machine busy meanwhile. */
interface Floor {
  rate: number;
  isNoisy: boolean;
}

/** Measures every step once, those that are compared with bare Koa between two runs of it (A B A B A). */
async function measureRound(bench: Bench, steps: Step[], wanted: Set<string>, say: Say): Promise<Round> {
  const round: Round = { figures: {}, noisy: new Set(), costs: [] };

  const measure = async (step: Step) => {
    const { figures, costs } = await step.run(bench);
    round.costs.push(...costs);
    const values = Object.entries(figures).map(([name, value]) => `${name} ${short(value)}`);
    say(values.join(', '));
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

  let last: Floor | undefined; // the run of Koa that the next step follows, where it follows one
  for (const step of steps) {
    const floors = bench.settings.profile ? [] : step.figures.map(koaBeside).filter(name => wanted.has(name));
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

/** Every round, one after the other; says what each step gave, and why any is left out. */
export async function measureRounds(bench: Bench, say: Say): Promise<Round[]> {
  const wanted = wantedFigures(bench);
  const steps = plan(bench, wanted);
  const left = new Set(STEPS.flatMap(step => obstacle(step, bench) ?? []));
  for (const reason of left) say(`left out: what ${reason}`);
  const rounds: Round[] = [];
  for (let number = 1; number <= bench.settings.rounds; number++)
    rounds.push(await measureRound(bench, steps, wanted, text => say(`round ${number}: ${text}`)));
  return rounds;
}
