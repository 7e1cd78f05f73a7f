import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** The kernel counts CPU time in ticks of a hundredth of a second, on every architecture that Node runs on. */
const TICKS_A_SECOND = 100;
/** Above this share of one core that nobody here used, a run counts as noisy. */
export const NOISE_LIMIT = 0.25;

const QUIET_WITHIN_MS = 5000;
const LISTEN_MS = 500;

interface ProcessTimes {
  pid: number;
  parent: number;
  /** Own time and that of children that have ended, in seconds. */
  seconds: number;
}

/** Whether this machine tells of its processes as Linux does; without it there is no CPU and no memory figure. */
export const hasProc = process.platform === 'linux';

function readTimes(pid: number): ProcessTimes | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined; // it ended between the listing and now
  }
  // Fields from the third on; the second, the name, may hold spaces and parentheses (proc(5)).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0);
  return { pid, parent: Number(fields[1]), seconds: ticks / TICKS_A_SECOND };
}

const readAllTimes = (): ProcessTimes[] =>
  readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(name => readTimes(Number(name)) ?? []);

/** CPU seconds of a process and everything below it, the ended included; it only grows while the process lives. */
export function treeSeconds(root: number, all = readAllTimes()): number {
  const tree = new Set([root]);
  for (let before = 0; before !== tree.size; ) {
    before = tree.size;
    for (const { pid, parent } of all) if (tree.has(parent)) tree.add(pid);
  }
  return all.filter(({ pid }) => tree.has(pid)).reduce((sum, { seconds }) => sum + seconds, 0);
}

/** CPU seconds that all cores together were busy since the machine started, or taken by other guests of its host. */
function busySeconds(): number {
  const [, user, nice, system, , , irq, softirq, steal] = (readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? '')
    .split(/\s+/)
    .map(Number);
  return (
    [user, nice, system, irq, softirq, steal].reduce<number>((sum, ticks) => sum + (ticks ?? 0), 0) / TICKS_A_SECOND
  );
}

/** What a run cost. */
export interface Cost {
  seconds: number;
  /** CPU seconds by role. */
  cpu: Record<string, number>;
  /** CPU of this command and the load generator. */
  load: number;
  /** What everything else on the machine used, in cores. */
  other: number;
}

/** Root processes by role: `api`, `worker`, `queue`, `database`. */
export type Roles = Record<string, number | undefined>;

/** Reads the CPU time of everyone now, and of everyone again when it is stopped. Costs a few milliseconds itself. */
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

/** Waits, at most five seconds, until the rest of the machine uses less than a quarter of a core. */
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

/** The memory that a process holds now, in MB; not a number where the machine does not tell. */
export const residentMb = (pid: number): number => (hasProc ? statusField(pid, 'VmRSS') : Number.NaN);

/** The most memory that a process ever held, in MB. */
export const peakMb = (pid: number): number => (hasProc ? statusField(pid, 'VmHWM') : Number.NaN);

/** The machine in a line. */
export const describeMachine = (): string =>
  `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown processor'}, Node ${process.version}`;
