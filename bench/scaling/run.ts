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
/** Each formation is tried so often. */
const ROUNDS = 2;
const LISTENERS = [0, 3];
const AT_REST = [0, 3];

interface Tell {
  /** How far it is. */
  say(text: string): void;
  /** What came out. */
  print(text: string): void;
}

/** The try during which the rest of the machine used least: others can only make work dearer. */
const quietest = (tries: FormationCost[]): FormationCost =>
  tries.reduce((quiet, each) => (each.other < quiet.other ? each : quiet));

/**
 * Every formation once a round, the quietest try of each. A try in which a request was refused, as happens where other
 * programs take the cores away, is none; a formation without any fails the run.
 */
async function measureFormations(bench: Bench, rounds: number, say: Tell['say']): Promise<FormationCost[]> {
  const tries = FORMATIONS.map((): FormationCost[] => []);
  for (let round = 0; round < rounds; round++)
    for (const [index, formation] of FORMATIONS.entries()) {
      const cost = await measureFormation(bench, formation).catch((error: Error) => error);
      say(`${JSON.stringify(formation)}: ${cost instanceof Error ? cost.message : JSON.stringify(cost.micros)}`);
      if (!(cost instanceof Error)) tries[index]?.push(cost);
    }
  return tries.map(quietest);
}

/** CPU µs of a request to bare Koa: how fast this machine is at this moment. */
async function measureFloor(bench: Bench): Promise<number> {
  const { costs } = await measureKoa(bench);
  return ((costs[0]?.cost.cpu.api ?? Number.NaN) / (costs[0]?.count ?? 1)) * 1e6;
}

/** Measures what a unit of everything costs, writes it down, and prints what follows for more machines. */
export async function measureScaling(
  settings: Settings,
  stores: Stores,
  startedAt: Date,
  { say, print }: Tell,
): Promise<void> {
  if (!stores.valkeyUrl) throw new Error('the scaling needs Valkey, and no Docker Engine was found');
  await using bench = await openBench(settings, stores);
  const about = { started_at: startedAt, machine: describeMachine(), stores: stores.description, load: LOAD_GENERATOR };

  const floor = [await measureFloor(bench)];
  const formations = await measureFormations(bench, Math.min(ROUNDS, settings.rounds), say);
  const listening: ListeningCost[] = [];
  for (const apis of LISTENERS) listening.push(await measureListening(bench, apis));
  say(`listening: ${JSON.stringify(listening)}`);
  const rest: RestCost[] = [];
  for (const apis of AT_REST) rest.push(await measureRest(bench, apis));
  say(`at rest: ${JSON.stringify(rest)}`);
  const serial = await measureSerial(bench);
  say(`serial: ${JSON.stringify(serial)}`);
  const bytes = await measureBytes(bench);
  say(`bytes: ${JSON.stringify(bytes)}`);
  const reads = await measureReads(bench);
  say(`reads: ${JSON.stringify(reads)}`);

  floor.push(await measureFloor(bench));
  say(`bare Koa, before and after: ${floor.join(', ')} µs`);
  const measured: Measurements = { ...about, koaMicros: floor, formations, listening, rest, serial, bytes, reads };
  print(writeResult(startedAt, 'scaling.json', `${JSON.stringify(measured, null, 2)}\n`));
  print(toTables(measured));
}
