import { MAX_SCANNED, type Page, toPage } from '../../domain/pages.ts';
import type { TenantStorage } from './orm.ts';
import { definePlanning, type Planning } from './settings.ts';
import { createWhere, type Where } from './sql.ts';
import { type Transaction, varying } from './transaction.ts';

const OUT_OF_ORDER = ['enable_bitmapscan', 'enable_sort', 'enable_hashjoin', 'enable_mergejoin'];

/**
 * Reads rows in the order of an index, the only way to stop in time. The statement is planned for its values, because
 * the index depends on them: a generic plan suits an average tenant.
 */
const IN_ORDER = definePlanning('in_order', 'custom', OUT_OF_ORDER);

/**
 * As `IN_ORDER`, with a generic plan, for lists whose index is the same for all values. Planning would cost more than reading
 * a page.
 */
const IN_ONE_ORDER = definePlanning('in_one_order', 'generic', OUT_OF_ORDER);

/** For rows that are read by id, or by an index as a whole, and then sorted. */
const SORTED = definePlanning('sorted', 'custom', ['enable_mergejoin']);

/**
 * Returns the rows of a statement that is not a page of a list, but also reads rows in the order of an index up to a limit:
 * counts, samples and unions.
 */
export const readInOrder = <Row extends object>(
  tenant: TenantStorage,
  sql: string,
  params: unknown[],
): Promise<Row[]> => tenant.query<Row>(sql, params, IN_ORDER);

/** Has the further statements of a transaction read rows in the order of an index, as `readInOrder` does. */
export const startReadingInOrder = (tx: Transaction): Promise<unknown> => tx.query(IN_ORDER.sql);

/**
 * A list of a tenant's rows, read page by page in the order of an index.
 *
 * Conditions in `access` need an index that starts with their columns and continues in the order of the list, so that
 * reading a page costs as much as the page has rows. All others belong in `filters`: they are checked row by row, for
 * at most `MAX_SCANNED` rows per request. A new filter needs no index.
 *
 * With `readsAll`, the index of `access` has another order: all its rows are read and then sorted. The caller has
 * checked that there are at most `MAX_SCANNED`.
 */
export interface List<Row> {
  table: string;
  /** A join that adds columns to each row of the table. */
  join?: string;
  columns: string;
  access: Where;
  filters: Where;
  order: Order<Row>;
  readsAll?: boolean;
}

export interface Order<Row> {
  /** The sort columns with their types. Together they are unique, so that their values are a position in the list. */
  keys: readonly (readonly [
    column: keyof Row & string,
    type: 'timestamptz' | 'uuid' | 'int' | 'bigint' | 'text' | 'boolean',
  ])[];
  descending: boolean;
  /** A column before them that `access` fixes to null, so that PostgreSQL recognises the index's order. */
  nullColumn?: string;
}

/** Returns the order by a time. Ties are broken by id. */
export const byTime = <Row extends { id: string }>(column: keyof Row & string, descending: boolean): Order<Row> => ({
  keys: [
    [column, 'timestamptz'],
    ['id', 'uuid'],
  ],
  descending,
});

/** Creates a list of a tenant's rows in a table, without conditions. */
export function createList<Row>(tenant: TenantStorage, table: string, columns: string, order: Order<Row>): List<Row> {
  const params: unknown[] = [];
  const access = createWhere(params);
  access.and(`${table}.tenant_id = $`, tenant.tenantId);
  return { table, columns, access, filters: createWhere(params), order };
}

const textOf = (value: unknown): string => (value instanceof Date ? value.toISOString() : String(value));

/** Returns the position of a row in a list. */
export const keyOf = <Row>({ keys }: Order<Row>, row: Row): string[] => keys.map(([column]) => textOf(row[column]));

/** Returns the `order by` of a list. */
export const sortBy = <Row>({ table, order: { keys, descending, nullColumn } }: List<Row>): string =>
  [...(nullColumn ? [nullColumn] : []), ...keys.map(([column]) => column)]
    .map(name => `${table}.${name} ${descending ? 'desc' : 'asc'}`)
    .join(', ');

/** Adds the condition for rows after a position. `prefix` is the table's name and a dot, where a join needs it. */
export function startAfter<Row>(where: Where, { keys, descending }: Order<Row>, after: string[] | null, prefix = '') {
  const columns = keys.map(([column]) => prefix + column).join(', ');
  const values = keys.map(([, type]) => `$::${type}`).join(', ');
  if (after) where.and(`(${columns}) ${descending ? '<' : '>'} (${values})`, ...after);
}

