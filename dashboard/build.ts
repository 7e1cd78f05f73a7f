/**
 * Builds the pages: `npm run build`. `start` and `serve` do it by themselves when the sources have changed.
 *
 * They are built and compressed beside the old ones and take their place by a rename, so that no process serves a half.
 */
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';
import { hashSources, PAGES_DIR, STAMP_FILE } from '../src/platform/pages-build.ts';
import { PATHS } from './paths.ts';
import { viteConfig } from './vite.config.ts';

const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

/** Each file also compressed, once, rather than for each reader. */
function compress(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const content = readFileSync(path);
    writeFileSync(`${path}.br`, brotliCompressSync(content, BROTLI));
    writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
  }
}

// Whoever starts the build, such as tests: React, React Aria and Vite all look at it and would build something else.
process.env.NODE_ENV = 'production';

const fresh = `${PAGES_DIR}.${process.pid}`;
const hash = hashSources(); // before they are read: what changes meanwhile is built the next time
try {
  await build(viteConfig(fresh));
  compress(fresh);
  writeFileSync(join(fresh, 'paths.json'), JSON.stringify(Object.values(PATHS)));
  writeFileSync(join(fresh, STAMP_FILE), hash);
  rmSync(PAGES_DIR, { recursive: true, force: true });
  renameSync(fresh, PAGES_DIR);
} finally {
  rmSync(fresh, { recursive: true, force: true });
}
