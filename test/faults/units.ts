import { readFileSync } from 'node:fs';
import { freePort, startProcess, type TestProcess } from '../support/process.ts';

export type Role = 'serve' | 'work' | 'migrate';

/** A process of ours that can be killed and started again under the same address. */
export interface Unit extends AsyncDisposable {
  role: Role;
  baseUrl: string;
  metricsUrl: string;
  pid(): number;
  isRunning(): boolean;
  /** Everything that it printed, over all its lives. */
  output(): string;
  /** How often it was started again. */
  restarts(): number;
  /** Resolves when it answers at all. */
  awaitLive(): Promise<void>;
  awaitReady(limitMs?: number): Promise<void>;
  /** Sends a signal and resolves with how it ended. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | NodeJS.Signals>;
  /** Sends a signal and waits for nothing. */
  signal(signal: NodeJS.Signals): void;
  /** Starts it again; it need not be ready yet. */
  restart(): Promise<void>;
  /** From now on it is started again whenever it ends by itself, as an orchestrator would; `false` ends that. */
  supervise(on: boolean): void;
  /** A series of its metrics, summed over its labels that contain `label`; 0 where it is absent. */
  metric(name: string, label?: string): Promise<number>;
  /** Memory that it holds, in MB. */
  residentMb(): number;
  /** How many files and sockets it has open. */
  openFiles(): Promise<number>;
}

export interface UnitOptions {
  environment: Record<string, string>;
  /** Arguments of node, before the program: `--import` of a fault. */
  nodeArgs?: string[];
  /** The executable of another version; this version's unless given. */
  program?: string;
}

/** Starts a process of ours. */
export async function startUnit(role: Role, { environment, nodeArgs = [], program }: UnitOptions): Promise<Unit> {
  const ports = { PORT: String(await freePort()), METRICS_PORT: String(await freePort()) };
  const printed: string[] = [];
  let restarts = 0;
  let supervised = false;
  let current: TestProcess;

  const launch = async () => {
    const launched = await startProcess(role, { ...environment, ...ports }, nodeArgs, program);
    current = launched;
    void launched.exited.then(async () => {
      printed.push(launched.output());
      if (!supervised || current !== launched) return;
      restarts++;
      await launch();
    });
  };
  await launch();
  const killNow = () => current.kill('SIGKILL');
  process.once('exit', killNow); // a run that is broken off leaves nothing behind

  const now = (): TestProcess => current;
  return {
    role,
    baseUrl: now().baseUrl,
    metricsUrl: now().metricsUrl,
    pid: () => now().pid,
    isRunning: () => now().isRunning(),
    output: () => [...printed, ...(now().isRunning() ? [now().output()] : [])].join(''),
    restarts: () => restarts,
    awaitLive: () => now().awaitProbe('/livez'),
    awaitReady: limitMs => now().awaitProbe('/readyz', 200, limitMs),
    async end(signal) {
      now().kill(signal);
      return now().exited;
    },
    signal: signal => now().kill(signal),
    async restart() {
      restarts++;
      await launch();
    },
    supervise(on) {
      supervised = on;
    },
    async metric(name, label = '') {
      const text = await (await fetch(`${now().metricsUrl}/metrics`)).text();
      return sumOf(text, name, label);
    },
    residentMb: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${now().pid}/status`, 'utf8'))?.[1] ?? 0) / 1024,
    async openFiles() {
      const { readdir } = await import('node:fs/promises');
      return (await readdir(`/proc/${now().pid}/fd`)).length;
    },
    async [Symbol.asyncDispose]() {
      supervised = false;
      now().kill('SIGCONT');
      now().kill('SIGKILL');
      await now().exited;
      process.off('exit', killNow);
    },
  };
}

/** The sum of a series over its labels, out of the text that Prometheus reads. */
function sumOf(text: string, name: string, label: string): number {
  const lines = text.split('\n').filter(line => line.startsWith(name) && /^[{ ]/.test(line.slice(name.length)));
  return lines
    .filter(line => line.includes(label))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}
