import type { ReactNode } from 'react';
import styles from './badge.module.css';

export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'neutral';

/** A colored label. The color carries no information beyond the text. */
export const Badge = ({ tone = 'neutral', plain, children }: { tone?: Tone; plain?: boolean; children: ReactNode }) => (
  <span className={[styles.badge, styles[tone], plain && styles.plain].filter(Boolean).join(' ')}>{children}</span>
);
