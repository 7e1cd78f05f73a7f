import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { freePorts } from '../children.ts';
import type { SoakMemory, SoakRequest } from './agent.ts';

const AGENT = resolve(import.meta.dirname, 'agent.ts');
const STOP_WITHIN_MS = 20_000;

/** A role of Parley with an adjustable clock and readable memory. */
export interface SoakProcess extends AsyncDisposable {
  url: string;
  metricsUrl: string;
  isRunning(): boolean;
  /** The end of its output. */
  output(): string;
  leap(ms: number): Promise<unknown>;
  readMemory(): Promise<SoakMemory>;
}

const children = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** Starts a role of the Parley in `folder` with a heap of at most `heapMb`. */
export async function startSoakProcess(
  folder: string,
  role: 'serve' | 'work',
  heapMb: number,
  environment: Record<string, string>,
): Promise<SoakProcess> {
  const [port, metricsPort] = await freePorts();
  const args = [`--max-old-space-size=${heapMb}`, '--max-semi-space-size=16', '--import', AGENT];
  const child = spawn(process.execPath, [...args, join(folder, 'src/main.ts'), role], {
    cwd: folder,
    env: { PATH: process.env.PATH, PORT: String(port), METRICS_PORT: String(metricsPort), ...environment },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  children.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', chunk => {
      output = (output + chunk).slice(-4000);
    });
  const exited = once(child, 'exit').then(() => children.delete(child));
  const isRunning = () => child.exitCode === null && child.signalCode === null;

  const ask = async (request: SoakRequest): Promise<SoakMemory> => {
    if (!isRunning()) throw new Error(`${role} ended:\n${output}`);
    const reply = once(child, 'message');
    child.send(request);
    const replied = await Promise.race([reply, exited]);
    if (!Array.isArray(replied)) throw new Error(`${role} ended:\n${output}`);
    return replied[0] as SoakMemory;
  };

  return {
    url: `http://127.0.0.1:${port}`,
    metricsUrl: `http://127.0.0.1:${metricsPort}`,
    isRunning,
    output: () => output,
    leap: ms => ask({ leapMs: ms }),
    readMemory: () => ask({ read: 'memory' }),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
      await exited;
      clearTimeout(timer);
    },
  };
}
