import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A small file system of its own, in an image file: it can be full, and it can lose what was not synced. */
export interface Disk extends AsyncDisposable {
  /** Where it is mounted. */
  folder: string;
  /** Writes out all that the kernel holds back. */
  sync(): Promise<void>;
  /** Fills it up to the last block. */
  fill(): Promise<void>;
  /** Frees what `fill` took. */
  free(): Promise<void>;
  /**
   * A new disk with exactly what has reached this one: every write since the last sync that the kernel still holds in
   * memory is missing. All who write to it must have been stopped. This is what a power cut leaves.
   */
  afterPowerCut(): Promise<Disk>;
}

const canMakeDisks = (): boolean => process.platform === 'linux' && process.getuid?.() === 0;

/** The kernel writes the journal by itself only after so many seconds: nothing unsynced gets to the image in time. */
const COMMIT_SECONDS = 300;
const BALLAST = '.ballast';
/** What the first stroke leaves, because a server may take some of it in the same moment. */
const KEPT_FOR_WRITERS = 2_000_000;

/** A disk of that size. Rejects where none can be made: it takes Linux, root and loop devices. */
export async function createDisk(megabytes: number): Promise<Disk> {
  if (!canMakeDisks()) throw new Error('a disk of its own needs Linux and root, for loop devices');
  const place = await mkdtemp(join(tmpdir(), 'parley-disk-'));
  const image = join(place, 'image');
  await writeFile(image, '');
  await truncate(image, megabytes * 1024 * 1024);
  await run('mkfs.ext4', ['-q', '-F', '-m', '0', image]);
  return mountDisk(place, image);
}

async function mountDisk(place: string, image: string): Promise<Disk> {
  const mounted = join(place, 'mounted');
  await mkdir(mounted);
  await run('mount', ['-o', `loop,commit=${COMMIT_SECONDS},noatime`, image, mounted]);
  // A folder below the root of the file system: its `lost+found` is nothing that a server expects among its data.
  const folder = join(mounted, 'data');
  await mkdir(folder, { recursive: true });
  const ballast = join(mounted, BALLAST);
  return {
    folder,
    sync: async () => void (await run('sync', ['--file-system', folder])),
    async fill() {
      const { stdout } = await run('df', ['--output=avail', '-B1', mounted]);
      const most = Number(stdout.split('\n')[1]) - KEPT_FOR_WRITERS;
      if (most > 0) await run('fallocate', ['-l', String(most), ballast]);
      // The rest block by block, since others write meanwhile; that it ends for want of space is what it is for.
      const last = await run('dd', ['if=/dev/zero', `of=${ballast}`, 'oflag=append', 'conv=notrunc', 'bs=4k']).catch(
        (error: Error) => error,
      );
      if (!(last instanceof Error && /No space left/.test(last.message))) throw new Error('the disk did not fill up');
    },
    free: () => rm(ballast),
    async afterPowerCut() {
      const after = await mkdtemp(join(tmpdir(), 'parley-disk-'));
      await copyUnchanged(image, join(after, 'image'));
      return mountDisk(after, join(after, 'image'));
    },
    async [Symbol.asyncDispose]() {
      await run('umount', ['--lazy', mounted]);
      await rm(place, { recursive: true, force: true });
    },
  };
}

/** Copies an image of one moment: again, when the kernel wrote to it meanwhile. */
async function copyUnchanged(from: string, to: string): Promise<void> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const before = await stat(from, { bigint: true });
    await run('cp', ['--sparse=always', from, to]);
    const after = await stat(from, { bigint: true });
    if (before.mtimeNs === after.mtimeNs) return;
  }
  throw new Error('the disk never came to rest while it was copied');
}
