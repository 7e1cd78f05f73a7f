import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Build, Image } from './image.ts';
import type { Owner } from './owner.ts';
import { ROOT, run } from './steps.ts';

/** Writes the bill of materials of one architecture (SPDX): npm's packages, Debian's, and Node itself. */
export function writeBillOfMaterials(layout: string, architecture: string, file: string): void {
  run('syft', ['scan', `oci-dir:${layout}`, '--platform', `linux/${architecture}`, '--output', `spdx-json=${file}`], {
    SYFT_CHECK_FOR_APP_UPDATE: 'false',
  });
}

/** An input of a build. Its digest is missing if it was not pulled from a registry. */
interface Dependency {
  uri: string;
  digest?: Record<string, string>;
}

/** Returns the base images of an image's Dockerfile, with the digests that this machine used. */
function findBases({ context }: Image): Dependency[] {
  const names = readFileSync(join(ROOT, context, 'Dockerfile'), 'utf8').matchAll(/^FROM (\S+:\S+)/gm);
  return [...new Set([...names].map(([, name]) => name as string))].map(name => {
    const [repoDigest] =
      JSON.parse(run('docker', ['image', 'inspect', name, '--format', '{{json .RepoDigests}}'])) ?? [];
    const [tag, pinned] = name.split('@sha256:');
    const sha256 = pinned ?? repoDigest?.split('@sha256:')[1];
    return { uri: `docker.io/library/${tag}`, ...(sha256 && { digest: { sha256 } }) };
  });
}

/** What the provenance of an image states. */
export interface Origin {
  image: Image;
  build: Build;
  owner: Owner;
  /** The reference of Parley's own image, by digest, for an image that is built from it. */
  parley?: string | undefined;
}

/** Writes the provenance of an image as a predicate of SLSA 1: commit, parameters, base images and builder. */
export function writeProvenance(
  { image, build: { version, commit, epoch }, owner, parley }: Origin,
  file: string,
): void {
  const source = { uri: `git+${owner.source}`, digest: { gitCommit: commit } };
  const [uri, sha256] = parley?.split('@sha256:') ?? [];
  const ofParley: Dependency[] = uri && sha256 ? [{ uri, digest: { sha256 } }] : [];
  const predicate = {
    buildDefinition: {
      buildType: `${owner.source}/release/image.ts`,
      externalParameters: { image: image.name, version, SOURCE_DATE_EPOCH: epoch },
      internalParameters: {},
      resolvedDependencies: [source, ...findBases(image), ...ofParley],
    },
    runDetails: { builder: { id: owner.home }, metadata: { startedOn: new Date().toISOString() } },
  };
  writeFileSync(file, JSON.stringify(predicate, null, 2));
}

/** Settings of cosign for a key of one's own, without the public transparency log. */
const OFFLINE = ['--tlog-upload=false', '--use-signing-config=false', '--new-bundle-format=false', '--yes'];

/** Whether a registry is on this machine, where it may lack TLS. */
export const isLocal = (registry: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+)(:|\/|$)/.test(registry);

const insecure = (reference: string): string[] => (isLocal(reference) ? ['--allow-http-registry'] : []);

/** Signs an artifact of a registry by its digest. The key's password is in `COSIGN_PASSWORD`. */
export const sign = (reference: string, key: string): string =>
  run('cosign', ['sign', '--key', key, '--recursive', ...insecure(reference), ...OFFLINE, reference]);

/** Attaches a signed statement to an image: its bill of materials, or its provenance. */
export const attest = (
  reference: string,
  key: string,
  type: 'spdxjson' | 'slsaprovenance1',
  predicate: string,
): string =>
  run('cosign', [
    'attest',
    '--key',
    key,
    '--type',
    type,
    '--predicate',
    predicate,
    ...insecure(reference),
    ...OFFLINE,
    reference,
  ]);
