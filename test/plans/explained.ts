import pg from 'pg';
import type { Storage, TenantStorage } from '../../src/storage/database/orm.ts';
import type { Planning } from '../../src/storage/database/settings.ts';
import type { Transaction } from '../../src/storage/database/transaction.ts';

/** A node of a plan in `explain (format json)`. */
interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: PlanNode[];
}

/** The execution of a statement. */
export interface Explained {
  sql: string;
  /** The number of pages read from memory or disk. */
  pages: number;
  /** The tables with a sequential scan. */
  scanned: string[];
  executionMs: number;
  /** The plan, one node per line. */
  plan: string;
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

const pagesOf = (node: PlanNode): number => node['Shared Hit Blocks'] + node['Shared Read Blocks'];

function describePlan(node: PlanNode, depth = 0): string {
  const target = [
    node['Index Name'] && `using ${node['Index Name']}`,
    node['Relation Name'] && `on ${node['Relation Name']}`,
  ];
  const name = [node['Node Type'], ...target].filter(Boolean).join(' ');
  const line = `${'  '.repeat(depth)}${name} (rows=${node['Actual Rows']} loops=${node['Actual Loops']} pages=${pagesOf(node)})`;
  return [line, ...(node.Plans ?? []).map(child => describePlan(child, depth + 1))].join('\n');
}

const textOf = (value: unknown): string => (value instanceof Date ? value.toISOString() : String(value));

function literalOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (!Array.isArray(value)) return pg.escapeLiteral(textOf(value));
  return pg.escapeLiteral(`{${value.map(item => JSON.stringify(textOf(item))).join(',')}}`);
}

/** Makes the name unique, because a failed statement keeps its name. */
let explanations = 0;

/** Explains a statement as a prepared one: with the generic plan, or with the plan for these parameters. */
async function explain(session: Transaction, sql: string, params: unknown[]): Promise<Explained> {
  const name = `explained_${++explanations}`;
  await session.query(`prepare ${name} as ${sql}`);
  const values = params.length > 0 ? `(${params.map(literalOf).join(', ')})` : '';
  const [row] = await session.query<{ 'QUERY PLAN': [{ Plan: PlanNode; 'Execution Time': number }] }>(
    `explain (analyze, buffers, format json, timing off) execute ${name}${values}`,
  );
  await session.query(`deallocate ${name}`);
  if (!row) throw new Error('PostgreSQL did not explain the statement');
  const { Plan: plan, 'Execution Time': executionMs } = row['QUERY PLAN'][0];
  return {
    sql,
    pages: pagesOf(plan),
    scanned: nodesOf(plan).flatMap(node => (node['Node Type'] === 'Seq Scan' ? [node['Relation Name'] ?? ''] : [])),
    executionMs,
    plan: describePlan(plan),
  };
}

/** Returns the number of pages that a statement without parameters reads. */
export async function explainRaw(session: Transaction, sql: string): Promise<number> {
  const [row] = await session.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    `explain (analyze, buffers, format json, timing off) ${sql}`,
  );
  if (!row) throw new Error('PostgreSQL did not explain the statement');
  return pagesOf(row['QUERY PLAN'][0].Plan);
}

/** Whether a transaction sends the statement for its own settings. */
const isSetting = (sql: string): boolean => /^select set_config/.test(sql);

/**
 * A storage that explains each statement before running it for a tenant. It must have one connection, because `prepare`
 * is per connection.
 */
export function explainTo(found: Explained[], storage: Storage): Storage {
  const watched = (session: Transaction): Transaction => ({
    async query<Row extends object>(sql: string, params: unknown[] = []) {
      if (!isSetting(sql)) found.push(await explain(session, sql, params));
      return session.query<Row>(sql, params);
    },
  });
  /** Runs the statements of a transaction in sequence; they arrive together, and the first may be its settings. */
  const inTurn = (session: Transaction): Transaction => {
    let last: Promise<unknown> = Promise.resolve();
    return {
      query<Row extends object>(sql: string, params?: unknown[]) {
        const next = last.then(() => session.query<Row>(sql, params));
        last = next;
        return next;
      },
    };
  };
  return {
    ...storage,
    forTenant: (tenantId: string): TenantStorage => {
      const tenant = storage.forTenant(tenantId);
      return {
        ...tenant,
        query: <Row extends object>(sql: string, params?: unknown[], planning?: Planning) =>
          tenant.transaction(async session => {
            if (planning) await session.query(planning.sql);
            return watched(inTurn(session)).query<Row>(sql, params);
          }),
        transaction: work => tenant.transaction(session => work(inTurn(watched(session)))),
      };
    },
  };
}
