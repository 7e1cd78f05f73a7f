import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A small file system in an image file, which can be full and can lose unsynced writes. */
export interface Disk extends AsyncDisposable {
  /** The mount point. */
  folder: string;
  /** Writes the kernel's cache to the image. */
  sync(): Promise<void>;
  /** Fills it up to the last block. */
  fill(): Promise<void>;
  /** Frees the space used by `fill`. */
  free(): Promise<void>;
  /**
   * Returns a new disk with exactly the content that reached this one: writes since the last sync that are still in the
   * kernel's memory are missing. All writers must be stopped. The result is the state after a power cut.
   */
  afterPowerCut(): Promise<Disk>;
}

const canMakeDisks = (): boolean => process.platform === 'linux' && process.getuid?.() === 0;

/** The kernel commits the journal only after this time, so unsynced writes do not reach the image during a test. */
const COMMIT_SECONDS = 300;
const BALLAST = '.ballast';
/** Space left by the first write of `fill`, because a server may use some of it at the same time. */
const KEPT_FOR_WRITERS = 2_000_000;

/** Creates a disk of that size. Rejects if unsupported: it needs Linux, root and loop devices. */
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
  // A folder below the root, because servers do not expect `lost+found` among their data.
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
      // The rest block by block, because other programs write too. The expected failure is a full disk.
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

/** Copies a consistent image: retries if the kernel wrote to it during the copy. */
async function copyUnchanged(from: string, to: string): Promise<void> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const before = await stat(from, { bigint: true });
    await run('cp', ['--sparse=always', from, to]);
    const after = await stat(from, { bigint: true });
    if (before.mtimeNs === after.mtimeNs) return;
  }
  throw new Error('the disk never came to rest while it was copied');
}
