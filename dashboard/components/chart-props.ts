/** One row of values, a value for each point; null where there is none. */
export interface Series {
  label: string;
  values: (number | null)[];
  tone: 'accent' | 'quiet';
}

export interface ChartProps {
  kind: 'bar' | 'line';
  /** What the chart shows, in a sentence: its name for those who do not see it. */
  label: string;
  points: string[];
  series: Series[];
  /** How a value is written. */
  format(value: number): string;
  min?: number;
  max?: number;
}
