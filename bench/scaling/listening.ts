import type { Bench } from '../bench.ts';
import { awaitQuiet, startMeter } from '../cpu.ts';
import { makeAnswers, storeAnswers } from '../store-steps.ts';

/** The cost of delivering notices of changed cards to every API, in CPU µs per stored answer. */
export interface ListeningCost {
  apis: number;
  /** Per API. */
  api: number;
  /** In PostgreSQL, for all listeners together. */
  database: number;
}

/** Stores answers without the queue while that many APIs only listen. */
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
