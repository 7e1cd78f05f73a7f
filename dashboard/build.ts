/**
 * Builds the dashboard: `npm run build`. `start` and `serve` run this when the sources have changed.
 *
 * The output replaces the previous build by a rename, so that no process serves an incomplete build. Of several builds of the same
 * sources at the same time only the first is kept: replacing it would remove files that a page is loading.
 */
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';
import { builtHash, hashSources, PAGES_DIR, STAMP_FILE } from '../src/platform/pages-build.ts';
import { SERVED_PATHS } from './paths.ts';
import { viteConfig } from './vite.config.ts';

const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

/** Compresses each file once, at build time. */
function compress(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const content = readFileSync(path);
    writeFileSync(`${path}.br`, brotliCompressSync(content, BROTLI));
    writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
  }
}

// Regardless of the caller, such as tests: React, React Aria and Vite would otherwise produce a development build.
process.env.NODE_ENV = 'production';

const fresh = `${PAGES_DIR}.${process.pid}`;
const replaced = `${fresh}.old`;
const hash = hashSources(); // before the build: changes made during it trigger the next one
try {
  await build(viteConfig(fresh));
  compress(fresh);
  writeFileSync(join(fresh, 'paths.json'), JSON.stringify(SERVED_PATHS));
  writeFileSync(join(fresh, STAMP_FILE), hash);
  if (builtHash() !== hash) {
    if (existsSync(PAGES_DIR)) renameSync(PAGES_DIR, replaced);
    renameSync(fresh, PAGES_DIR);
  }
} finally {
  for (const folder of [fresh, replaced]) rmSync(folder, { recursive: true, force: true });
}
