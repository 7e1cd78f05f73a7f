import { spawn } from 'node:child_process';
import { resolve } from 'node:path';

/** The tested image, which is built first, and its base image. */
export const IMAGE = process.env.PARLEY_IMAGE ?? 'parley:dev';
export const BASE_IMAGE = 'node:24-slim';

export const ROOT = resolve(import.meta.dirname, '../..');

export interface Output {
  code: number;
  stdout: string;
  stderr: string;
}

export interface DockerOptions {
  /** Sent on standard input. */
  input?: string;
  /** Added to this process's environment. */
  environment?: Record<string, string | undefined>;
}

/** Runs `docker` in the project's root and returns its output, regardless of the exit code. */
export async function tryDocker(args: string[], { input, environment = {} }: DockerOptions = {}): Promise<Output> {
  const child = spawn('docker', args, {
    cwd: ROOT,
    env: { ...process.env, ...environment },
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout?.on('data', chunk => (output.stdout += chunk));
  child.stderr?.on('data', chunk => (output.stderr += chunk));
  child.stdin?.end(input);
  const code = await new Promise<number>((done, fail) => {
    child.once('error', fail);
    child.once('close', status => done(status ?? -1));
  });
  return { code, ...output };
}

/** The output of `docker`; rejects with its error output. */
export async function docker(args: string[], options?: DockerOptions): Promise<string> {
  const { code, stdout, stderr } = await tryDocker(args, options);
  if (code !== 0) throw new Error(`docker ${args.join(' ')} ended with ${code}:\n${stdout}\n${stderr}`);
  return stdout.trim();
}
