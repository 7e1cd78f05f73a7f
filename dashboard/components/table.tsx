import type { ReactNode } from 'react';
import { formatTime, t } from '../i18n.ts';
import { Button } from './button.tsx';
import styles from './table.module.css';

export interface Column<Row> {
  label: string;
  cell(row: Row): ReactNode;
  right?: boolean;
  /** What can be done with a row: at its end, under a name that is only read out. */
  actions?: boolean;
}

interface TableProps<Row> {
  caption: string;
  columns: Column<Row>[];
  rows: readonly Row[];
  keyOf(row: Row): string;
  /** Keeps rows and columns on a narrow screen too, for tables of numbers. */
  compact?: boolean;
}

const classOf = <Row,>({ right, actions }: Column<Row>): string | undefined =>
  actions ? styles.actions : right ? styles.right : undefined;

/** A table. On a narrow screen each row becomes a card with the column's name above each value. */
export function Table<Row>({ caption, columns, rows, keyOf, compact }: TableProps<Row>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
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
  };
}

/** Fetches the next page of a list, where there is one, and shows how far back a search has come. */
export const More = ({ list }: MoreProps) =>
  list.hasNextPage ? (
    <div className="row">
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
