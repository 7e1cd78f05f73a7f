import type { Measurements } from './measurements.ts';

/** How busy a part is planned to be: beyond this, waiting times grow faster than the load. */
const BUSY = 0.7;
const SECOND = 1e6;

/** What the model is made of: CPU µs an answer unless it says otherwise. */
export interface Units {
  api: number;
  worker: number;
  queue: number;
  database: number;
  /** For each API: what it costs that it, and PostgreSQL for its sake, hears of an answer that anybody took. */
  heardByApi: number;
  heardInDatabase: number;
  /** CPU µs a second of a process that nobody asks anything: of an API itself, and of the stores for its sake. */
  restOfApi: number;
  restInQueue: number;
  restInDatabase: number;
  /** Of one commit, and of the shared rows in a transaction of 1,000 answers; ms. */
  commitMs: number;
  heldMs: number;
  walBytes: number;
  connectionsOfApi: number;
  connectionsOfWorker: number;
}

/** Answers in one transaction of a worker that has enough to do. */
const FULL_TRANSACTION = 1000;

const positive = (number: number): number => Math.max(0, number);

/** The units of a run, for requests of so many answers. */
export function unitsOf({ formations, listening, rest, serial, bytes }: Measurements, sync: 1 | 20): Units {
  const alone = formations.find(each => each.apis === 1 && each.workers === 1 && each.sync === sync);
  const [silent, heard] = listening;
  const [empty, idle] = rest;
  if (!alone || !silent || !heard || !empty || !idle) throw new Error('the run is not whole');
  const listeners = heard.apis - silent.apis;
  const resting = idle.apis - empty.apis;
  const { parley_worker: ofWorker = 0, ...ofApi } = alone.connections;
  return {
    ...alone.micros,
    heardByApi: heard.api,
    heardInDatabase: positive(heard.database - silent.database) / listeners,
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

/** What so many nodes do, and what that asks of the parts that they share. */
export interface Simulated {
  /** Answers a second that the APIs take. */
  answers: number;
  workers: number;
  /** Of Valkey's one core; above 1 it can't be. */
  queue: number;
  databaseCores: number;
  logMbytes: number;
  connections: number;
  /** The first shared part that is busier than planned. */
  beyond: string;
}

/**
 * A node is one API process on a core of its own; workers are added as they are needed.
 *
 * Each API spends its core on the answers that it takes, on hearing of those that any API took, and on being there. The
 * unit costs are those of one API and one worker, whatever the number of nodes.
 */
export function simulate(units: Units, nodes: number): Simulated {
  const answers = (nodes * positive(BUSY * SECOND - units.restOfApi)) / (units.api + nodes * units.heardByApi);
  const workers = Math.ceil((answers * units.worker) / (BUSY * SECOND));
  const queue = (answers * units.queue + nodes * units.restInQueue) / SECOND;
  const database = answers * (units.database + (nodes - 1) * units.heardInDatabase) + nodes * units.restInDatabase;
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

/** From how many answers a second on each part is as busy as planned, when the others are not. */
export function findLimits(units: Units): { what: string; answers: number }[] {
  const core = BUSY * SECOND;
  return [
    { what: 'one API', answers: (core - units.restOfApi) / (units.api + units.heardByApi) },
    { what: 'any number of APIs: each hears of all answers', answers: core / units.heardByApi },
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
