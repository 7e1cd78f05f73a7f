import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createQueue, type DamagedEntry, type Entry, type OutboxStorage } from './storage.ts';

/** Syncs a folder, so that new entries survive a power failure. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return; // folders cannot be opened on Windows
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}

async function writeDurably(path: string, text: string): Promise<void> {
  const handle = await open(`${path}.part`, 'w', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(`${path}.part`, path);
}

/** Creates the folder and removes incomplete files of killed processes. */
async function prepare(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const halves = (await readdir(folder)).filter(name => name.endsWith('.part'));
  await Promise.all(halves.map(name => rm(join(folder, name), { force: true })));
}

/** Errors that pass: too many open files, an interrupted or busy device. */
const PASSING = ['EMFILE', 'ENFILE', 'EAGAIN', 'EBUSY', 'EINTR'];

/** Reads an entry; none if it has been removed since the listing. */
async function readEntry(path: string, id: string): Promise<(Entry | DamagedEntry)[]> {
  try {
    const entry = JSON.parse(await readFile(path, 'utf8')) as Entry | null;
    return [entry?.id === id ? entry : { id }];
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return [];
    if (PASSING.includes(code)) throw error;
    return [{ id }];
  }
}

/**
 * Creates a storage in a folder for Node, with one file per answer. Only one process may use the folder at a time.
 *
 * Files are written, synced and renamed, so that a kill leaves either the old or the new version. Files that cannot be
 * read are renamed to `<id>.json.damaged`.
 */
export function fileStorage(folder: string): OutboxStorage {
  let prepared: Promise<void> | undefined;
  /** Prepares the folder once; after a failure, again. */
  const ready = async (): Promise<void> => {
    prepared ??= prepare(folder);
    await prepared.catch(error => {
      prepared = undefined;
      throw error;
    });
  };
  const pathOf = (id: string) => join(folder, `${encodeURIComponent(id)}.json`);
  return {
    async list() {
      await ready();
      const names = (await readdir(folder)).filter(name => name.endsWith('.json'));
      const read = names.map(name => readEntry(join(folder, name), decodeURIComponent(name.slice(0, -'.json'.length))));
      return (await Promise.all(read)).flat();
    },
    async put(entry) {
      await ready();
      await writeDurably(pathOf(entry.id), JSON.stringify(entry));
      await syncFolder(folder);
    },
    async remove(id) {
      await ready();
      await rm(pathOf(id), { force: true });
    },
    setAside: id => rename(pathOf(id), `${pathOf(id)}.damaged`),
    exclusively: createQueue(),
  };
}
