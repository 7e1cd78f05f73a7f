import { Link } from 'wouter';
import { formatNumber, formatShare, t } from '../../i18n.ts';
import styles from './bars.module.css';

export interface Bar {
  label: string;
  count: number;
  /** Share of all answers (0–1); null without answers. */
  share: number | null;
  /** Page behind the bar. */
  href?: string;
}

interface BarsProps {
  caption: string;
  /** Header of the label column. */
  where: string;
  bars: Bar[];
}

/** Horizontal bar chart for long labels, built as a table. */
export const Bars = ({ caption, where, bars }: BarsProps) => (
  <table className={styles.bars}>
    <caption className="hidden-text">{caption}</caption>
    <thead className="hidden-text">
      <tr>
        <th scope="col">{where}</th>
        <th scope="col">{t('Answers')}</th>
        <th scope="col">{t('Share')}</th>
      </tr>
    </thead>
    <tbody>
      {bars.map(({ label, count, share, href }) => (
        <tr key={label}>
          <th scope="row" className="wrap-anywhere">
            {href ? <Link href={href}>{label}</Link> : label}
          </th>
          <td>{formatNumber(count)}</td>
          <td>
            <span>{share === null ? '–' : formatShare(share)}</span>
            <progress aria-hidden="true" value={share ?? 0} max={1} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);
