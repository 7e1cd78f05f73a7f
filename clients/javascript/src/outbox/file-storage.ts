import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createQueue, type Entry, type OutboxStorage } from './storage.ts';

/** Makes what happened to a folder durable: a new name in it is lost with the power otherwise. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return; // there a folder can't be opened
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

/** Makes the folder, and takes away what a kill left half written. */
async function prepare(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const halves = (await readdir(folder)).filter(name => name.endsWith('.part'));
  await Promise.all(halves.map(name => rm(join(folder, name), { force: true })));
}

/** A file that may have been removed since the folder was looked at. */
async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * A storage in a folder, a file for each answer, for Node. The folder belongs to one process at a time.
 *
 * A file is written whole, synced, and put in place by a rename, so that a kill at any moment leaves the old or the new.
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