/**
 * Returns a page of a list. It ends early after scanning `lookAt` rows, with the position to continue from.
 *
 * Without filters, every row matches, and the statement is the same for all tenants.
 */
export function readPage<Row extends object>(
  tenant: TenantStorage,
  list: List<Row>,
  limit: number,
  after: string[] | null,
  lookAt = MAX_SCANNED,
): Promise<Page<Row>> {
  if (list.readsAll) return readAll(tenant, list, limit, after);
  const hasOneIndex = list.access.values === 1; // the tenant; conditions without a value select a partial index
  startAfter(list.access, list.order, after, `${list.table}.`);
  return list.filters.sql === ''
    ? readWhole(tenant, list, limit)
    : readFiltered(tenant, list, limit, lookAt, hasOneIndex ? IN_ONE_ORDER : IN_ORDER);
}

async function readWhole<Row extends object>(
  tenant: TenantStorage,
  list: List<Row>,
  limit: number,
): Promise<Page<Row>> {
  const { table, join = '', columns, access, order } = list;
  const rows = await tenant.query<Row>(
    `select ${columns} from ${table} ${join} ${access.sql} order by ${sortBy(list)} limit ${access.param(limit + 1)}`,
    access.params,
    IN_ONE_ORDER,
  );
  return toPage(rows, limit, row => keyOf(order, row));
}

/**
 * Two reads in one snapshot: the first matches of the scanned rows, and unless they fill the page, the last scanned row,
 * after which the next page starts. Numbering the scanned rows instead would take as long as reading them.
 *
 * The scan has the table's name, which `columns` and `filters` may use.
 *
 * Lists with one filter are prepared, those with more are not, because their combinations are too many.
 */
async function readFiltered<Row extends object>(
  tenant: TenantStorage,
  list: List<Row>,
  limit: number,
  lookAt: number,
  planning: Planning,
): Promise<Page<Row>> {
  const { table, columns, access, filters, order } = list;
  const isOfMany = planning !== IN_ONE_ORDER || filters.size > 1;
  const sorted = `order by ${sortBy(list)}`;
  const sql = `with found as materialized (
       select ${columns} from (select * from ${table} ${access.sql} ${sorted} limit ${lookAt}) as ${table}
       ${filters.sql} ${sorted} limit ${access.param(limit + 1)}
     )
     (select *, true as hit from found as ${table} ${sorted})
     union all
     (select ${columns}, false from ${table} ${access.sql} and (select count(*) < ${access.param(limit + 1)} from found)
      ${sorted} offset ${lookAt - 1} limit 1)`;
  const rows = await tenant.query<Row & { hit: boolean }>(isOfMany ? varying(sql) : sql, access.params, planning);
  const found = rows.filter(({ hit }) => hit).map(({ hit, ...row }) => row as unknown as Row);
  const last = rows.find(({ hit }) => !hit);
  if (!last) return toPage(found, limit, row => keyOf(order, row));
  const next = keyOf(order, last);
  return order.keys[0]?.[1] === 'timestamptz' ? endEarly(found, next) : { rows: found, next };
}

/** A page of a list by time that ends early, because the request has scanned enough rows. */
export const endEarly = <Row>(rows: Row[], next: string[]): Page<Row> => ({
  rows,
  next,
  searchedTo: new Date(next[0] ?? ''),
});

/** Returns a page of those rows of a list that have one of these ids. Reads all of them. */
export function readPageOf<Row extends object>(
  tenant: TenantStorage,
  list: List<Row>,
  ids: readonly string[],
  limit: number,
  after: string[] | null,
): Promise<Page<Row>> {
  list.access.and('id = any($::uuid[])', ids);
  return readAll(tenant, list, limit, after);
}

/** `after` is not part of `access`, since the planner might then prefer an index in the order of the list. */
async function readAll<Row extends object>(
  tenant: TenantStorage,
  list: List<Row>,
  limit: number,
  after: string[] | null,
): Promise<Page<Row>> {
  const { table, columns, access, filters, order } = list;
  const isFiltered = filters.sql !== '';
  startAfter(filters, order, after, `${table}.`);
  const sql = `with wanted as materialized (select * from ${table} ${access.sql})
     select ${columns} from wanted as ${table} ${filters.sql} order by ${sortBy(list)} limit ${access.param(limit + 1)}`;
  const rows = await tenant.query<Row>(isFiltered ? varying(sql) : sql, access.params, SORTED);
  return toPage(rows, limit, row => keyOf(order, row));
}
