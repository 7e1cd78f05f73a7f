import type { ReactNode } from 'react';
import styles from './figure.module.css';

export interface Figure {
  label: string;
  value: ReactNode;
  hint?: ReactNode;
  tone?: 'warn' | 'bad';
}

/** Key figures, side by side. */
export const Figures = ({ figures }: { figures: Figure[] }) => (
  <dl className={styles.figures}>
    {figures.map(({ label, value, hint, tone }) => (
      <div key={label} className={[styles.figure, tone && styles[tone]].filter(Boolean).join(' ')}>
        <dt className="small quiet">{label}</dt>
        <dd className={styles.number}>{value}</dd>
        {hint && <dd className="small quiet">{hint}</dd>}
      </div>
    ))}
  </dl>
);
