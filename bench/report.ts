import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CostRow, Figures } from './bench.ts';
import { NOISE_LIMIT } from './cpu.ts';
import type { Curve } from './curve.ts';
import { type Goal, holds } from './goal.ts';
import { GOALS } from './goals.ts';
import { mean, median, short } from './numbers.ts';

/** One round: its figures, and the names of those measured while other programs kept the machine busy. */
export interface Round {
  figures: Figures;
  noisy: Set<string>;
  costs: CostRow[];
}

/** A measured row of the table. */
export interface Outcome {
  goal: Goal;
  median: number;
  min: number;
  max: number;
  /** `undefined` for an informative row. */
  meets: 'aim' | 'must' | 'missed' | undefined;
  /** Whether no round was quiet. The value then comes from noisy rounds. */
  noisy: boolean;
}

const RESULTS = join(import.meta.dirname, 'results');
const ROLES = ['api', 'worker', 'queue', 'database'] as const;

function judge(goal: Goal, value: number): Outcome['meets'] {
  if (goal.must === undefined || goal.aim === undefined) return undefined;
  if (holds(goal, value, goal.aim)) return 'aim';
  return holds(goal, value, goal.must) ? 'must' : 'missed';
}

/** Returns the outcome of each measured goal. Only quiet rounds count, unless there are none. */
export function outcomes(rounds: Round[]): Outcome[] {
  return GOALS.flatMap(goal => {
    const measured = rounds.filter(({ figures }) => goal.figures.every(name => Number.isFinite(figures[name])));
    if (measured.length === 0) return [];
    const quiet = measured.filter(({ noisy }) => !goal.figures.some(name => noisy.has(name)));
    const values = (quiet.length > 0 ? quiet : measured).map(({ figures }) => goal.value(figures));
    const middle = median(values);
    return {
      goal,
      median: middle,
      min: Math.min(...values),
      max: Math.max(...values),
      meets: judge(goal, middle),
      noisy: quiet.length === 0,
    };
  });
}

/** Formats rows of cells as columns; the first column is left-aligned, the others right-aligned. */
export function toTable(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map(row => (row[column] ?? '').length)));
  const line = (row: string[]) =>
    row
      .map((cell, column) => (column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd();
  const [head = [], ...body] = rows;
  return [line(head), widths.map(width => '─'.repeat(width)).join('  '), ...body.map(line)].join('\n');
}

const VERDICTS = { aim: 'aim met', must: 'must met', missed: 'MISSED' } as const;

/** The table of all goals: bounds, measured value, and whether it meets them. */
export function goalTable(all: Outcome[]): string {
  const head = ['#', 'goal', 'must', 'aim', 'median', 'min–max', 'unit', 'met'];
  const rows = all.map(({ goal, median: value, min, max, meets, noisy }) => {
    const sign = goal.better === 'higher' ? '≥ ' : '≤ ';
    const bound = (number: number | undefined) => (number === undefined ? '' : sign + number);
    const verdict = (meets ? VERDICTS[meets] : '') + (noisy ? ' ~' : '');
    const range = `${short(min)}–${short(max)}`;
    return [goal.number, goal.what, bound(goal.must), bound(goal.aim), short(value), range, goal.unit, verdict];
  });
  const noise = all.some(({ noisy }) => noisy)
    ? `\n~ in every round something else on the machine used more than ${NOISE_LIMIT} of a core: take it with care`
    : '';
  return toTable([head, ...rows]) + noise;
}

interface MeanCost {
  program: string;
  per: string;
  rate: number;
  micros: Partial<Record<(typeof ROLES)[number] | 'load', number>>;
  other: number;
}

/** Mean CPU time by program over all rounds. */
export function meanCosts(rounds: Round[]): MeanCost[] {
  const rows = rounds.flatMap(({ costs }) => costs);
  return [...new Set(rows.map(({ program }) => program))].map(program => {
    const ours = rows.filter(row => row.program === program);
    const micros = (used: (row: CostRow) => number) => mean(ours.map(row => (used(row) / row.count) * 1e6));
    const roles = ROLES.filter(role => ours.some(({ cost }) => cost.cpu[role] !== undefined));
    return {
      program,
      per: ours[0]?.per ?? '',
      rate: mean(ours.map(({ count, cost }) => count / cost.seconds)),
      micros: {
        ...Object.fromEntries(roles.map(role => [role, micros(({ cost }) => cost.cpu[role] ?? 0)])),
        load: micros(({ cost }) => cost.load),
      },
      other: mean(ours.map(({ cost }) => cost.other)),
    };
  });
}

/** The table of CPU time per request or answer, by role. */
export function costTable(costs: MeanCost[]): string {
  const head = [
    'program',
    'per',
    'a second',
    'API µs',
    'worker µs',
    'queue µs',
    'database µs',
    'load µs',
    'other cores',
  ];
  const rows = costs.map(({ program, per, rate, micros, other }) => [
    program,
    per,
    short(rate),
    ...[...ROLES, 'load' as const].map(role => short(micros[role] ?? Number.NaN)),
    short(other),
  ]);
  return toTable([head, ...rows]);
}

/** The table of all curves, with the ratio of the last point to the first. */
export function growthTable(curves: Curve[]): string {
  const rows = curves.flatMap(({ title, over, unit, points }) =>
    points.map(({ x, y, p95 }, index) => [
      index === 0 ? `${title}, ${unit}` : '',
      index === 0 ? over : '',
      x.toLocaleString('en'),
      short(y),
      short(y / (points[0]?.y ?? Number.NaN)),
      short(p95 ?? Number.NaN),
    ]),
  );
  return toTable([['cost', 'over', 'size', 'value', '÷ first', 'p95'], ...rows]);
}

/** Writes a result next to the others and returns its path. The name is the start time of the run. */
export function writeResult(
  startedAt: Date,
  extension: 'json' | 'scaling.json' | 'svg' | 'soak.json' | 'soak.svg',
  content: string,
): string {
  mkdirSync(RESULTS, { recursive: true });
  const name = startedAt.toISOString().slice(0, 16).replace(':', '');
  const path = join(RESULTS, `${name}.${extension}`);
  writeFileSync(path, content);
  return path;
}

/** A run as JSON: results, environment, and each round's figures. */
export function toJson(run: object, rounds: Round[], all: Outcome[], costs: MeanCost[], curves: Curve[]): string {
  const goals = all.map(({ goal: { figures, value, ...goal }, ...outcome }) => ({ ...goal, ...outcome }));
  const plainRounds = rounds.map(({ figures, noisy }) => ({ figures, noisy: [...noisy] }));
  return `${JSON.stringify({ ...run, goals, cpu_micros: costs, growth: curves, rounds: plainRounds }, null, 2)}\n`;
}
