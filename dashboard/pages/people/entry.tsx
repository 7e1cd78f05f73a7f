import type { ReactNode } from 'react';
import { Icon, type IconName } from '../../components/icon.tsx';
import { Time } from '../../components/time.tsx';
import styles from './timeline.module.css';

/** An entry of a timeline. */
export const EntryLine = ({ icon, at, children }: { icon: IconName; at: string; children: ReactNode }) => (
  <li className={styles.entry}>
    <span className={styles.icon}>
      <Icon name={icon} />
    </span>
    <div className={styles.text}>{children}</div>
    <span className="small quiet nowrap">
      <Time at={at} />
    </span>
  </li>
);
