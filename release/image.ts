import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, say } from './steps.ts';

/** The state of which a release is built. */
export interface Build {
  version: string;
  commit: string;
  /** Time of the commit in seconds; the time of every file in the image's layer `/app`. */
  epoch: string;
}

/** An image of a release. */
export interface Image {
  name: string;
  title: string;
  /** The folder that is sent to Docker, with the image's Dockerfile. */
  context: string;
  /** Whether it copies from Parley's own image, which its build argument `PARLEY_IMAGE` names. */
  isBuiltFromParley?: true;
}

/** The images of a release. The first one is Parley itself; later ones may be built from it. */
export const IMAGES: readonly [Image, ...Image[]] = [
  { name: 'parley', title: 'Parley', context: '.' },
  {
    name: 'parley-backup',
    title: 'Parley with the tools of PostgreSQL and Valkey',
    context: 'config/backup',
    isBuiltFromParley: true,
  },
  { name: 'parley-proxy', title: 'HAProxy for updates of Parley with Compose', context: 'config/haproxy' },
];

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

const localTag = (name: string, version: string, architecture: string): string =>
  `${name}-release:${version}-${architecture}`;

/** The options of `docker build` for an image: arguments and labels. */
function optionsOf({ title, isBuiltFromParley }: Image, build: Build, architecture: string): string[] {
  const { version, commit, epoch } = build;
  const parley = isBuiltFromParley ? [`PARLEY_IMAGE=${localTag('parley', version, architecture)}`] : [];
  const labels = { title, licenses: 'Apache-2.0', version, revision: commit };
  return [
    ...[`REVISION=${commit}`, `SOURCE_DATE_EPOCH=${epoch}`, ...parley].flatMap(value => ['--build-arg', value]),
    ...Object.entries(labels).flatMap(([name, value]) => ['--label', `org.opencontainers.image.${name}=${value}`]),
  ];
}

/** Builds an image for one architecture into the OCI layout `layout`, under the tag of its architecture. */
function buildOne(image: Image, build: Build, architecture: string, layout: string): Descriptor {
  const tag = localTag(image.name, build.version, architecture);
  const network = process.env.RELEASE_BUILD_NETWORK ? ['--network', process.env.RELEASE_BUILD_NETWORK] : [];
  const options = optionsOf(image, build, architecture);
  run('docker', ['build', ...network, '--platform', `linux/${architecture}`, ...options, '--tag', tag, image.context]);
  const archive = join(layout, '..', `${image.name}-${architecture}.tar`);
  run('docker', ['save', '--output', archive, tag]);
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

/** Builds an image for these architectures into an OCI layout. Returns the digest of its index. */
export function buildImage(image: Image, build: Build, architectures: string[], layout: string): string {
  rmSync(layout, { recursive: true, force: true });
  mkdirSync(layout, { recursive: true });
  const manifests = architectures.map(architecture => buildOne(image, build, architecture, layout));
  return writeIndex(layout, build, manifests);
}
