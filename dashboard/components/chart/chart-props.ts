/** What a color of a chart says; each has its variable in base.css (`--chart-…`). */
export type ChartTone = 'accent' | 'quiet' | 'good' | 'bad';

/** One row of values, a value for each point; null where there is none. */
export interface Series {
  label: string;
  values: (number | null)[];
  tone: ChartTone;
  /** A tone for each value, where they differ. */
  tones?: ChartTone[];
}

/** What a color means, in words. */
export interface LegendEntry {
  label: string;
  tone: ChartTone;
}

export interface ChartProps {
  /** Bars count things, so their axis has whole numbers alone. */
  kind: 'bar' | 'line';
  /** What the chart shows, in a sentence: its name for those who do not see it. */
  label: string;
  /** What the points are, such as days; the head of their column in the table. */
  where: string;
  points: string[];
  series: Series[];
  /** Where absent, the series themselves, when there are several. */
  legend?: LegendEntry[];
  /** How a value is written. */
  format(value: number): string;
  min?: number;
  max?: number;
}
