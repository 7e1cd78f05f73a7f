import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';

/** The measurements of one step. */
export type Figures = Record<string, string | number | boolean | null>;

const RESULTS = new URL('results/', import.meta.url);

/** Prints the measurements of a step and adds them to results/<date>.json, which documents quote. */
export function record(step: string, figures: Figures): void {
  const path = new URL(`${new Date().toISOString().slice(0, 10)}.json`, RESULTS);
  mkdirSync(RESULTS, { recursive: true });
  const steps: Record<string, Figures> = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
  steps[step] = figures;
  writeFileSync(path, `${JSON.stringify(steps, null, 2)}\n`);
  process.stderr.write(`${step}: ${JSON.stringify(figures)}\n`);
}

/** Runs a step, records its duration, and returns its result. */
export async function timed<T>(step: string, run: () => Promise<T>): Promise<{ result: T; seconds: number }> {
  const startedAt = Date.now();
  const result = await run();
  const seconds = (Date.now() - startedAt) / 1000;
  record(step, { seconds });
  return { result, seconds };
}
