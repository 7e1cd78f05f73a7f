import { statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, resolve } from 'node:path';
import { listenOptions } from './listen-address.ts';

/** A fault of the machine that prevents a start, in one line with its remedy. */
export class MachineFault extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'MachineFault';
  }
}

const MB = 1024 * 1024;
/** Free space for a new database with its first write-ahead log, and for an existing one. */
const NEW_DATABASE_MB = 256;
const EXISTING_DATABASE_MB = 32;

interface SystemError extends NodeJS.ErrnoException {
  address?: string;
  port?: number;
}

const describe: Record<string, (error: SystemError) => string> = {
  EADDRINUSE: ({ address, port }) =>
    `Another process uses port ${port} of ${address}. Stop it, or choose another port with PORT or METRICS_PORT.`,
  EADDRNOTAVAIL: ({ address }) => `This machine does not have the address ${address}. Correct HOST.`,
  ENOSPC: ({ path }) =>
    `The disk is full${path ? `: ${path} cannot be written` : ''}. Free disk space and start again.`,
  ENOENT: ({ path }) => `${path} does not exist.`,
  ENOTDIR: ({ path }) => `${path} is not a folder, or is in a file that is not one.`,
  EISDIR: ({ path }) => `${path} is a folder, not a file.`,
  EEXIST: ({ path }) => `${path} exists already, and is not a folder.`,
  EROFS: ({ path }) =>
    `The file system is read-only${path ? `: ${path} cannot be written` : ''}. Set DATA_DIR to a writable folder.`,
  EACCES: ({ path, address, port }) =>
    port === undefined
      ? `The user of this process has no access to ${path}. Correct its owner or permissions.`
      : `The user of this process may not open port ${port} of ${address}. Choose a port above 1023.`,
};

/** Returns a line for an error that the machine caused, directly or as the cause of another error. */
export function describeMachineFault(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code, syscall } = cause as SystemError;
    if (cause instanceof MachineFault) return cause.message;
    if (code && syscall && Object.hasOwn(describe, code)) return describe[code]?.(cause);
    if (/no space left on device/i.test(cause.message)) return `${describe.ENOSPC?.(cause)} (${lineOf(cause.message)})`;
  }
  return undefined;
}

const lineOf = (text: string): string =>
  text
    .split('\n')
    .find(line => /no space left/i.test(line))
    ?.trim() ?? '';

/** A port that a process is about to open, and the setting that chooses it. */
export interface WantedPort {
  setting: 'PORT' | 'METRICS_PORT';
  port: number;
}

/** Rejects with a `MachineFault` unless every port can be opened. Ports of 0 are chosen by the kernel. */
export async function requireFreePorts(host: string, wanted: WantedPort[]): Promise<void> {
  const fixed = wanted.filter(({ port }) => port !== 0);
  const [first, second] = fixed;
  if (first && second?.port === first.port)
    throw new MachineFault(
      `${first.setting} and ${second.setting} are both ${first.port}. Set one of them to another port.`,
    );
  for (const { setting, port } of fixed) await requireFreePort(host, port, setting);
}

const requireFreePort = (host: string, port: number, setting: string): Promise<void> =>
  new Promise((done, fail) => {
    const server = createServer();
    server.once('error', (error: SystemError) => {
      const line =
        error.code === 'EADDRINUSE'
          ? `Another process uses port ${port} of ${host}. Stop it, or set ${setting} to another port.`
          : describeMachineFault(error);
      fail(line ? new MachineFault(line, { cause: error }) : error);
    });
    server.listen(listenOptions(port, host), () => server.close(() => done()));
  });

/** Returns the free bytes of the disk on which a folder is, or will be created. */
async function freeBytesAt(folder: string): Promise<number> {
  for (let at = resolve(folder); ; at = dirname(at))
    try {
      const { bavail, bsize } = await statfs(at);
      return bavail * bsize;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || at === dirname(at)) throw error;
    }
}

/**
 * Rejects with a `MachineFault` if the disk of `DATA_DIR` has too little space for the embedded PostgreSQL, which would
 * otherwise stop while it creates its files.
 */
export async function requireDiskSpace(dataDir: string, isNew: boolean, freeBytes = freeBytesAt): Promise<void> {
  const neededMb = isNew ? NEW_DATABASE_MB : EXISTING_DATABASE_MB;
  const freeMb = Math.floor((await freeBytes(dataDir)) / MB);
  if (freeMb < neededMb)
    throw new MachineFault(
      `The disk of ${resolve(dataDir)} has ${freeMb} MB left, and the embedded PostgreSQL needs ${neededMb} MB. Free disk space, or set DATA_DIR to a folder on another disk.`,
    );
}
