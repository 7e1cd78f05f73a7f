import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createQueue, type Entry, type OutboxStorage } from './storage.ts';

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

/** Reads a file; undefined if it has been removed since the listing. */
async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Creates a storage in a folder for Node, with one file per answer. Only one process may use the folder at a time.
 *
 * Files are written, synced and renamed, so that a kill leaves either the old or the new version.
 */
export function fileStorage(folder: string): OutboxStorage {
  const ready = prepare(folder);
  const pathOf = (id: string) => join(folder, `${encodeURIComponent(id)}.json`);
  return {
    async list() {
      await ready;
      const names = (await readdir(folder)).filter(name => name.endsWith('.json'));
      const texts = await Promise.all(names.map(name => readIfThere(join(folder, name))));
      return texts.flatMap(text => (text === undefined ? [] : [JSON.parse(text) as Entry]));
    },
    async put(entry) {
      await ready;
      await writeDurably(pathOf(entry.id), JSON.stringify(entry));
      await syncFolder(folder);
    },
    async remove(id) {
      await ready;
      await rm(pathOf(id), { force: true });
    },
    exclusively: createQueue(),
  };
}
