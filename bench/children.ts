import { type ChildProcess, spawn } from 'node:child_process';
import { createServer, type Server } from 'node:net';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const ROOT = resolve(import.meta.dirname, '..');
/** The settings of Node and malloc that the image has (Dockerfile). */
const AS_IN_THE_IMAGE = {
  NODE_OPTIONS: '--max-semi-space-size=16',
  NODE_COMPILE_CACHE: resolve(ROOT, 'node_modules/.cache/parley'),
  MALLOC_ARENA_MAX: '2',
};
const PROFILES = resolve(import.meta.dirname, 'profiles');
const READY_WITHIN_MS = 120_000; // a start takes seconds, and a minute on a busy machine
const POLL_MS = 5;
const STOP_WITHIN_MS = 20_000;

/** A program started by the bench: a role of Parley or a floor program. */
export interface Program extends AsyncDisposable {
  pid: number;
  url: string;
  metricsUrl: string;
  /** Time from the start of the process to the first 200 of its probe. */
  readyAfterMs: number;
  /** The last lines of its output. */
  lastLines(): string;
}

const LAST_LINES = 10;

export interface ProgramOptions {
  /** The path from the project's root, and the arguments. */
  command: string[];
  environment: Record<string, string>;
  /** Whether the probe is served on the metrics port, as in the worker. */
  probesOnMetricsPort?: boolean;
  /** The name of a CPU profile to write under `bench/profiles` when the program ends. */
  profile?: string | undefined;
}

/** Running programs. They are killed when this process exits for any reason. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Returns two free ports. Both are taken before either is released, so that they differ. */
export async function freePorts(): Promise<[number, number]> {
  const take = () =>
    new Promise<Server>(done => {
      const server = createServer().listen(0, '127.0.0.1', () => done(server));
    });
  const release = (server: Server) =>
    new Promise<number>(done => {
      const { port } = server.address() as { port: number };
      server.close(() => done(port));
    });
  const [first, second] = [await take(), await take()];
  return [await release(first), await release(second)];
}

/** The path of the CPU profile with this name. */
export const profilePath = (name: string): string => resolve(PROFILES, `${name}.cpuprofile`);

const profileFlags = (name: string | undefined): string[] =>
  name ? ['--cpu-prof', `--cpu-prof-dir=${PROFILES}`, `--cpu-prof-name=${name}.cpuprofile`] : [];

async function awaitReady(child: ChildProcess, probe: string, output: () => string): Promise<void> {
  for (const deadline = performance.now() + READY_WITHIN_MS; ; await sleep(POLL_MS)) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`a program ended early:\n${output()}`);
    if (performance.now() > deadline)
      throw new Error(`a program is not ready after ${READY_WITHIN_MS} ms:\n${output()}`);
    const response = await fetch(probe).catch(() => undefined); // not listening yet
    await response?.arrayBuffer();
    if (response?.status === 200) return;
  }
}

/** Starts a program on free ports of 127.0.0.1 and waits until `/readyz` returns 200. */
export async function startProgram(options: ProgramOptions): Promise<Program> {
  const [port, metricsPort] = await freePorts();
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...profileFlags(options.profile), ...options.command], {
    cwd: ROOT,
    env: {
      ...AS_IN_THE_IMAGE,
      PATH: process.env.PATH,
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      ...options.environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk));
  running.add(child);
  const exited = new Promise<void>(done =>
    child.once('exit', () => {
      running.delete(child);
      done();
    }),
  );
  const stop = async () => {
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
    await exited;
    clearTimeout(timer);
  };
  const [url, metricsUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${metricsPort}`];
  try {
    await awaitReady(child, `${options.probesOnMetricsPort ? metricsUrl : url}/readyz`, () => output);
  } catch (error) {
    await stop();
    throw error;
  }
  const readyAfterMs = performance.now() - startedAt;
  return {
    pid: child.pid as number,
    url,
    metricsUrl,
    readyAfterMs,
    lastLines: () => output.trimEnd().split('\n').slice(-LAST_LINES).join('\n'),
    [Symbol.asyncDispose]: stop,
  };
}

/** Runs a command to its end. Rejects with its output if the exit code is not 0. */
export async function runProgram(command: string[], environment: Record<string, string>): Promise<void> {
  const child = spawn(process.execPath, command, {
    cwd: ROOT,
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk));
  const code = await new Promise(done => child.once('exit', done));
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}:\n${output}`);
}

/** Returns the value of a series in the process's metrics. The name includes the labels. */
export async function readSeries(program: Program, name: string): Promise<number> {
  const text = await (await fetch(`${program.metricsUrl}/metrics`)).text();
  const line = text.split('\n').find(each => each.startsWith(`${name} `));
  return Number(line?.slice(name.length) ?? Number.NaN);
}
