import { readFileSync } from 'node:fs';
import { freePort, startProcess, type TestProcess } from '../support/process.ts';

export type Role = 'serve' | 'work' | 'migrate';

/** A process of Parley that can be killed and restarted on the same ports. */
export interface Unit extends AsyncDisposable {
  role: Role;
  baseUrl: string;
  metricsUrl: string;
  pid(): number;
  isRunning(): boolean;
  /** The output of all of its runs. */
  output(): string;
  /** The number of restarts. */
  restarts(): number;
  /** Resolves when `/livez` returns 200. */
  awaitLive(): Promise<void>;
  awaitReady(limitMs?: number): Promise<void>;
  /** Sends a signal. Resolves with the exit code or signal. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | NodeJS.Signals>;
  /** Sends a signal without waiting. */
  signal(signal: NodeJS.Signals): void;
  /** Starts it again without waiting until it is ready. */
  restart(): Promise<void>;
  /** Enables or disables automatic restarts, as by an orchestrator. */
  supervise(on: boolean): void;
  /** A metric, summed over the series whose labels contain `label`; 0 if absent. */
  metric(name: string, label?: string): Promise<number>;
  /** Resident memory in MB. */
  residentMb(): number;
  /** The number of open files and sockets. */
  openFiles(): Promise<number>;
}

export interface UnitOptions {
  environment: Record<string, string>;
  /** Arguments of Node before the program, such as `--import` of a fault. */
  nodeArgs?: string[];
  /** The executable of another version; by default that of this version. */
  program?: string;
}

/** Starts a process of Parley. */
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
  process.once('exit', killNow); // an aborted run leaves no processes behind

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

/** The sum of a series over its labels, from the metrics' text. */
function sumOf(text: string, name: string, label: string): number {
  const lines = text.split('\n').filter(line => line.startsWith(name) && /^[{ ]/.test(line.slice(name.length)));
  return lines
    .filter(line => line.includes(label))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}
