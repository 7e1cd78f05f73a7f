import { short } from '../numbers.ts';
import type { Measurements } from './measurements.ts';
import { findLimits, simulate, unitsOf } from './model.ts';

const table = (head: string[], rows: string[][]): string =>
  [head, head.map((_, column) => (column === 0 ? '---' : '--:')), ...rows]
    .map(row => `| ${row.join(' | ')} |`)
    .join('\n');

const percent = (share: number): string => `${short(share * 100)} %`;
const names = (connections: Record<string, number>): string =>
  Object.entries(connections)
    .sort()
    .map(([name, count]) => `${count} ${name.replace('parley_', '')}`)
    .join(', ');

const formationTable = ({ formations }: Measurements): string =>
  table(
    [
      'API + worker',
      'answers a request',
      'API µs',
      'worker µs',
      'queue µs',
      'database µs',
      'answers a flush',
      'answers a transaction',
      'waits: lock',
      'WAL',
    ],
    formations.map(each => [
      `${each.apis} + ${each.workers}`,
      String(each.sync),
      ...(['api', 'worker', 'queue', 'database'] as const).map(role => short(each.micros[role])),
      short(each.answersAFlush),
      short(each.answersATransaction),
      percent(each.waits.lock),
      percent(each.waits.wal),
    ]),
  );

const footprintTable = ({ formations }: Measurements): string =>
  table(
    ['API + worker', 'to PostgreSQL', 'to Valkey', 'peak MB API', 'peak MB worker'],
    formations
      .filter(each => each.sync === 1)
      .map(each => [
        `${each.apis} + ${each.workers}`,
        names(each.connections),
        String(each.queueConnections),
        short(each.peakMb.api),
        short(each.peakMb.worker),
      ]),
  );

const readTable = ({ reads }: Measurements): string =>
  table(
    ['read', 'API µs', 'database µs'],
    reads.map(({ read, micros }) => [read, short(micros.api), short(micros.database)]),
  );

const limitTable = (measured: Measurements): string =>
  table(
    ['what', 'one answer a request', '20 answers a request'],
    findLimits(unitsOf(measured, 1)).map(({ what, answers }, index) => [
      what,
      short(answers),
      short(findLimits(unitsOf(measured, 20))[index]?.answers ?? Number.NaN),
    ]),
  );

const simulationTable = (measured: Measurements, sync: 1 | 20): string =>
  table(
    ['nodes', 'answers a second', 'workers', 'Valkey', 'PostgreSQL cores', 'log MB/s', 'connections', 'first limit'],
    [1, 10, 100].map(nodes => {
      const { answers, workers, queue, databaseCores, logMbytes, connections, beyond } = simulate(
        unitsOf(measured, sync),
        nodes,
      );
      return [
        String(nodes),
        short(answers),
        String(workers),
        percent(queue),
        short(databaseCores),
        short(logMbytes),
        short(connections),
        beyond,
      ];
    }),
  );

const millionTable = ({ bytes, formations }: Measurements): string => {
  const cpu = (sync: number) =>
    Object.values(formations.find(each => each.sync === sync)?.micros ?? {}).reduce((sum, micros) => sum + micros, 0);
  return table(
    ['a million answers', 'one a request', '20 a request'],
    [
      ['CPU seconds, everything together', short(cpu(1)), short(cpu(20))],
      ['disk of PostgreSQL, MB', short(bytes.row + bytes.indexes), 'the same'],
      ['its log (WAL), MB', short(bytes.wal), 'the same'],
      ['waiting in Valkey: memory, MB', short(bytes.queueMemory), 'the same'],
      ['its append-only file, MB', short(bytes.queueFile), 'the same'],
    ],
  );
};

/** Formats the measurements and the projection as the tables of docs/scaling.md. */
export function toTables(measured: Measurements): string {
  const { serial, listening, rest } = measured;
  return [
    `${measured.machine}; ${measured.stores}; ${measured.load}; bare Koa ${measured.koaMicros.map(short).join(' and ')} µs a request`,
    formationTable(measured),
    footprintTable(measured),
    `Listening: ${JSON.stringify(listening)}\n\nAt rest: ${JSON.stringify(rest)}\n\nSerial: ${JSON.stringify(serial)}`,
    readTable(measured),
    millionTable(measured),
    limitTable(measured),
    `One answer a request\n\n${simulationTable(measured, 1)}`,
    `20 answers a request\n\n${simulationTable(measured, 20)}`,
  ].join('\n\n');
}
