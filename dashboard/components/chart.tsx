import { lazy, Suspense } from 'react';
import { t } from '../i18n.ts';
import styles from './chart.module.css';
import type { ChartProps } from './chart-props.ts';
import { Loading } from './page.tsx';
import { type Column, Table } from './table.tsx';

/** The library of charts, loaded with the first one. */
const Canvas = lazy(() => import('./chart-canvas.tsx').then(module => ({ default: module.ChartCanvas })));

/** A chart with its numbers as a table below. */
export function Chart(props: ChartProps) {
  const { label, points, series, format } = props;
  const columns: Column<number>[] = [
    { label: t('Where'), cell: at => points[at] },
    ...series.map(({ label: name, values }) => ({
      label: name,
      right: true,
      cell: (at: number) => (values[at] == null ? '–' : format(values[at])),
    })),
  ];
  return (
    <figure className={styles.chart}>
      <div className={styles.canvas} role="img" aria-label={label}>
        <Suspense fallback={<Loading lines={2} />}>
          <Canvas {...props} />
        </Suspense>
      </div>
      <details className={styles.foot}>
        <summary>{t('The numbers as a table')}</summary>
        <Table compact caption={label} columns={columns} rows={points.map((_, at) => at)} keyOf={String} />
      </details>
    </figure>
  );
}
