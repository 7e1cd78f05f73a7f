import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, say } from './steps.ts';

/** An image of one commit. */
export interface Build {
  version: string;
  commit: string;
  /** Time of the commit in seconds; the time of every file in the image's layer `/app`. */
  epoch: string;
}

interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
  platform?: { os: string; architecture: string };
  annotations?: Record<string, string>;
}

const NATIVE = { x64: 'amd64', arm64: 'arm64' }[process.arch as 'x64' | 'arm64'] ?? process.arch;
const EMULATORS = '/proc/sys/fs/binfmt_misc';
const EMULATOR_NAMES: Record<string, string> = { arm64: 'qemu-aarch64', amd64: 'qemu-x86_64' };

/** Returns the architectures that this machine can build, and reports the others. */
export function findArchitectures(): string[] {
  const emulated = existsSync(EMULATORS) ? readdirSync(EMULATORS) : [];
  return ['amd64', 'arm64'].filter(architecture => {
    const canRun = architecture === NATIVE || emulated.includes(EMULATOR_NAMES[architecture] ?? '');
    if (!canRun)
      say(`linux/${architecture} is SKIPPED, because this machine has no emulation of it (binfmt, qemu-user)`);
    return canRun;
  });
}

/** Builds the image of one architecture into the OCI layout `layout`, under the tag of its architecture. */
function buildOne({ version, commit, epoch }: Build, architecture: string, layout: string): Descriptor {
  const image = `parley-release:${version}-${architecture}`;
  const settings = [`REVISION=${commit}`, `SOURCE_DATE_EPOCH=${epoch}`].flatMap(value => ['--build-arg', value]);
  const network = process.env.RELEASE_BUILD_NETWORK ? ['--network', process.env.RELEASE_BUILD_NETWORK] : [];
  run('docker', ['build', ...network, '--platform', `linux/${architecture}`, ...settings, '--tag', image, '.']);
  const archive = join(layout, '..', `${architecture}.tar`);
  run('docker', ['save', '--output', archive, image]);
  run('skopeo', ['copy', '--quiet', `docker-archive:${archive}`, `oci:${layout}:${architecture}`]);
  rmSync(archive);
  const { manifests } = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8')) as { manifests: Descriptor[] };
  const name = 'org.opencontainers.image.ref.name';
  const { mediaType, digest, size } = manifests.find(
    ({ annotations }) => annotations?.[name] === architecture,
  ) as Descriptor;
  return { mediaType, digest, size, platform: { os: 'linux', architecture } };
}

/** Adds an image index over all architectures to the layout and tags it `version`. Returns its digest. */
function writeIndex(layout: string, { version, commit }: Build, manifests: Descriptor[]): string {
  const mediaType = 'application/vnd.oci.image.index.v1+json';
  const annotations = { 'org.opencontainers.image.version': version, 'org.opencontainers.image.revision': commit };
  const text = JSON.stringify({ schemaVersion: 2, mediaType, manifests, annotations });
  const hash = createHash('sha256').update(text).digest('hex');
  writeFileSync(join(layout, 'blobs/sha256', hash), text);
  const index = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8')) as { manifests: Descriptor[] };
  const entry = { mediaType, digest: `sha256:${hash}`, size: Buffer.byteLength(text) };
  index.manifests.push({ ...entry, annotations: { 'org.opencontainers.image.ref.name': version } });
  writeFileSync(join(layout, 'index.json'), JSON.stringify(index));
  return entry.digest;
}

/** Builds the image of every possible architecture into an OCI layout. Returns the digest of its index. */
export function buildImage(build: Build, layout: string): { digest: string; architectures: string[] } {
  rmSync(layout, { recursive: true, force: true });
  mkdirSync(layout, { recursive: true });
  const architectures = findArchitectures();
  const manifests = architectures.map(architecture => buildOne(build, architecture, layout));
  return { digest: writeIndex(layout, build, manifests), architectures };
}
