import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { isLocal } from './evidence.ts';
import type { Owner } from './owner.ts';
import { ROOT, run } from './steps.ts';

/** Pushes an image of an OCI layout with all architectures. */
export const pushImage = (layout: string, version: string, reference: string): string =>
  run('skopeo', [
    'copy',
    '--quiet',
    '--all',
    `--dest-tls-verify=${!isLocal(reference)}`,
    `oci:${layout}:${version}`,
    `docker://${reference}`,
  ]);

/**
 * Packs the chart so that it installs the images of `registry`. Returns the archive.
 *
 * Links are replaced by the files, and the chart gets the publisher from `owner`, unless that is unknown.
 */
export function packChart(folder: string, version: string, registry: string, owner?: Owner): string {
  const copy = join(folder, 'chart');
  rmSync(copy, { recursive: true, force: true });
  cpSync(join(ROOT, 'helm'), copy, { recursive: true, dereference: true });
  const values = parseDocument(readFileSync(join(copy, 'values.yaml'), 'utf8'));
  const [host = '', ...path] = registry.split('/');
  const images = { parley: ['image'], 'parley-backup': ['backup', 'image'] };
  for (const [name, place] of Object.entries(images)) {
    values.setIn([...place, 'registry'], host);
    values.setIn([...place, 'repository'], [...path, name].join('/'));
  }
  writeFileSync(join(copy, 'values.yaml'), values.toString());
  const chart = parseDocument(readFileSync(join(copy, 'Chart.yaml'), 'utf8'));
  if (owner) {
    chart.set('home', owner.home);
    chart.set('sources', [owner.source]);
    chart.set('maintainers', [{ name: owner.name }]);
  }
  const listed = ['annotations', 'artifacthub.io/images'];
  chart.setIn(
    listed,
    String(chart.getIn(listed)).replaceAll(/image: (parley(?:-backup)?):/g, `image: ${registry}/$1:`),
  );
  writeFileSync(join(copy, 'Chart.yaml'), chart.toString());
  run('helm', ['package', copy, '--destination', folder]);
  rmSync(copy, { recursive: true });
  return join(folder, `parley-${version}.tgz`);
}

/** Pushes a packed chart. Returns its digest. */
export function pushChart(archive: string, registry: string): string {
  const options = isLocal(registry) ? ['--plain-http'] : [];
  const output = run('sh', [
    '-c',
    'exec "$@" 2>&1',
    'sh',
    'helm',
    'push',
    archive,
    `oci://${registry}/charts`,
    ...options,
  ]);
  const digest = /Digest: (sha256:[0-9a-f]{64})/.exec(output)?.[1];
  if (!digest) throw new Error(`helm push reported no digest:\n${output}`);
  return digest;
}

/** Packs the four clients: archives for npm, pip and Composer, and the source for Swift. */
export function packClients(folder: string, versions: Record<string, string>): void {
  mkdirSync(folder, { recursive: true });
  run('npm', ['pack', './clients/javascript', '--pack-destination', folder, '--silent']);
  run('python3', ['-m', 'pip', 'wheel', '--quiet', '--no-deps', '--wheel-dir', folder, './clients/python']);
  for (const [language, name] of [
    ['php', 'parley-feedback-client'],
    ['swift', 'parley-swift'],
  ] as const)
    run('git', [
      'archive',
      '--format=zip',
      `--output=${join(folder, `${name}-${versions[language]}.zip`)}`,
      `HEAD:clients/${language}`,
    ]);
}
