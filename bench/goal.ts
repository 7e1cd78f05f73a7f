import type { Figures } from './bench.ts';

/** A row of the table. */
export interface Goal {
  /** The number of the goal. Several rows may share one. */
  number: string;
  what: string;
  how: string;
  /** The required bound and the target. A row without them is only informative. */
  must?: number;
  aim?: number;
  better: 'higher' | 'lower';
  unit: string;
  /** The figures from which the value is computed. */
  figures: string[];
  /** Its value in one round. */
  value(figures: Figures): number;
}

type Line = Omit<Goal, 'figures' | 'value'>;

/** The rate of bare Koa measured directly before and after a figure that is compared with it. */
export const koaNextTo = (figure: string): string => `koa next to ${figure}`;

export const ratio = (line: Omit<Line, 'unit'> & { unit?: string }, of: string, to: string): Goal => ({
  unit: '×',
  ...line,
  figures: [of, to],
  value: figures => (figures[of] ?? Number.NaN) / (figures[to] ?? Number.NaN),
});

export const overKoa = (line: Omit<Line, 'unit'>, of: string): Goal =>
  ratio({ ...line, unit: '÷ Koa' }, of, koaNextTo(of));

export const plain = (line: Line, figure: string, factor = 1): Goal => ({
  ...line,
  figures: [figure],
  value: figures => (figures[figure] ?? Number.NaN) * factor,
});

export const higher = { better: 'higher' } as const;
export const lower = { better: 'lower' } as const;

/** Whether a value meets a bound. */
export const holds = ({ better }: Goal, value: number, bound: number): boolean =>
  better === 'higher' ? value >= bound : value <= bound;
