import { existsSync, readFileSync } from 'node:fs';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const manifest = JSON.parse(read('package.json')) as { version: string };

/** Written next to package.json when an image is built from a known commit. */
const COMMIT_FILE = '.commit';
const commit = existsSync(new URL(`../../${COMMIT_FILE}`, import.meta.url)) ? read(COMMIT_FILE).trim() : 'unknown';

/** The running build. */
export const BUILD = { version: manifest.version, commit, node: process.versions.node } as const;
