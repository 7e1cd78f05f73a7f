import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import type { Terminal } from '../../src/commands/command.ts';
import { waitFor } from './wait.ts';

const MAIN = resolve(import.meta.dirname, '../../src/main.ts');

export interface TestProcess extends AsyncDisposable {
  pid: number;
  baseUrl: string;
  metricsUrl: string;
  /** All output so far. */
  output(): string;
  isRunning(): boolean;
  /** Resolves when the probe returns this status. */
  awaitProbe(path: '/livez' | '/readyz', status?: number, limitMs?: number): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  /** The exit code, or the signal that ended it. */
  exited: Promise<number | NodeJS.Signals>;
}

const isFree = (port: number): Promise<boolean> =>
  new Promise(done => {
    const server = createServer().once('error', () => done(false));
    server.listen(port, () => server.close(() => done(true)));
  });

/**
 * A port without a listener. It is below those of outgoing connections (from 32768 on), one of which could use it until
 * the caller listens, or while a process on it is restarted.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 11_000 + Math.floor(Math.random() * 20_000);
    if (await isFree(port)) return port;
  }
}

/**
 * Starts a role of Parley as a separate process, without this process's environment.
 *
 * Its ports are free ones unless set in the environment; `nodeArgs` precede the program (`--import` …). `program` is
 * the executable, for running another version than this one.
 */
export async function startProcess(
  role: string,
  environment: Record<string, string>,
  nodeArgs: string[] = [],
  program = MAIN,
): Promise<TestProcess> {
  const port = environment.PORT ?? (await freePort());
  const metricsPort = environment.METRICS_PORT ?? (await freePort());
  const child: ChildProcess = spawn(process.execPath, [...nodeArgs, program, ...role.split(' ')], {
    env: {
      PATH: process.env.PATH,
      NODE_OPTIONS: '--max-semi-space-size=16', // as in npm's scripts and the image
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      LOG_LEVEL: 'info',
      RATE_LIMITS: 'off',
      INGESTION_CHECK_S: '0', // tests check every row and every job
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout?.on('data', chunk => (output += chunk));
  child.stderr?.on('data', chunk => (output += chunk));
  const exited = new Promise<number | NodeJS.Signals>(done =>
    child.once('exit', (code, signal) => done(code ?? (signal as NodeJS.Signals))),
  );
  const baseUrl = `http://127.0.0.1:${port}`;
  const metricsUrl = `http://127.0.0.1:${metricsPort}`;
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  const probes = role === 'work' ? metricsUrl : baseUrl;
  return {
    pid: child.pid as number,
    baseUrl,
    metricsUrl,
    output: () => output,
    isRunning,
    async awaitProbe(path, status = 200, limitMs = 120_000) {
      await waitFor(async () => {
        if (!isRunning()) throw new Error(`${role} ended:\n${output}`);
        const response = await fetch(`${probes}${path}`).catch(() => undefined); // not listening yet
        return response?.status === status;
      }, limitMs);
    },
    kill: signal => void child.kill(signal),
    exited,
    async [Symbol.asyncDispose]() {
      if (!isRunning()) return;
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
      await exited;
      clearTimeout(timer);
    },
  };
}

export interface Supervised extends AsyncDisposable {
  /** The number of exits so far. */
  deaths(): number;
  /** The output of all its processes. */
  output(): string;
}

/** Runs a role that is restarted whenever it exits, as by Docker or systemd. */
export async function supervise(role: string, environment: Record<string, string>): Promise<Supervised> {
  const lives: TestProcess[] = [];
  let ending = false;
  const live = async () => {
    const life = await startProcess(role, environment);
    lives.push(life);
    void life.exited.then(async () => {
      if (!ending) await live();
    });
  };
  await live();
  return {
    deaths: () => lives.filter(life => !life.isRunning()).length,
    output: () => lives.map(life => life.output()).join(''),
    async [Symbol.asyncDispose]() {
      ending = true;
      for (const life of lives) await life[Symbol.asyncDispose]();
    },
  };
}

/** A terminal without a user. */
export const noTerminal: Terminal = { readInput: async () => '', report: () => undefined };

/** The parsed JSON output of a command; rejects with its error output. */
export async function runCommand(
  args: string[],
  environment: Record<string, string>,
  input = '',
  nodeArgs: string[] = [],
  program = MAIN,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [...nodeArgs, program, ...args], {
    env: { PATH: process.env.PATH, ...environment },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', chunk => (stdout += chunk));
  child.stderr.on('data', chunk => (stderr += chunk));
  child.stdin.end(input);
  const code = await new Promise<number>(done => child.once('exit', status => done(status ?? -1)));
  return { code, stdout, stderr };
}
