import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** The kernel counts CPU time in ticks of 10 ms on every architecture that Node supports. */
const TICKS_A_SECOND = 100;
/** A run counts as noisy if other programs use more than this share of one core. */
export const NOISE_LIMIT = 0.25;

const QUIET_WITHIN_MS = 5000;
const LISTEN_MS = 500;

interface ProcessTimes {
  pid: number;
  parent: number;
  /** CPU time of the process and of its ended children, in seconds. */
  seconds: number;
}

/** Whether the machine has Linux's `/proc`. Without it there are no CPU and memory figures. */
export const hasProc = process.platform === 'linux';

function readTimes(pid: number): ProcessTimes | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined; // the process ended after the listing
  }
  // Fields from the third on. The second, the name, may contain spaces and parentheses (proc(5)).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0);
  return { pid, parent: Number(fields[1]), seconds: ticks / TICKS_A_SECOND };
}

const readAllTimes = (): ProcessTimes[] =>
  readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(name => readTimes(Number(name)) ?? []);

/**
 * Returns the CPU seconds of a process and its descendants, including those that have ended. Only grows while it lives.
 */
export function treeSeconds(root: number, all = readAllTimes()): number {
  const tree = new Set([root]);
  for (let before = 0; before !== tree.size; ) {
    before = tree.size;
    for (const { pid, parent } of all) if (tree.has(parent)) tree.add(pid);
  }
  return all.filter(({ pid }) => tree.has(pid)).reduce((sum, { seconds }) => sum + seconds, 0);
}

/** CPU seconds that all cores together were busy since boot, including time stolen by other guests of the host. */
function busySeconds(): number {
  const [, user, nice, system, , , irq, softirq, steal] = (readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? '')
    .split(/\s+/)
    .map(Number);
  return (
    [user, nice, system, irq, softirq, steal].reduce<number>((sum, ticks) => sum + (ticks ?? 0), 0) / TICKS_A_SECOND
  );
}

/** The CPU time of a run. */
export interface Cost {
  seconds: number;
  /** CPU seconds by role. */
  cpu: Record<string, number>;
  /** CPU seconds of this command and the load generator. */
  load: number;
  /** Usage by all other programs, in cores. */
  other: number;
}

/** Root processes by role: `api`, `worker`, `queue`, `database`. */
export type Roles = Record<string, number | undefined>;

/** Reads the CPU times now and again when the returned function is called. A reading takes a few milliseconds. */
export function startMeter(roles: Roles): () => Cost {
  const startedAt = performance.now();
  if (!hasProc) return () => ({ seconds: (performance.now() - startedAt) / 1000, cpu: {}, load: 0, other: 0 });
  const read = () => {
    const all = readAllTimes();
    const cpu = Object.entries(roles).flatMap(([role, pid]) => (pid ? [[role, treeSeconds(pid, all)] as const] : []));
    return { cpu, load: readTimes(process.pid)?.seconds ?? 0, busy: busySeconds() };
  };
  const before = read();
  return () => {
    const seconds = (performance.now() - startedAt) / 1000;
    const after = read();
    const cpu = Object.fromEntries(
      after.cpu.map(([role, used], index) => [role, used - (before.cpu[index]?.[1] ?? 0)]),
    );
    const load = after.load - before.load;
    const ours = Object.values(cpu).reduce((sum, used) => sum + used, load);
    return { seconds, cpu, load, other: Math.max(0, (after.busy - before.busy - ours) / seconds) };
  };
}

/** Waits up to five seconds until other programs use less than a quarter of a core. */
export async function awaitQuiet(roles: Roles): Promise<void> {
  for (const deadline = Date.now() + QUIET_WITHIN_MS; Date.now() < deadline; ) {
    const stop = startMeter(roles);
    await sleep(LISTEN_MS);
    if (stop().other < NOISE_LIMIT) return;
  }
}

const statusField = (pid: number, name: string): number => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(status.match(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm'))?.[1] ?? Number.NaN) / 1024;
};

/** The current memory of a process in MB; NaN on machines without `/proc`. */
export const residentMb = (pid: number): number => (hasProc ? statusField(pid, 'VmRSS') : Number.NaN);

/** The peak memory of a process in MB. */
export const peakMb = (pid: number): number => (hasProc ? statusField(pid, 'VmHWM') : Number.NaN);

/** Describes the machine in one line. */
export const describeMachine = (): string =>
  `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown processor'}, Node ${process.version}`;
