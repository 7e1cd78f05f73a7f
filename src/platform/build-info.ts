import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** What runs: the version of the package, and the commit where the image was built with one. */
export const BUILD = { version: manifest.version, node: process.versions.node } as const;
