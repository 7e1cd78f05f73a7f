import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { createThrottle, type Log } from './log.ts';

/** Whether this process can open files and sockets. */
export interface OpenFiles {
  /** Whether the last look found fewer than 16 file descriptors left. */
  areExhausted(): boolean;
  /** What `/readyz` reports, a line each, until 10 s after the last such look. */
  degraded(): string[];
  close(): void;
}

const LOOK_EVERY_MS = 1000;
/** So many have to be free. Below that connections are given up, while probes still get a descriptor. */
const SPARE = 16;
/** Connections are given up within a second, so the state itself is too short for whoever asks every few seconds. */
const REPORT_FOR_MS = 10_000;
/** Descriptors kept free of client connections: stores, listeners, files, probes. Connections to PostgreSQL come on top. */
const RESERVED = 256;
const MOST_CONNECTIONS = 10_000;

/** The most file descriptors that the operating system allows this process; undefined where it does not say (not Linux). */
export function fileLimit(): number | undefined {
  try {
    const found = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return found === undefined ? undefined : Number(found);
  } catch {
    return undefined; // not Linux
  }
}

/** How many client connections fit: 10,000, or as many as leave descriptors for everything else, at least half of them. */
export function connectionsWithin(files: number | undefined, databasePool: number): number {
  if (files === undefined) return MOST_CONNECTIONS;
  const reserved = Math.min(RESERVED + databasePool, Math.floor(files / 2));
  return Math.max(1, Math.min(MOST_CONNECTIONS, files - reserved));
}

const OUT_OF_FILES = new Set(['EMFILE', 'ENFILE']);

/**
 * Notices within a second that file descriptors run out, and logs it at most once a second.
 *
 * An accept that fails for it raises no error in Node: libuv closes the connection. So some files are opened each second.
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
  const look = async () => {
    const opened = await Promise.allSettled(Array.from({ length: SPARE }, openOne));
    enter(opened.some(one => one.status === 'rejected' && OUT_OF_FILES.has(one.reason.code)));
    for (const one of opened) if (one.status === 'fulfilled') await one.value.close();
    if (closed) return;
    timer = setTimeout(look, LOOK_EVERY_MS);
    timer.unref();
  };
  void look();
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
