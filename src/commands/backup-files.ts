import { createHash } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { BackupDescription } from '../domain/backups.ts';
import { DAY_MS } from '../domain/durations.ts';

export const DATABASE_FILE = 'database.dump';
export const QUEUE_FILE = 'queue.rdb';
const DESCRIPTION_FILE = 'backup.json';
/** A backup that is not complete. */
export const PART_PREFIX = '.part-';
/** A part that no running backup can still be writing. */
const STALE_MS = DAY_MS;

/** Returns a backup's name: its start in UTC, such as `2026-11-24T19-20-00Z`, so that names sort by time. */
export const nameOf = (at: Date): string =>
  at
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '-');

const isName = (name: string): boolean => /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/.test(name);

/** Returns the complete backups in a folder, oldest first. */
export const listBackups = (folder: string): string[] =>
  readdirSync(folder)
    .filter(name => isName(name) && existsSync(join(folder, name, DESCRIPTION_FILE)))
    .toSorted();

/** Deletes the oldest backups beyond `keep`, and parts that were left a day ago. Returns the names. */
export function prune(folder: string, keep: number, now: Date): string[] {
  const parts = readdirSync(folder).filter(
    name => name.startsWith(PART_PREFIX) && now.getTime() - statSync(join(folder, name)).mtimeMs > STALE_MS,
  );
  const removed = [...parts, ...listBackups(folder).slice(0, -keep)];
  for (const name of removed) rmSync(join(folder, name), { recursive: true });
  return removed;
}

/** Writes a file's content to the disk, or a folder's entries. */
export async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Returns the size and the SHA-256 of a file. */
export async function fingerprint(path: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return { bytes: statSync(path).size, sha256: hash.digest('hex') };
}

const MAGIC = /^(REDIS|VALKEY)\d+/;
const END_OF_FILE = 0xff;
/** The end of an RDB file: the opcode, and a checksum of 8 bytes. */
const TRAILER_BYTES = 9;

/** Whether a file is a complete RDB file: its first and last bytes, since a truncated one lacks the latter. */
export function isCompleteRdb(path: string): boolean {
  const { size } = statSync(path);
  if (size < TRAILER_BYTES * 2) return false;
  const read = (bytes: number, position: number): Buffer => {
    const buffer = Buffer.alloc(bytes);
    readSync(file, buffer, 0, bytes, position);
    return buffer;
  };
  const file = openSync(path, 'r');
  try {
    return MAGIC.test(read(TRAILER_BYTES, 0).toString('latin1')) && read(1, size - TRAILER_BYTES)[0] === END_OF_FILE;
  } finally {
    closeSync(file);
  }
}

/** The path of a backup's description. */
export const descriptionOf = (backup: string): string => join(backup, DESCRIPTION_FILE);

/** Returns the folder of a backup: `from` itself, or the newest backup in it. Undefined without one. */
export function findBackup(from: string): string | undefined {
  if (existsSync(descriptionOf(from))) return from;
  const newest = existsSync(from) ? listBackups(from).at(-1) : undefined;
  return newest === undefined ? undefined : join(from, newest);
}

/** Reads a backup's description. Throws a sentence if it is damaged. */
export function readDescription(backup: string): BackupDescription {
  try {
    return BackupDescription.parse(JSON.parse(readFileSync(descriptionOf(backup), 'utf8')));
  } catch (cause) {
    throw new Error(`${basename(backup)}: backup.json is damaged`, { cause });
  }
}
