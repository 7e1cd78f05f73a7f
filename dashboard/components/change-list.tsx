import { t } from '../i18n.ts';
import styles from './change-list.module.css';

interface Change {
  label: string;
  before?: string;
  after?: string;
}

/** Changed fields with their text before and after. */
export const ChangeList = ({ changes }: { changes: Change[] }) => (
  <ul className="stack">
    {changes.map(({ label, before, after }) => (
      <li key={`${label} ${before} ${after}`} className={styles.change}>
        <span className="small quiet">{label}</span>
        {before !== undefined && (
          <p>
            <span className="hidden-text">{t('before:')} </span>
            <del className={styles.before}>{before}</del>
          </p>
        )}
        {after !== undefined && (
          <p>
            <span className="hidden-text">{t('after:')} </span>
            <ins className={styles.after}>{after}</ins>
          </p>
        )}
      </li>
    ))}
  </ul>
);
