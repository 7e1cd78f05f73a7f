import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Log } from './log.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const SOURCES_DIR = join(ROOT, 'dashboard');
const BUILDER = join(SOURCES_DIR, 'build.ts');

/** The folder of the built dashboard. */
export const PAGES_DIR = join(SOURCES_DIR, 'built');

/** Contains the hash of the sources; written last. */
export const STAMP_FILE = 'sources.sha256';

/** The card view of the JavaScript client, which the preview of a question shows. */
const CLIENT_DIR = join(ROOT, 'clients/javascript/src');

const isSource = (path: string): boolean => !/^dashboard\/built(\.\d+(\.old)?)?(\/|$)/.test(path);

/** Returns the paths of all files below a folder, relative to the root. */
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(ROOT.length + 1));

/** Returns a hash of the dashboard's sources: its own files, those of the JavaScript client, and the locked packages. */
export function hashSources(): string {
  const hash = createHash('sha256').update(readFileSync(join(ROOT, 'package-lock.json')));
  const files = [...filesIn(SOURCES_DIR), ...filesIn(CLIENT_DIR)].filter(isSource);
  for (const file of files.sort()) hash.update(`\0${file}\0`).update(readFileSync(join(ROOT, file)));
  return hash.digest('hex');
}

/** Returns the hash of the sources of the built dashboard; undefined while it is not built. */
export function builtHash(): string | undefined {
  const stamp = join(PAGES_DIR, STAMP_FILE);
  return existsSync(stamp) ? readFileSync(stamp, 'utf8') : undefined;
}

export interface PagesBuild {
  /** Resolves when the dashboard is built, or the build has failed; the log has the reason. */
  done: Promise<void>;
  /** Aborts the build. */
  stop(): Promise<void>;
}

/**
 * Builds the dashboard in a separate process if it is missing or outdated.
 *
 * The image contains a built dashboard without sources, so there it is not built.
 */
export function startPagesBuild(log: Log): PagesBuild {
  if (!existsSync(BUILDER) || hashSources() === builtHash())
    return { done: Promise.resolve(), stop: () => Promise.resolve() };
  log.info('building the dashboard (first start only)');
  const child = spawn(process.execPath, [BUILDER], { stdio: ['ignore', 'ignore', 'pipe'] });
  let complaint = '';
  child.stderr.on('data', chunk => (complaint += chunk));
  const done = new Promise<void>(resolve => {
    child.once('error', error => (complaint = error.message));
    child.once('close', (code, signal) => {
      if (code === 0) log.info('dashboard built');
      else if (!signal) log.error({ reason: complaint.trim().slice(0, 2000) }, 'dashboard build failed');
      resolve();
    });
  });
  const stop = () => {
    child.kill();
    return done;
  };
  return { done, stop };
}
