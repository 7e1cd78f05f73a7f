import { spawn } from 'node:child_process';

/** How much of a tool's error output is kept. */
const KEPT_BYTES = 4000;

/** A store's own tool that is missing, or ended with an error. The message contains its output. */
export class ToolError extends Error {}

/** Runs a program and resolves with its standard output. Rejects with `ToolError`. */
export type RunTool = (program: string, args: string[], secrets?: Record<string, string>) => Promise<string>;

/**
 * Returns a function that runs programs with an environment.
 *
 * `secrets` are added to it, because arguments show in the list of processes.
 */
export const toolsIn =
  (environment: NodeJS.ProcessEnv): RunTool =>
  (program, args, secrets = {}) =>
    run(program, args, { ...environment, ...secrets });

const run = (program: string, args: string[], env: NodeJS.ProcessEnv): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let errors = '';
    child.stdout.setEncoding('utf8').on('data', text => {
      output += text;
    });
    child.stderr.setEncoding('utf8').on('data', text => {
      errors = `${errors}${text}`.slice(-KEPT_BYTES);
    });
    child.once('error', error => {
      const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
      reject(new ToolError(isMissing ? `${program} is not installed` : `${program}: ${error.message}`));
    });
    child.once('close', code => {
      if (code === 0) resolve(output);
      else reject(new ToolError(`${program} ended with ${code}: ${errors.trim()}`));
    });
  });
