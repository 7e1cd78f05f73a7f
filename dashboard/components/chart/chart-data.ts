import type { ChartDataset } from 'chart.js';
import type { ChartProps, ChartTone, Series } from './chart-props.ts';

/** Maximum number of points for which a line has dots. */
const MAX_DOTTED_POINTS = 20;
/** Opacity of the band and of faint points, as hexadecimal digits of a color. */
const BAND_ALPHA = '26';
const FAINT_ALPHA = '59';

/** Resolved color of a tone, as `#rrggbb`. */
export type ColorOf = (tone: ChartTone) => string;
type Kind = 'bar' | 'line';

/** Whether a point has no neighbor with data, so that a line through it would be invisible. */
const isAlone = (values: (number | null)[], at: number): boolean => values[at - 1] == null && values[at + 1] == null;

function lineOf({ label, values, tone, faint = [] }: Series, points: number, color: ColorOf): ChartDataset<Kind> {
  const solid = color(tone);
  const pale = `${solid}${FAINT_ALPHA}`;
  return {
    type: 'line',
    label,
    data: values,
    borderColor: solid,
    borderWidth: 2,
    tension: 0, // straight lines: a curve would show values that were not measured
    spanGaps: true,
    segment: {
      borderColor: ({ p0DataIndex, p1DataIndex }) => (faint[p0DataIndex] || faint[p1DataIndex] ? pale : undefined),
      borderDash: ({ p0, p1 }) => (p0.skip || p1.skip ? [3, 4] : undefined), // days without data
    },
    pointBackgroundColor: values.map((_, at) => (faint[at] ? pale : solid)),
    pointBorderColor: values.map((_, at) => (faint[at] ? pale : solid)),
    pointRadius: values.map((_, at) => (points > MAX_DOTTED_POINTS && !isAlone(values, at) ? 0 : 3)),
    pointHoverRadius: 4,
  };
}

/** Two lines without a stroke; the upper one is filled down to the lower one. */
function bandOf({ band = [], tone }: Series, color: ColorOf): ChartDataset<Kind>[] {
  const edge = (data: (number | null)[], fill: false | '-1'): ChartDataset<Kind> => ({
    type: 'line',
    label: '',
    data,
    fill,
    backgroundColor: `${color(tone)}${BAND_ALPHA}`,
    borderWidth: 0,
    pointRadius: 0,
    pointHoverRadius: 0,
    spanGaps: false,
    tension: 0,
  });
  return [
    edge(
      band.map(interval => interval?.low ?? null),
      false,
    ),
    edge(
      band.map(interval => interval?.high ?? null),
      '-1',
    ),
  ];
}

const barOf = ({ label, values, tone, tones }: Series, color: ColorOf): ChartDataset<Kind> => ({
  type: 'bar',
  label,
  data: values,
  backgroundColor: tones ? tones.map(color) : color(tone),
  borderRadius: 4,
  borderWidth: 0,
  maxBarThickness: 48,
});

/** The datasets of a chart; bands have no label. */
export const datasetsOf = ({ kind, points, series }: ChartProps, color: ColorOf): ChartDataset<Kind>[] =>
  series.flatMap(row =>
    kind === 'bar' ? [barOf(row, color)] : [lineOf(row, points.length, color), ...(row.band ? bandOf(row, color) : [])],
  );
