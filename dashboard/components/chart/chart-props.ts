/** Semantic color of a chart; defined in base.css as `--chart-…`. */
export type ChartTone = 'accent' | 'quiet' | 'good' | 'bad';

/** One data series with a value for each point; null if there is none. */
export interface Series {
  label: string;
  values: (number | null)[];
  tone: ChartTone;
  /** Tones per value; override `tone`. */
  tones?: ChartTone[];
}

export interface LegendEntry {
  label: string;
  tone: ChartTone;
}

export interface ChartProps {
  /** Bar charts show counts: their axis has integers only. */
  kind: 'bar' | 'line';
  /** Accessible name of the chart. */
  label: string;
  /** Header of the points' column in the table, such as Day. */
  where: string;
  points: string[];
  series: Series[];
  /** Defaults to the series if there are several. */
  legend?: LegendEntry[];
  /** Formats a value. */
  format(value: number): string;
  min?: number;
  max?: number;
}
