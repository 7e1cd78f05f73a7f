import { BATCH, type Bench, openBench } from '../bench.ts';
import { describeMachine } from '../cpu.ts';
import { measureKoa } from '../http-steps.ts';
import { LOAD_GENERATOR } from '../load.ts';
import { writeResult } from '../report.ts';
import type { Settings } from '../settings.ts';
import type { Stores } from '../stores.ts';
import { measureBytes } from './bytes.ts';
import { type ListeningCost, measureListening } from './listening.ts';
import type { Measurements } from './measurements.ts';
import { measureReads } from './reads.ts';
import { type Formation, type FormationCost, measureFormation, measureRest, type RestCost } from './replicas.ts';
import { measureSerial } from './serial.ts';
import { toTables } from './tables.ts';

const FORMATIONS: Formation[] = [
  { apis: 1, workers: 1, sync: 1 },
  { apis: 2, workers: 1, sync: 1 },
  { apis: 3, workers: 1, sync: 1 },
  { apis: 1, workers: 2, sync: 1 },
  { apis: 1, workers: 3, sync: 1 },
  { apis: 3, workers: 3, sync: 1 },
  { apis: 1, workers: 1, sync: BATCH },
  { apis: 3, workers: 3, sync: BATCH },
];
/** The number of attempts per formation. */
const ROUNDS = 2;
const LISTENERS = [0, 3];
const AT_REST = [0, 3];

interface Output {
  /** Reports progress. */
  log(text: string): void;
  /** Prints the result. */
  print(text: string): void;
}

/** The attempt during which other programs used least; they can only make work more expensive. */
const quietest = (tries: FormationCost[]): FormationCost =>
  tries.reduce((quiet, each) => (each.other < quiet.other ? each : quiet));

/**
 * Measures every formation once a round and returns the quietest attempt of each. An attempt with a rejected request,
 * which happens when other programs occupy the cores, is discarded; a formation without attempts fails the run.
 */
async function measureFormations(bench: Bench, rounds: number, log: Output['log']): Promise<FormationCost[]> {
  const tries = FORMATIONS.map((): FormationCost[] => []);
  for (let round = 0; round < rounds; round++)
    for (const [index, formation] of FORMATIONS.entries()) {
      const cost = await measureFormation(bench, formation).catch((error: Error) => error);
      log(`${JSON.stringify(formation)}: ${cost instanceof Error ? cost.message : JSON.stringify(cost.micros)}`);
      if (!(cost instanceof Error)) tries[index]?.push(cost);
    }
  return tries.map(quietest);
}

/** CPU µs of a request to bare Koa, as a measure of this machine's current speed. */
async function measureFloor(bench: Bench): Promise<number> {
  const { costs } = await measureKoa(bench);
  return ((costs[0]?.cost.cpu.api ?? Number.NaN) / (costs[0]?.count ?? 1)) * 1e6;
}

/** Measures all unit costs, writes them to a file, and prints the projection for more machines. */
export async function measureScaling(
  settings: Settings,
  stores: Stores,
  startedAt: Date,
  { log, print }: Output,
): Promise<void> {
  if (!stores.valkeyUrl) throw new Error('the scaling needs Valkey, and no Docker Engine was found');
  await using bench = await openBench(settings, stores);
  const about = { started_at: startedAt, machine: describeMachine(), stores: stores.description, load: LOAD_GENERATOR };

  const floor = [await measureFloor(bench)];
  const formations = await measureFormations(bench, Math.min(ROUNDS, settings.rounds), log);
  const listening: ListeningCost[] = [];
  for (const apis of LISTENERS) listening.push(await measureListening(bench, apis));
  log(`listening: ${JSON.stringify(listening)}`);
  const rest: RestCost[] = [];
  for (const apis of AT_REST) rest.push(await measureRest(bench, apis));
  log(`at rest: ${JSON.stringify(rest)}`);
  const serial = await measureSerial(bench);
  log(`serial: ${JSON.stringify(serial)}`);
  const bytes = await measureBytes(bench);
  log(`bytes: ${JSON.stringify(bytes)}`);
  const reads = await measureReads(bench);
  log(`reads: ${JSON.stringify(reads)}`);

  floor.push(await measureFloor(bench));
  log(`bare Koa, before and after: ${floor.join(', ')} µs`);
  const measured: Measurements = { ...about, koaMicros: floor, formations, listening, rest, serial, bytes, reads };
  print(writeResult(startedAt, 'scaling.json', `${JSON.stringify(measured, null, 2)}\n`));
  print(toTables(measured));
}
