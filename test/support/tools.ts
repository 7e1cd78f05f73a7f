import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** How long a tool of another language may take, its first installation included. */
export const TOOL_LIMIT_MS = 180_000;

const exec = promisify(execFile);

export interface ToolOptions {
  /** Beside this process's environment. */
  environment?: Record<string, string>;
  cwd?: string;
  /** Sent on standard input. */
  input?: string;
  limitMs?: number;
}

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** What a program prints, on standard error too; rejects with what it complained of. */
export async function outputOf(command: string, args: string[], options: ToolOptions = {}) {
  const { environment = {}, cwd, input, limitMs = TOOL_LIMIT_MS } = options;
  const env = { ...process.env, ...environment };
  const running = exec(command, args, { cwd, env, timeout: limitMs, maxBuffer: MAX_OUTPUT_BYTES });
  running.child.stdin?.end(input);
  return running;
}

/** What a program prints; rejects with what it complained of. */
export const runTool = async (command: string, args: string[], options?: ToolOptions): Promise<string> =>
  (await outputOf(command, args, options)).stdout.trim();

/**
 * Whether a tool is on this machine; says loudly what is left out where it is not, and fails where it must be
 * (`TESTS_REQUIRE`, names with commas).
 */
export async function hasTool([command, ...args]: [string, ...string[]], leftOut: string): Promise<boolean> {
  try {
    await runTool(command, args);
    return true;
  } catch (error) {
    if (process.env.TESTS_REQUIRE?.split(',').includes(command)) throw error;
    process.stderr.write(`\n*** No ${command}: ${leftOut} is LEFT OUT. ***\n\n`);
    return false;
  }
}

/** Installs Python packages into a folder, for `PYTHONPATH`. */
export const installPython = (folder: string, requirements: string): Promise<string> =>
  runTool('python3', [...'-m pip install --quiet --target'.split(' '), folder, '-r', requirements]);
