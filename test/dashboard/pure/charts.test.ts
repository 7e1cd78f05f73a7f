import { expect, test } from 'vitest';
import { datasetsOf } from '../../../dashboard/components/chart/chart-data.ts';
import type { ChartProps } from '../../../dashboard/components/chart/chart-props.ts';
import { marksOf } from '../../../dashboard/pages/questions/marks.ts';

const LINE: ChartProps = {
  kind: 'line',
  label: 'NPS over time',
  where: 'Day',
  points: ['1', '2', '3'],
  series: [
    {
      label: 'NPS',
      tone: 'accent',
      values: [10, null, 30],
      band: [{ low: 0, high: 20 }, null, { low: 25, high: 35 }],
      faint: [true, true, false],
    },
  ],
  format: String,
};
const color = () => '#000000';

test('a line is straight, and its band lies between the ends of the interval', () => {
  const [line, low, high] = datasetsOf(LINE, color);
  expect(line).toMatchObject({ data: [10, null, 30], tension: 0 });
  expect(line).not.toHaveProperty('cubicInterpolationMode');
  expect(low).toMatchObject({ data: [0, null, 25], label: '', fill: false });
  expect(high).toMatchObject({ data: [20, null, 35], label: '', fill: '-1' });
});

test('points with little data are faint', () => {
  const [line] = datasetsOf(LINE, color) as { pointBackgroundColor?: unknown }[];
  expect(line?.pointBackgroundColor).toEqual(['#00000059', '#00000059', '#000000']);
});

test('a point without neighbors is visible in a long line', () => {
  const values = Array.from({ length: 40 }, (_, at) => (at === 7 ? 5 : at > 20 ? 1 : null));
  const chart: ChartProps = {
    ...LINE,
    points: values.map(String),
    series: [{ label: 'NPS', tone: 'accent', values }],
  };
  const [line] = datasetsOf(chart, color) as { pointRadius?: number[] }[];
  expect(line?.pointRadius?.[7]).toBe(3);
  expect(line?.pointRadius?.[30]).toBe(0);
});

test.each([
  [[], []],
  [[{ version: 1, created_at: '2026-03-02T10:00:00Z' }], []],
  [[{ version: 2, created_at: '2026-03-03T23:59:00Z' }], [{ at: 1, version: 2 }]],
  [[{ version: 2, created_at: '2026-02-01T00:00:00Z' }], []],
  [
    [
      { version: 4, created_at: '2026-03-09T00:00:00Z' },
      { version: 3, created_at: '2026-03-02T12:00:00Z' },
      { version: 2, created_at: '2026-03-02T11:00:00Z' },
    ],
    [
      { at: 0, version: 3 },
      { at: 2, version: 4 },
    ],
  ],
])('versions %j begin at %j', (versions, marks) => {
  expect(marksOf(['2026-03-02', '2026-03-03', '2026-03-04'], versions)).toEqual(marks);
});
