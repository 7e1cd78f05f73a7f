import { MAX_COUNTED, MAX_LOOKED_AT } from '../../domain/conversations/views.ts';
import { readInOrder, sortBy } from '../database/lists.ts';
import type { TenantStorage } from '../database/orm.ts';
import { createWhere, type Where } from '../database/sql.ts';
import { varying } from '../database/transaction.ts';
import { type ConversationFilter, conversationList, whereSortable } from './conversation-lists.ts';

export interface ConversationCount {
  count: number;
  /** Whether there may be more, because the count ended early. */
  more: boolean;
}

/** Rows that are read once for all views that take them from the same place of the same index. */
interface Scan {
  number: number;
  rows: string;
  /** The number of rows at which it ends. */
  limit: number;
  /** An aggregate for each view. */
  counts: string[];
}

/** Returns conditions with their parameters appended to those of a statement. */
const within = (statement: Where, { sql, params }: Where): string =>
  sql.replaceAll(/\$(\d+)/g, (_, number) => statement.param(params[Number(number) - 1]));

/**
 * Counts the conversations of each filter, up to `MAX_COUNTED`, in one statement.
 *
 * A count looks at the `MAX_LOOKED_AT` conversations with the latest activity in the index of its list, so that it costs
 * the same in every inbox. Filters with the same index share one scan of it.
 */
export async function countConversations(
  tenant: TenantStorage,
  views: ReadonlyMap<string, ConversationFilter>,
): Promise<Record<string, ConversationCount>> {
  const statement = createWhere();
  const scans = new Map<string, Scan>();
  const columns = [...views].map(([name, filter], column) => {
    const list = conversationList(tenant, { ...filter, sort: undefined });
    const { access, filters } = list;
    whereSortable(filters, filter);
    const place = within({ ...createWhere(), param: value => JSON.stringify(value) }, access);
    const scan = scans.get(place) ?? { number: scans.size, rows: '', limit: MAX_COUNTED + 1, counts: [] };
    scan.rows ||= `select * from conversations ${within(statement, access)} order by ${sortBy(list)}`;
    const matches = within(statement, filters).replace('where', '') || 'true';
    if (matches !== 'true') scan.limit = MAX_LOOKED_AT;
    scan.counts.push(`count(*) filter (where ${matches})::int as view_${column}`);
    scans.set(place, scan);
    return { name, scan, counted: `view_${column}` };
  });
  const sources = [...scans.values()].map(
    ({ number, rows, limit, counts }) =>
      `(select count(*)::int as looked_${number}, ${counts.join(', ')} from (${rows} limit ${limit}) as conversations) as scan_${number}`,
  );
  const sql = varying(`select * from ${sources.join(', ')}`);
  const [row = {}] = await readInOrder<Record<string, number>>(tenant, sql, statement.params);
  return Object.fromEntries(
    columns.map(({ name, scan, counted }) => {
      const count = row[counted] ?? 0;
      const more = count > MAX_COUNTED || row[`looked_${scan.number}`] === scan.limit;
      return [name, { count: Math.min(count, MAX_COUNTED), more }];
    }),
  );
}
