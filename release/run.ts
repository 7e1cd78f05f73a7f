/**
 * Releases a version: `npm run release -- --version X --registry R [--sign KEY] [--dry-run]`. docs/releases.md describes the
 * steps. It needs Docker, skopeo, syft, helm, and cosign to sign. `--version X --prepare` only writes the version and the
 * changelog.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { attest, sign, writeBillOfMaterials, writeProvenance } from './evidence.ts';
import { type Build, buildImage, findArchitectures, IMAGES, type Image } from './image.ts';
import { type Owner, readOwner } from './owner.ts';
import { unpinnedBases } from './pin-bases.ts';
import { packChart, packClients, pushChart, pushImage } from './publish.ts';
import { has, Refusal, ROOT, run, say } from './steps.ts';
import {
  changelogOf,
  clientVersions,
  prepare,
  requireNothingUnreleased,
  requireSame,
  serverVersions,
} from './versions.ts';

const OPTIONS = {
  version: { type: 'string' },
  registry: { type: 'string' },
  sign: { type: 'string' },
  'dry-run': { type: 'boolean', default: false },
  prepare: { type: 'boolean', default: false },
} as const;

const TOOLS = ['docker', 'skopeo', 'syft', 'helm', 'npm', 'python3', 'git'];

/** Checks that the tree, the versions and the changelog fit. Returns the versions of the clients. */
function check(version: string, isDry: boolean): Record<string, string> {
  requireSame('The version', version, serverVersions());
  const clients = Object.entries(clientVersions()).map(([name, stated]) => {
    const own = stated[0]?.version;
    requireSame(`The version of the client for ${name}`, own, stated);
    return [name, own as string] as const;
  });
  changelogOf(version);
  say(`version ${version}: ${serverVersions().length} places and the changelog agree`);
  const bases = unpinnedBases();
  if (bases.length > 0) say(`base images are NOT pinned by digest: ${bases.join(', ')}. Run release/pin-bases.ts.`);
  const changes = run('git', ['status', '--porcelain']);
  if (changes && !isDry) throw new Refusal(`The tree has changes that are not committed:\n${changes}`);
  return Object.fromEntries(clients);
}

/** Writes the checksums of all files of a release. */
function writeChecksums(folder: string): void {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile());
  const paths = files.map(entry => join(entry.parentPath, entry.name)).filter(path => !path.includes('/images/'));
  const lines = paths
    .sort()
    .map(path => `${createHash('sha256').update(readFileSync(path)).digest('hex')}  ${relative(folder, path)}`);
  writeFileSync(join(folder, 'SHA256SUMS'), `${lines.join('\n')}\n`);
}

interface Target {
  version: string;
  registry: string;
  key: string | undefined;
  owner: Owner;
  clients: Record<string, string>;
}

/** An image of the release in its registry, with its evidence. */
interface Built {
  image: Image;
  layout: string;
  /** By digest. */
  reference: string;
  boms: string[];
  provenance: string;
}

/** Builds and describes every image. */
function buildImages(folder: string, build: Build, { registry, owner }: Target, architectures: string[]): Built[] {
  const built: Built[] = [];
  for (const image of IMAGES) {
    say(`building the image ${image.name}`);
    const layout = join(folder, 'images', image.name);
    const reference = `${registry}/${image.name}@${buildImage(image, build, architectures, layout)}`;
    const file = join(folder, `${image.name}-${build.version}`);
    const boms = architectures.map(architecture => `${file}-${architecture}.spdx.json`);
    for (const [index, architecture] of architectures.entries())
      writeBillOfMaterials(layout, architecture, boms[index] as string);
    const provenance = `${file}.provenance.json`;
    writeProvenance({ image, build, owner, parley: image.isBuiltFromParley && built[0]?.reference }, provenance);
    built.push({ image, layout, reference, boms, provenance });
  }
  return built;
}

/** Signs the images with their bills of materials and provenance, and the chart. */
function signAll(images: Built[], chart: string, key: string): void {
  for (const { reference, boms, provenance } of images) {
    sign(reference, key);
    for (const bom of boms) attest(reference, key, 'spdxjson', bom);
    attest(reference, key, 'slsaprovenance1', provenance);
  }
  sign(chart, key);
}

/** Builds, describes, pushes and signs everything. */
function release(target: Target): void {
  const { version, registry, key, owner, clients } = target;
  const missing = [...TOOLS, ...(key ? ['cosign'] : [])].filter(tool => !has(tool));
  if (missing.length > 0) throw new Refusal(`These programs are missing: ${missing.join(', ')}.`);
  const folder = join(ROOT, 'release/built', version);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const build = {
    version,
    commit: run('git', ['rev-parse', 'HEAD']),
    epoch: run('git', ['log', '-1', '--format=%ct']),
  };
  const architectures = findArchitectures();
  const images = buildImages(folder, build, target, architectures);
  say('packing the chart and the clients');
  const archive = packChart(folder, version, registry, owner);
  packClients(join(folder, 'clients'), clients);
  say(`pushing to ${registry}`);
  for (const { image, layout } of images) pushImage(layout, version, `${registry}/${image.name}:${version}`);
  const chart = `${registry}/charts/parley@${pushChart(archive, registry)}`;
  if (key) {
    signAll(images, chart, key);
    say('signed the images and the chart');
  } else say('NOT signed: pass --sign KEY');
  const [image, backup_image, proxy_image] = images.map(({ reference }) => reference);
  const references = { image, backup_image, proxy_image, chart };
  writeFileSync(
    join(folder, 'release.json'),
    `${JSON.stringify({ ...build, architectures, ...references }, null, 2)}\n`,
  );
  writeChecksums(folder);
  say(`done: release/built/${version}/release.json`);
}

/** Reports what a release would refuse. */
function reportRefusal(requirement: () => unknown): void {
  try {
    requirement();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    say(`a release would be refused: ${error.message}`);
  }
}

function main(): void {
  const { values } = parseArgs({ options: OPTIONS });
  const isDry = values['dry-run'];
  const version = values.version ?? (isDry ? serverVersions()[0]?.version : undefined);
  if (!version) throw new Refusal('--version is required.');
  if (values.prepare) {
    prepare(version, new Date().toISOString().slice(0, 10));
    say(`wrote version ${version} and its changelog: read the changes, then commit them`);
    return;
  }
  const clients = check(version, isDry);
  if (isDry) {
    for (const requirement of [readOwner, () => requireNothingUnreleased(version)]) reportRefusal(requirement);
    say('dry run: no image was built, and nothing was pushed');
    return;
  }
  if (!values.registry) throw new Refusal('--registry is required, such as registry.example.com/team.');
  requireNothingUnreleased(version);
  release({ version, registry: values.registry, key: values.sign, owner: readOwner(), clients });
}

try {
  main();
} catch (error) {
  process.stderr.write(`release: ${error instanceof Refusal ? error.message : (error as Error).stack}\n`);
  process.exitCode = 1;
}
