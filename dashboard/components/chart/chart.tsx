import { lazy, Suspense } from 'react';
import { Link, useLocation } from 'wouter';
import { t } from '../../i18n.ts';
import { loadPart } from '../../load-part.ts';
import { Loading } from '../page.tsx';
import { type Column, Table } from '../table.tsx';
import styles from './chart.module.css';
import type { ChartProps, LegendEntry } from './chart-props.ts';

/** Loads Chart.js with the first chart. */
const Canvas = lazy(() =>
  loadPart(() => import('./chart-canvas.tsx')).then(module => ({ default: module.ChartCanvas })),
);

const Legend = ({ entries }: { entries: LegendEntry[] }) => (
  <ul className={styles.legend}>
    {entries.map(({ label, tone }) => (
      <li key={label} className={styles[tone]}>
        {label}
      </li>
    ))}
  </ul>
);

function NumbersTable({ label, where, points, series, hrefs, format }: ChartProps) {
  const columns: Column<number>[] = [
    { label: where, cell: at => (hrefs?.[at] ? <Link href={hrefs[at]}>{points[at]}</Link> : points[at]) },
    ...series.map(({ label: name, values }) => ({
      label: name,
      right: true,
      cell: (at: number) => (values[at] == null ? '–' : format(values[at])),
    })),
  ];
  return <Table compact caption={label} columns={columns} rows={points.map((_, at) => at)} keyOf={String} />;
}

/** A chart with its data as a table below. */
export function Chart(props: ChartProps) {
  const [, open] = useLocation();
  const { label, series, legend = series.length > 1 ? series : [] } = props;
  return (
    <figure className={styles.chart}>
      {legend.length > 0 && <Legend entries={legend} />}
      <div className={styles.canvas} role="img" aria-label={label}>
        <Suspense fallback={<Loading lines={2} />}>
          <Canvas {...props} open={open} />
        </Suspense>
      </div>
      <details className={styles.foot}>
        <summary>{t('Show as table')}</summary>
        <NumbersTable {...props} />
      </details>
    </figure>
  );
}
