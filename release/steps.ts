import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '..');

/** A reason not to release, in one sentence. */
export class Refusal extends Error {}

/** Prints a line about the progress. */
export const say = (line: string): void => void process.stderr.write(`release: ${line}\n`);

/** Runs a program in the project's root and returns its output. Throws with its error output. */
export function run(program: string, args: string[], environment: Record<string, string> = {}): string {
  const env = { ...process.env, ...environment };
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd: ROOT,
    env,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (error) throw new Refusal(`${program} cannot be run: ${error.message}`);
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}:\n${stdout}\n${stderr}`);
  return stdout.trim();
}

/** Whether a program is installed. */
export const has = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
