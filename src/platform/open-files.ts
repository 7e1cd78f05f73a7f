import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { createThrottle, type Log } from './log.ts';

/** Whether this process can open files and sockets. */
export interface OpenFiles {
  /** Whether the last check found fewer than 16 file descriptors left. */
  areExhausted(): boolean;
  /** Faults for `/readyz`, one line each, until 10 s after the last such check. */
  degraded(): string[];
  close(): void;
}

const CHECK_EVERY_MS = 1000;
/** The number of descriptors to keep free. Below it, connections are closed while probes still get a descriptor. */
const SPARE = 16;
/** Connections are closed within a second, which is too short for probes every few seconds. */
const REPORT_FOR_MS = 10_000;
/** Descriptors reserved for stores, listeners, files and probes. PostgreSQL connections are added. */
const RESERVED = 256;
const MOST_CONNECTIONS = 10_000;

/** Returns the maximum number of file descriptors of this process; undefined where it is unknown (not Linux). */
export function fileLimit(): number | undefined {
  try {
    const found = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return found === undefined ? undefined : Number(found);
  } catch {
    return undefined; // not Linux
  }
}

/**
 * Returns how many client connections fit: 10,000, or as many as leave descriptors for everything else, but at least
 * half.
 */
export function maxConnectionsFor(files: number | undefined, databasePool: number): number {
  if (files === undefined) return MOST_CONNECTIONS;
  const reserved = Math.min(RESERVED + databasePool, Math.floor(files / 2));
  return Math.max(1, Math.min(MOST_CONNECTIONS, files - reserved));
}

const OUT_OF_FILES = new Set(['EMFILE', 'ENFILE']);

/**
 * Detects within a second that file descriptors run out, and logs it at most once a second.
 *
 * Node raises no error when accepting a connection fails for this reason: libuv closes it. So some files are opened
 * each second as a test.
 */
export function watchOpenFiles(log: Log, openOne = () => open('/dev/null'), now = () => performance.now()): OpenFiles {
  let exhausted = false;
  let reportUntil = Number.NEGATIVE_INFINITY;
  const throttle = createThrottle(1000, now);
  const enter = (isNow: boolean) => {
    exhausted = isNow;
    if (!isNow) return;
    reportUntil = now() + REPORT_FOR_MS;
    const text = 'out of file descriptors: closing idle connections';
    throttle('files', held => log.error({ limit: fileLimit(), left_less_than: SPARE, held_back: held }, text));
  };
  let timer: NodeJS.Timeout;
  let closed = false;
  const check = async () => {
    const opened = await Promise.allSettled(Array.from({ length: SPARE }, openOne));
    enter(opened.some(one => one.status === 'rejected' && OUT_OF_FILES.has(one.reason.code)));
    for (const one of opened) if (one.status === 'fulfilled') await one.value.close();
    if (closed) return;
    timer = setTimeout(check, CHECK_EVERY_MS);
    timer.unref();
  };
  void check();
  return {
    areExhausted: () => exhausted,
    degraded: () =>
      now() < reportUntil ? [`file descriptors: fewer than ${SPARE} of ${fileLimit() ?? 'the limit'} left`] : [],
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
