#!/usr/bin/env node
import { enableCompileCache, flushCompileCache } from 'node:module';
import { join } from 'node:path';
import type { Host } from './commands/command-line.ts';
import type { Role, RunningRole } from './commands/roles.ts';
import type { Config } from './platform/config.ts';

type StopSignal = 'SIGTERM' | 'SIGINT';

const EXIT_CODES: Record<StopSignal, number> = { SIGTERM: 143, SIGINT: 130 };

/** Replaces the reaction to both signals. */
function onSignal(obey: (signal: StopSignal) => void): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.removeAllListeners(signal).on(signal, () => obey(signal));
}

// The kernel ends a process on these signals, except for process 1 of a container, where it discards them. So that one
// has a handler first, before other modules are loaded.
if (process.pid === 1) onSignal(signal => process.exit(EXIT_CODES[signal]));

// Compiled code is cached, which saves two thirds of the startup time and 20 MB of memory. Without write access to the
// folder, everything is compiled again. This file is not cached here, because it is loaded before; the image sets
// NODE_COMPILE_CACHE, so that Node's TypeScript compiler is never loaded.
enableCompileCache(join(import.meta.dirname, '..', 'node_modules', '.cache', 'parley'));

/** How long a process that is still starting may take to stop. It has not accepted any work. */
const STOP_WHILE_STARTING_MS = 1000;

const print = (value: unknown): void =>
  void process.stdout.write(`${typeof value === 'string' ? value : JSON.stringify(value, null, 2)}\n`);

const report = (line: string): void => void process.stderr.write(`${line}\n`);

const setExitCode = (code: number): void => {
  process.exitCode = code;
};

async function readInput(): Promise<string> {
  let input = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) input += chunk;
  return input.replace(/\r?\n$/, '');
}

/** Runs a role until a signal ends it. A second signal ends it at once. */
async function runUntilStopped(role: Role, config: Config): Promise<void> {
  const tracing = config.OTEL_EXPORTER_OTLP_ENDPOINT ? await import('./platform/tracing.ts') : undefined;
  const [{ createLog }, { runFlags, setFlags, START_FLAGS }] = await Promise.all([
    import('./platform/log.ts'),
    import('./platform/v8-flags.ts'),
  ]);
  const log = createLog(config.LOG_LEVEL, role, tracing?.traceIds);
  for (const warning of config.misspelt) log.warn(warning);
  setFlags(START_FLAGS);
  const { runRole } = await import('./commands/roles.ts');
  let started: Promise<RunningRole>;
  let isReady = () => false;
  const finish = async () => {
    const limit = isReady() ? undefined : setTimeout(() => process.exit(0), STOP_WHILE_STARTING_MS);
    const clean = await (await started).stop();
    log.info({ clean }, 'stopped');
    process.exit(clean || limit ? 0 : 1);
  };
  let stoppingSince: number | undefined;
  onSignal(signal => {
    if (stoppingSince === undefined) {
      stoppingSince = Date.now();
      log.info({ signal }, 'stopping');
      finish().catch(() => undefined); // the start failed, which is reported below
    } else if (Date.now() - stoppingSince > 1000) process.exit(1); // a terminal and npm both forward the first Ctrl-C
  });
  started = runRole(role, config, log, print, tracing?.openTracing(role, config, log));
  ({ isReady } = await started);
  flushCompileCache(); // Node would write it at the exit: never after a kill, and for up to 3 s of a stop
  setFlags(runFlags(role));
}

async function run(args: string[]): Promise<void> {
  const [{ parseCommandLine, usageOf }, { COMMANDS }, { allowSlowConnections }] = await Promise.all([
    import('./commands/command-line.ts'),
    import('./commands/table.ts'),
    import('./platform/slow-connections.ts'),
  ]);
  allowSlowConnections();
  const line = parseCommandLine(args, COMMANDS);
  if (line.kind === 'help') return print(usageOf(COMMANDS));
  if (line.kind === 'unknown') {
    process.stderr.write(`parley: unknown command "${line.name}"\n\n${usageOf(COMMANDS)}\n`);
    process.exitCode = 2;
    return;
  }
  const host: Host = { environment: process.env, print, report, readInput, setExitCode, runUntilStopped };
  const result = await line.command.run(host, line.options as never);
  if (result !== undefined) print(result);
}

/** Prints a user's mistake as one line, and a bug with its stack; a known fault of the machine as `line`. */
function fail(error: unknown, line?: string): never {
  const isTheirs =
    ['ConfigError', 'UsageError', 'Problem'].includes((error as Error).constructor.name) ||
    (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS');
  const short = isTheirs ? (error as Error).message : line;
  process.stderr.write(`parley: ${short ?? (error as Error).stack ?? error}\n`);
  for (let cause = (error as Error).cause; !short && cause instanceof Error; cause = cause.cause as Error)
    process.stderr.write(`  caused by: ${cause.message}\n`);
  process.exit(1);
}

process.on('uncaughtException', error => fail(error));
process.stdout.on('error', error => process.exit((error as NodeJS.ErrnoException).code === 'EPIPE' ? 0 : 1)); // `| head`
try {
  await run(process.argv.slice(2));
} catch (error) {
  fail(error, (await import('./platform/machine-faults.ts')).describeMachineFault(error));
}
