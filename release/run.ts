/**
 * Releases a version: `npm run release -- --version X --registry R [--sign KEY] [--dry-run]`. docs/releases.md describes the
 * steps. It needs Docker, skopeo, syft, helm, and cosign to sign.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { attest, sign, writeBillOfMaterials, writeProvenance } from './evidence.ts';
import { buildImage } from './image.ts';
import { type Owner, readOwner } from './owner.ts';
import { unpinnedBases } from './pin-bases.ts';
import { packChart, packClients, pushChart, pushImage } from './publish.ts';
import { has, Refusal, ROOT, run, say } from './steps.ts';
import { changelogOf, clientVersions, requireSame, serverVersions } from './versions.ts';

const OPTIONS = {
  version: { type: 'string' },
  registry: { type: 'string' },
  sign: { type: 'string' },
  'dry-run': { type: 'boolean', default: false },
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
  const paths = files.map(entry => join(entry.parentPath, entry.name)).filter(path => !path.includes('/image/'));
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

/** Builds, describes, pushes and signs everything. */
function release({ version, registry, key, owner, clients }: Target): void {
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
  const layout = join(folder, 'image');
  say('building the image');
  const { digest, architectures } = buildImage(build, layout);
  const boms = architectures.map(architecture => join(folder, `parley-${version}-${architecture}.spdx.json`));
  for (const [index, architecture] of architectures.entries())
    writeBillOfMaterials(layout, architecture, boms[index] as string);
  const provenance = join(folder, `parley-${version}.provenance.json`);
  writeProvenance(build, owner, provenance);
  say('packing the chart and the clients');
  const repository = `${registry}/parley`;
  const chart = packChart(folder, version, repository, owner);
  packClients(join(folder, 'clients'), clients);
  say(`pushing to ${registry}`);
  pushImage(layout, version, `${repository}:${version}`);
  const chartDigest = pushChart(chart, registry);
  const images = { image: `${repository}@${digest}`, chart: `${registry}/charts/parley@${chartDigest}` };
  if (key) {
    for (const reference of Object.values(images)) sign(reference, key);
    for (const bom of boms) attest(images.image, key, 'spdxjson', bom);
    attest(images.image, key, 'slsaprovenance1', provenance);
    say('signed the image and the chart');
  } else say('NOT signed: pass --sign KEY');
  writeFileSync(join(folder, 'release.json'), `${JSON.stringify({ ...build, architectures, ...images }, null, 2)}\n`);
  writeChecksums(folder);
  say(`done: release/built/${version}/release.json`);
}

function main(): void {
  const { values } = parseArgs({ options: OPTIONS });
  const isDry = values['dry-run'];
  const version = values.version ?? (isDry ? serverVersions()[0]?.version : undefined);
  if (!version) throw new Refusal('--version is required.');
  const clients = check(version, isDry);
  if (isDry) {
    try {
      readOwner();
    } catch (error) {
      say(`a release would be refused: ${(error as Error).message}`);
    }
    say('dry run: no image was built, and nothing was pushed');
    return;
  }
  if (!values.registry) throw new Refusal('--registry is required, such as registry.example.com/team.');
  release({ version, registry: values.registry, key: values.sign, owner: readOwner(), clients });
}

try {
  main();
} catch (error) {
  process.stderr.write(`release: ${error instanceof Refusal ? error.message : (error as Error).stack}\n`);
  process.exitCode = 1;
}
