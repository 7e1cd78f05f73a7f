import type { Measurements } from './measurements.ts';

/** Planned utilization. Above it, waiting times grow faster than the load. */
const BUSY = 0.7;
const SECOND = 1e6;

/** The inputs of the model, in CPU µs per answer unless stated otherwise. */
export interface Units {
  api: number;
  worker: number;
  queue: number;
  database: number;
  /** For each API: cost, in it and in PostgreSQL, of the notice about an answer accepted by any API. */
  noticesInApi: number;
  noticesInDatabase: number;
  /** CPU µs per second of an idle process: in the API itself, and in the stores. */
  restOfApi: number;
  restInQueue: number;
  restInDatabase: number;
  /** Duration of a commit, and of the lock on shared rows in a transaction of 1,000 answers; ms. */
  commitMs: number;
  heldMs: number;
  walBytes: number;
  connectionsOfApi: number;
  connectionsOfWorker: number;
}

/** Answers in one transaction of a fully loaded worker. */
const FULL_TRANSACTION = 1000;

const positive = (number: number): number => Math.max(0, number);

/** Computes the units of a run for requests with this number of answers. */
export function unitsOf({ formations, listening, rest, serial, bytes }: Measurements, sync: 1 | 20): Units {
  const single = formations.find(each => each.apis === 1 && each.workers === 1 && each.sync === sync);
  const [none, some] = listening;
  const [empty, idle] = rest;
  if (!single || !none || !some || !empty || !idle) throw new Error('the run is incomplete');
  const listeners = some.apis - none.apis;
  const resting = idle.apis - empty.apis;
  const { parley_worker: ofWorker = 0, ...ofApi } = single.connections;
  return {
    ...single.micros,
    noticesInApi: some.api,
    noticesInDatabase: positive(some.database - none.database) / listeners,
    restOfApi: idle.micros.api,
    restInQueue: positive(idle.micros.queue - empty.micros.queue) / resting,
    restInDatabase: positive(idle.micros.database - empty.micros.database) / resting,
    commitMs: serial.commitMs,
    heldMs: serial.heldMs,
    walBytes: bytes.wal,
    connectionsOfApi: Object.values(ofApi).reduce((sum, count) => sum + count, 0),
    connectionsOfWorker: ofWorker,
  };
}

/** The throughput of a number of nodes, and the utilization of the parts that they share. */
export interface Simulated {
  /** Answers per second accepted by the APIs. */
  answers: number;
  workers: number;
  /** Share of Valkey's one core; more than 1 is impossible. */
  queue: number;
  databaseCores: number;
  logMbytes: number;
  connections: number;
  /** The first shared part above the planned utilization. */
  beyond: string;
}

/**
 * Simulates nodes with one API process on its own core each; workers are added as needed.
 *
 * Each API spends its core on the answers that it accepts, on notices about answers accepted by all APIs, and on its
 * idle cost. The unit costs are those of one API and one worker, regardless of the number of nodes.
 */
export function simulate(units: Units, nodes: number): Simulated {
  const answers = (nodes * positive(BUSY * SECOND - units.restOfApi)) / (units.api + nodes * units.noticesInApi);
  const workers = Math.ceil((answers * units.worker) / (BUSY * SECOND));
  const queue = (answers * units.queue + nodes * units.restInQueue) / SECOND;
  const database = answers * (units.database + (nodes - 1) * units.noticesInDatabase) + nodes * units.restInDatabase;
  const order = (answers / FULL_TRANSACTION) * (units.commitMs / 1000);
  const beyond = [
    ...(queue > BUSY
      ? [`Valkey's core, from ${Math.floor((answers * BUSY) / queue).toLocaleString('en')} a second`]
      : []),
    ...(order > BUSY ? ['the order of commits'] : []),
  ];
  return {
    answers,
    workers,
    queue,
    databaseCores: database / SECOND / BUSY,
    logMbytes: (answers * units.walBytes) / 1e6,
    connections: nodes * units.connectionsOfApi + workers * units.connectionsOfWorker,
    beyond: beyond[0] ?? 'the APIs themselves',
  };
}

/**
 * Returns, for each part, the answers per second at which it reaches the planned utilization while the others do not.
 */
export function findLimits(units: Units): { what: string; answers: number }[] {
  const core = BUSY * SECOND;
  return [
    { what: 'one API', answers: (core - units.restOfApi) / (units.api + units.noticesInApi) },
    { what: 'any number of APIs: each receives notices of all answers', answers: core / units.noticesInApi },
    { what: 'one worker', answers: core / units.worker },
    { what: 'Valkey: one core', answers: core / units.queue },
    { what: 'PostgreSQL: a core', answers: core / units.database },
    { what: 'answers to one question: its row of counts', answers: (BUSY * FULL_TRANSACTION * 1000) / units.heldMs },
    {
      what: 'all answers: commits with notices go one by one',
      answers: (BUSY * FULL_TRANSACTION * 1000) / units.commitMs,
    },
  ];
}
