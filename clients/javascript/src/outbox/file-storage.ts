import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { toJson } from '../json.ts';
import { createQueue, type DamagedEntry, type Entry, type OutboxStorage, type UnreadEntry } from './storage.ts';

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

/** Reads an entry; none if it has been removed since the listing. Only a file whose content is no entry is damaged. */
async function readEntry(path: string, id: string): Promise<(Entry | DamagedEntry | UnreadEntry)[]> {
  try {
    const entry = JSON.parse(await readFile(path, 'utf8')) as Entry | null;
    return [entry?.id === id ? entry : { id }];
  } catch (failure) {
    if (failure instanceof SyntaxError) return [{ id }];
    return (failure as NodeJS.ErrnoException).code === 'ENOENT' ? [] : [{ id, failure }];
  }
}

/** Returns the id that a file is named after; undefined for a file that is not of this storage. */
function idOf(name: string): string | undefined {
  try {
    return name.endsWith('.json') ? decodeURIComponent(name.slice(0, -'.json'.length)) : undefined;
  } catch {
    return undefined; // a malformed escape, which `encodeURIComponent` does not make
  }
}

/**
 * Creates a storage in a folder for Node, with one file per answer. Only one process may use the folder at a time.
 *
 * Files are written, synced and renamed, so that a kill leaves either the old or the new version. Files that contain no
 * entry are renamed to `<id>.json.damaged`; those that cannot be read for a moment stay.
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
      const entries = [];
      for (const file of await readdir(folder, { withFileTypes: true })) {
        const id = file.isFile() ? idOf(file.name) : undefined;
        if (id !== undefined) entries.push(...(await readEntry(join(folder, file.name), id)));
      }
      return entries;
    },
    async put(entry) {
      await ready();
      await writeDurably(pathOf(entry.id), toJson(entry));
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
