import { isDeepStrictEqual } from 'node:util';
import { ParleyError } from '../src/index.ts';

/** A step of the scenario; all members except `do` depend on the step. */
// biome-ignore lint/suspicious/noExplicitAny: the scenario is data, and each step reads its own members
export type Step = { do: string } & Record<string, any>;
export type Steps = Record<string, (step: Step) => Promise<void>>;

/** Writes a line to standard output, unbuffered. */
export const print = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

/** Fails the step if the values differ. */
export function expectEqual(actual: unknown, expected: unknown, what: string): void {
  if (!isDeepStrictEqual(actual, expected))
    throw new Error(`${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
}

/** Retries for up to 15 s until it succeeds. */
export async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  for (const deadline = Date.now() + 15_000; ; ) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise(resolve => setTimeout(resolve, 50));
    }
  }
}

/** Expects the work to fail with the step's failure. */
export async function expectFailure(step: Step, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    expectEqual(error.kind, step.failure, `the kind of "${error.message}"`);
    if (step.code !== undefined) expectEqual(error.code, step.code, 'the code');
    return;
  }
  throw new Error(`no failure instead of ${step.failure}`);
}

/** A required environment variable. */
export function setting(name: string): string {
  const value = process.env[name];
  if (value) return value;
  process.stderr.write(`${name} is not set\n`);
  process.exit(2);
}
