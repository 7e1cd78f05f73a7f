import { randomBytes } from 'node:crypto';
import { type Host, parseCommandLine } from '../../src/commands/command-line.ts';
import { COMMANDS } from '../../src/commands/table.ts';
import { UsageError } from '../../src/commands/usage-error.ts';
import { Problem } from '../../src/domain/problem.ts';
import { ConfigError } from '../../src/platform/config.ts';
import { describeMachineFault } from '../../src/platform/machine-faults.ts';
import { createDatabase } from './database.ts';
import { runCommand } from './process.ts';

/** The end of a command: its exit code, standard output and standard error. */
export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** The line that the executable reports for an expected failure; undefined for a bug. */
function expectedFailure(error: unknown): string | undefined {
  const isTheirs = error instanceof Problem || error instanceof UsageError || error instanceof ConfigError;
  return isTheirs ? error.message : describeMachineFault(error);
}

/**
 * Runs a command in this process, with the arguments of the executable. A process of its own, as by `runCommand`, takes a second of CPU
 * time; only tests of the executable itself need one. Rejects with a bug, for which the executable prints a stack.
 */
export async function runHere(args: string[], environment: Record<string, string>, input = ''): Promise<Ended> {
  const ended: Ended = { code: 0, stdout: '', stderr: '' };
  const host: Host = {
    environment: { LOG_LEVEL: 'silent', ...environment },
    print: value => {
      ended.stdout += `${typeof value === 'string' ? value : JSON.stringify(value, null, 2)}\n`;
    },
    report: line => {
      ended.stderr += `${line}\n`;
    },
    readInput: async () => input.replace(/\r?\n$/, ''),
    setExitCode: code => {
      ended.code = code;
    },
    runUntilStopped: role => Promise.reject(new Error(`${role} needs a process of its own`)),
  };
  try {
    const line = parseCommandLine(args, COMMANDS);
    if (line.kind !== 'command') throw new Error(`not a command: ${args.join(' ')}`);
    const result = await line.command.run(host, line.options as never);
    if (result !== undefined) host.print(result);
  } catch (error) {
    const line = expectedFailure(error);
    if (!line) throw error;
    ended.code = 1;
    host.report(`parley: ${line}`);
  }
  return ended;
}

/** Commands with their own database: `run` and `json` in this process, `execute` in a process of its own. */
export async function createCommandLine() {
  const database = await createDatabase();
  const environment = { DATABASE_URL: database.url, SECRET_KEY: randomBytes(32).toString('base64') };
  const run = (args: string[], input?: string) => runHere(args, environment, input);
  return {
    database,
    environment,
    run,
    execute: (args: string[], input?: string) => runCommand(args, environment, input),
    // biome-ignore lint/suspicious/noExplicitAny: tests read parts of any output
    async json(args: string[], input?: string): Promise<any> {
      const { code, stdout, stderr } = await run(args, input);
      if (code !== 0) throw new Error(stderr);
      return JSON.parse(stdout);
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}
