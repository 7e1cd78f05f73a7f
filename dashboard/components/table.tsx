import type { ReactNode } from 'react';
import type { ApiProblem } from '../api/problem.ts';
import { formatTime, t } from '../i18n.ts';
import { Button } from './button.tsx';
import { ProblemNote } from './problem-note.tsx';
import styles from './table.module.css';

export interface Column<Row> {
  label: string;
  cell(row: Row): ReactNode;
  right?: boolean;
  /** Column of row actions, at the end, with a visually hidden header. */
  actions?: boolean;
}

interface TableProps<Row> {
  caption: string;
  columns: Column<Row>[];
  rows: readonly Row[];
  keyOf(row: Row): string;
  /** Keeps the table layout on narrow screens, for tables of numbers. */
  compact?: boolean;
}

const classOf = <Row,>({ right, actions }: Column<Row>): string | undefined =>
  actions ? styles.actions : right ? styles.right : undefined;

/** A table. On narrow screens each row becomes a card with labeled values. */
export function Table<Row>({ caption, columns, rows, keyOf, compact }: TableProps<Row>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable
    <section className={styles.scroll} aria-label={caption} tabIndex={0}>
      <table className={compact ? styles.table : `${styles.table} ${styles.cards}`}>
        <caption className="hidden-text">{caption}</caption>
        <thead>
          <tr>
            {columns.map(column => (
              <th key={column.label} scope="col" className={classOf(column)}>
                {column.actions ? <span className="hidden-text">{column.label}</span> : column.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <tr key={keyOf(row)}>
              {columns.map(column => (
                <td key={column.label} data-label={column.label} className={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

export interface MoreProps {
  list: {
    hasNextPage: boolean;
    isFetchingNextPage: boolean;
    fetchNextPage(): unknown;
    searchedTo?: string | undefined;
    furtherError?: ApiProblem | undefined;
  };
}

/** Button that loads the next page, with the progress of a search. */
export const More = ({ list }: MoreProps) =>
  list.hasNextPage ? (
    <div className="row">
      {list.furtherError && <ProblemNote problem={list.furtherError} />}
      {list.searchedTo && (
        <span className="small quiet">
          {t('Searched back to {date}.', { date: formatTime(list.searchedTo, { dateStyle: 'long' }) })}
        </span>
      )}
      <Button isPending={list.isFetchingNextPage} onPress={() => void list.fetchNextPage()}>
        {list.searchedTo ? t('Search further back') : t('Show more')}
      </Button>
    </div>
  ) : null;
