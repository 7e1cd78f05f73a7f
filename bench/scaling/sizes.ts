/**
 * Computes the sizes of docs/sizing.md from a committed run of the scaling bench: `node bench/scaling/sizes.ts` prints the
 * tables. A test compares them with the document and with helm/sizes/.
 */
import { readFileSync } from 'node:fs';
import { short } from '../numbers.ts';
import type { Measurements } from './measurements.ts';
import { unitsOf } from './model.ts';

const RUN = '../results/2026-11-22T0306.scaling.json';

/** Planned utilization of a core, also after the loss of one process. */
const BUSY = 0.7;
/** Share of the card fetches with a token that the API has not verified before. */
const NEW_TOKENS = 0.1;
/** Average load as a share of the highest, for what grows with time. */
const AVERAGE = 0.1;
/** How long the queue keeps answers while PostgreSQL is down, at the highest load. */
const OUTAGE_S = 1800;
const KEPT_DAYS = 90;
/** Bytes of an answer's event with its indexes, and how long it is kept. */
const EVENT_BYTES = 250;
const EVENT_DAYS = 30;
/** WAL of a million answers on a large table with the word index; on an empty one it is 1.6 GB (docs/performance.md). */
const WAL_GB_PER_MILLION = 5;
/** Answers are refused above this share of Valkey's memory. */
const QUEUE_MEMORY = 0.7;
/** The chart's own connections: commands and migration. */
const SPARE_CONNECTIONS = 10;

/** The highest load of a size. */
export interface Load {
  answers: number;
  fetches: number;
}

export const LOADS: Readonly<Record<string, Load>> = {
  small: { answers: 10, fetches: 100 },
  medium: { answers: 200, fetches: 2000 },
  large: { answers: 2000, fetches: 20_000 },
};

export interface Size {
  apis: number;
  workers: number;
  apiCores: number;
  workerCores: number;
  databaseCores: number;
  queueCore: number;
  pool: number;
  connections: number;
  queueMb: number;
  queueJobs: number;
  tablesGb: number;
  walMbPerSecond: number;
}

const measured = JSON.parse(readFileSync(new URL(RUN, import.meta.url), 'utf8')) as Measurements;

const readCost = (name: string) => {
  const found = measured.reads.find(({ read }) => read === name);
  if (!found) throw new Error(`the run has no ${name}`);
  return found.micros;
};

/** Processes of which all but one carry the load: at least two. */
const replicasFor = (cores: number): number => Math.max(1, Math.ceil(cores / BUSY)) + 1;

/** Computes a size. Unit costs are those of one API and one worker, one answer a request: the most expensive case. */
export function sizeFor({ answers, fetches }: Load): Size {
  const units = unitsOf(measured, 1);
  const known = readCost('cards, token known');
  const fresh = readCost('cards, token new');
  const ofFetch = (role: 'api' | 'database') => known[role] * (1 - NEW_TOKENS) + fresh[role] * NEW_TOKENS;
  const apiCores = (answers * (units.api + units.noticesInApi) + fetches * ofFetch('api')) / 1e6;
  const workerCores = (answers * units.worker) / 1e6;
  const apis = replicasFor(apiCores);
  const workers = replicasFor(workerCores);
  const pool = apis > 10 ? 4 : 10;
  // An update starts one more of each before it ends one.
  const connections = (apis + 1) * (pool + 1) + (workers + 1) * (Math.ceil(pool / 2) + 1) + SPARE_CONNECTIONS;
  const waiting = answers * OUTAGE_S;
  const { row, indexes, queueMemory } = measured.bytes;
  return {
    apis,
    workers,
    apiCores,
    workerCores,
    databaseCores: (answers * (units.database + apis * units.noticesInDatabase) + fetches * ofFetch('database')) / 1e6,
    queueCore: (answers * units.queue) / 1e6,
    pool,
    connections,
    queueMb: (waiting * queueMemory) / QUEUE_MEMORY / 2 ** 20,
    queueJobs: waiting,
    tablesGb: (answers * AVERAGE * 86_400 * (KEPT_DAYS * (row + indexes) + EVENT_DAYS * EVENT_BYTES)) / 1e9,
    walMbPerSecond: (answers * WAL_GB_PER_MILLION) / 1000,
  };
}

const row = (cells: (string | number)[]): string =>
  `| ${cells.map(cell => (typeof cell === 'number' ? short(cell) : cell)).join(' | ')} |`;

/** Returns the table of computed needs for docs/sizing.md. */
export function needsTable(): string {
  const sizes = Object.entries(LOADS).map(([name, load]) => ({ name, load, size: sizeFor(load) }));
  const line = (what: string, of: (each: (typeof sizes)[number]) => number) => row([what, ...sizes.map(of)]);
  return [
    row(['', ...sizes.map(({ name }) => `\`${name}\``)]),
    '|---|--:|--:|--:|',
    line('answers per second, one a request, at most', ({ load }) => load.answers),
    line('card fetches per second, at most', ({ load }) => load.fetches),
    line('cores of all APIs', ({ size }) => size.apiCores),
    line('cores of all workers', ({ size }) => size.workerCores),
    line('cores of PostgreSQL', ({ size }) => size.databaseCores),
    line("share of Valkey's core", ({ size }) => size.queueCore),
    line('API pods, with one to spare', ({ size }) => size.apis),
    line('worker pods, with one to spare', ({ size }) => size.workers),
    line('`DATABASE_POOL`', ({ size }) => size.pool),
    line('connections to PostgreSQL during an update', ({ size }) => size.connections),
    line(`Valkey: memory for ${OUTAGE_S / 60} minutes without PostgreSQL, MB`, ({ size }) => size.queueMb),
    line('jobs that wait then, one answer each', ({ size }) => size.queueJobs),
    line(`tables after ${KEPT_DAYS} days at a tenth of the load, GB`, ({ size }) => size.tablesGb),
    line('WAL at the highest load, MB/s', ({ size }) => size.walMbPerSecond),
  ].join('\n');
}

if (import.meta.main) process.stdout.write(`${needsTable()}\n`);
