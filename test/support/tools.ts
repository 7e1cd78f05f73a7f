import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** The timeout of a tool of another language, including its first installation. */
export const TOOL_LIMIT_MS = 180_000;

const exec = promisify(execFile);

export interface ToolOptions {
  /** Added to this process's environment. */
  environment?: Record<string, string>;
  cwd?: string;
  /** Sent on standard input. */
  input?: string;
  limitMs?: number;
}

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** The output of a program, including standard error; rejects with its error output. */
export async function outputOf(command: string, args: string[], options: ToolOptions = {}) {
  const { environment = {}, cwd, input, limitMs = TOOL_LIMIT_MS } = options;
  const env = { ...process.env, ...environment };
  const running = exec(command, args, { cwd, env, timeout: limitMs, maxBuffer: MAX_OUTPUT_BYTES });
  running.child.stdin?.end(input);
  return running;
}

/** The output of a program; rejects with its error output. */
export const runTool = async (command: string, args: string[], options?: ToolOptions): Promise<string> =>
  (await outputOf(command, args, options)).stdout.trim();

/**
 * Whether a tool is installed. Otherwise prints which tests are skipped, or throws if `TESTS_REQUIRE` (comma-separated
 * names) contains the tool.
 */
export async function hasTool([command, ...args]: [string, ...string[]], skipped: string): Promise<boolean> {
  try {
    await runTool(command, args);
    return true;
  } catch (error) {
    if (process.env.TESTS_REQUIRE?.split(',').includes(command)) throw error;
    process.stderr.write(`\n*** No ${command}: ${skipped} is SKIPPED. ***\n\n`);
    return false;
  }
}

/** Installs Python packages into a folder, for `PYTHONPATH`. */
export const installPython = (folder: string, requirements: string): Promise<string> =>
  runTool('python3', [...'-m pip install --quiet --target'.split(' '), folder, '-r', requirements]);
