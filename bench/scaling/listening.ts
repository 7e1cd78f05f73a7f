import type { Bench } from '../bench.ts';
import { awaitQuiet, startMeter } from '../cpu.ts';
import { makeAnswers, storeAnswers } from '../store-steps.ts';

/** What it costs that every API hears whose cards changed, CPU µs for each answer that is stored. */
export interface ListeningCost {
  apis: number;
  /** Of each API. */
  api: number;
  /** Of PostgreSQL, all listeners together. */
  database: number;
}

/** Stores answers past the queue while so many APIs do nothing but listen. */
export async function measureListening(bench: Bench, apis: number): Promise<ListeningCost> {
  await bench.empty();
  await using stack = new AsyncDisposableStack();
  const listeners: number[] = [];
  for (let number = 0; number < apis; number++) listeners.push(stack.use(await bench.parley('serve', 'valkey')).pid);
  const answers = bench.settings.storeRows;
  await storeAnswers(bench.databaseUrl, makeAnswers(bench.users, answers / 10));
  const rows = makeAnswers(bench.users, answers);
  await bench.query('checkpoint');
  const roles = bench.roles(Object.fromEntries(listeners.map((pid, index) => [`api ${index}`, pid])));
  await awaitQuiet(roles);
  const stopMeter = startMeter(roles);
  await storeAnswers(bench.databaseUrl, rows);
  const { cpu } = stopMeter();
  const api = listeners.reduce((sum, _, index) => sum + (cpu[`api ${index}`] ?? 0), 0);
  return {
    apis,
    api: apis === 0 ? 0 : (api / apis / answers) * 1e6,
    database: ((cpu.database ?? 0) / answers) * 1e6,
  };
}
