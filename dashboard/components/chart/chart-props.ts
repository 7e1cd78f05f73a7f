/** Semantic color of a chart; defined in base.css as `--chart-…`. */
export type ChartTone = 'accent' | 'quiet' | 'good' | 'bad';

/** One data series with a value for each point; null without data. */
export interface Series {
  label: string;
  values: (number | null)[];
  tone: ChartTone;
  /** Tones per value; override `tone`. */
  tones?: ChartTone[];
  /** Uncertainty of each value, drawn as a band. */
  band?: ({ low: number; high: number } | null)[];
  /** Points that rest on little data, drawn faint. */
  faint?: boolean[];
}

export interface LegendEntry {
  label: string;
  tone: ChartTone;
}

/** A vertical line at a point, such as the start of a version. */
export interface Mark {
  at: number;
  label: string;
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
  marks?: Mark[];
  /** Pages behind the points, opened by a click; the table has them as links. */
  hrefs?: string[];
  /** Formats a value. */
  format(value: number): string;
  min?: number;
  max?: number;
}
