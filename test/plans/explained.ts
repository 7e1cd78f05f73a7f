import pg from 'pg';
import type { Storage, TenantStorage } from '../../src/storage/orm.ts';
import type { Transaction } from '../../src/storage/transaction.ts';

/** A node of a plan, as `explain (format json)` has it. */
interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: PlanNode[];
}

/** What a statement did. */
export interface Explained {
  sql: string;
  /** How many pages it read, from memory or from disk. */
  pages: number;
  /** The tables that it read as a whole. */
  scanned: string[];
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

const textOf = (value: unknown): string => (value instanceof Date ? value.toISOString() : String(value));

function literalOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (!Array.isArray(value)) return pg.escapeLiteral(textOf(value));
  return pg.escapeLiteral(`{${value.map(item => JSON.stringify(textOf(item))).join(',')}}`);
}

/** A failed statement leaves its name taken. */
let explanations = 0;

/** Explains a statement as PostgreSQL plans it for a connection that has prepared it: for all parameters, or for these. */
async function explain(session: Transaction, sql: string, params: unknown[]): Promise<Explained> {
  const name = `explained_${++explanations}`;
  await session.query(`prepare ${name} as ${sql}`);
  const values = params.length > 0 ? `(${params.map(literalOf).join(', ')})` : '';
  const [row] = await session.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    `explain (analyze, buffers, format json, timing off) execute ${name}${values}`,
  );
  await session.query(`deallocate ${name}`);
  const plan = (row as { 'QUERY PLAN': [{ Plan: PlanNode }] })['QUERY PLAN'][0].Plan;
  return {
    sql,
    pages: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'],
    scanned: nodesOf(plan).flatMap(node => (node['Node Type'] === 'Seq Scan' ? [node['Relation Name'] ?? ''] : [])),
  };
}

/** Settings that a transaction sends for its own statements. */
const isSetting = (sql: string): boolean => /^select set_config/.test(sql);

/** A storage that runs every statement for a tenant, and explains it before; one connection, or `prepare` is lost. */
export function explainTo(found: Explained[], storage: Storage): Storage {
  const watched = (session: Transaction): Transaction => ({
    async query<Row extends object>(sql: string, params: unknown[] = []) {
      if (!isSetting(sql)) found.push(await explain(session, sql, params));
      return session.query<Row>(sql, params);
    },
  });
  /** Statements of one transaction come at the same time, and the first may be its settings. */
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
        query: <Row extends object>(sql: string, params?: unknown[]) =>
          tenant.transaction(session => watched(inTurn(session)).query<Row>(sql, params)),
        transaction: work => tenant.transaction(session => work(inTurn(watched(session)))),
      };
    },
  };
}
