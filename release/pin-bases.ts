/**
 * Pins base images by digest: `node release/pin-bases.ts [--mirror REGISTRY/library] [--check]`.
 *
 * Asks the registry for the digest of each tag in the Dockerfiles and writes `name:tag@sha256:…`. The tag is kept for
 * readers, and for Renovate (renovate.json), which updates tag and digest. `--check` only lists the images that are not
 * pinned. Needs skopeo and a registry, so `npm run release` only reports tags without a digest.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isLocal } from './evidence.ts';
import { Refusal, ROOT, run, say } from './steps.ts';

/** The files with base images. */
export const DOCKERFILES = ['Dockerfile', 'config/backup/Dockerfile', 'config/haproxy/Dockerfile'];

const BASE = /^FROM (?!\$)([\w./-]+:[\w.-]+)(@sha256:[0-9a-f]{64})?/gm;

/** The base images of a Dockerfile without a digest, each once. */
export const unpinned = (dockerfile: string): string[] => [
  ...new Set([...dockerfile.matchAll(BASE)].flatMap(([, name, digest]) => (digest ? [] : [name as string]))),
];

/** Returns a Dockerfile in which each base image has the digest that `digestOf` returns for its tag. */
export const pin = (dockerfile: string, digestOf: (name: string) => string): string =>
  dockerfile.replaceAll(BASE, (_, name: string) => `FROM ${name}@${digestOf(name)}`);

/** Returns the digest of a tag in a registry; of its index if it has several architectures. */
function readDigest(name: string, mirror: string): string {
  const reference = `${mirror}/${name}`;
  const insecure = isLocal(mirror) ? ['--tls-verify=false'] : [];
  const digest = run('skopeo', [
    'inspect',
    '--no-tags',
    ...insecure,
    '--format',
    '{{.Digest}}',
    `docker://${reference}`,
  ]);
  if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new Refusal(`${reference} has no digest.`);
  return digest;
}

/** Lists the base images of all Dockerfiles without a digest. */
export const unpinnedBases = (): string[] => [
  ...new Set(DOCKERFILES.flatMap(file => unpinned(readFileSync(join(ROOT, file), 'utf8')))),
];

function main(): void {
  const { values } = parseArgs({
    options: { mirror: { type: 'string', default: 'docker.io' }, check: { type: 'boolean', default: false } },
  });
  if (values.check) {
    const names = unpinnedBases();
    if (names.length > 0) throw new Refusal(`not pinned by digest: ${names.join(', ')}`);
    return;
  }
  for (const file of DOCKERFILES) {
    const path = join(ROOT, file);
    const text = pin(readFileSync(path, 'utf8'), name =>
      readDigest(name.includes('/') || values.mirror !== 'docker.io' ? name : `library/${name}`, values.mirror),
    );
    writeFileSync(path, text);
    say(`pinned ${file}`);
  }
}

if (import.meta.main) {
  try {
    main();
  } catch (error) {
    process.stderr.write(`release: ${error instanceof Refusal ? error.message : (error as Error).stack}\n`);
    process.exitCode = 1;
  }
}
