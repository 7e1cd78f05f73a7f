import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal, ROOT } from './steps.ts';

/** A place that states a version. */
export interface Stated {
  where: string;
  version: string | undefined;
}

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const json = (path: string) => JSON.parse(read(path));
const found = (path: string, pattern: RegExp): Stated => ({ where: path, version: pattern.exec(read(path))?.[1] });

/** Every place that states the version of the server, of its images and of the chart: a file, and the text around it. */
const PLACES: [file: string, pattern: RegExp][] = [
  ['package.json', /"version": "([^"]+)"/d],
  ['package-lock.json', /^ {2}"version": "([^"]+)"/dm],
  ['package-lock.json', /^ {6}"version": "([^"]+)"/dm],
  ['docs/openapi.json', /^ {4}"version": "([^"]+)"/dm],
  ['helm/Chart.yaml', /^version: (\S+)/dm],
  ['helm/Chart.yaml', /^appVersion: (\S+)/dm],
  ['helm/Chart.yaml', /image: parley:(\S+)/d],
  ['helm/Chart.yaml', /image: parley-backup:(\S+)/d],
  ['helm/examples/argocd/application.yaml', /targetRevision: (\d\S*)/d],
  ['helm/examples/flux/release.yaml', /ref: \{ tag: (\d\S*) \}/d],
  ['helm/examples/external-stores/values.yaml', /charts\/parley --version (\S+)/d],
  ['helm/examples/air-gapped/README.md', / VERSION=(\S+)/d],
  ['Dockerfile', /image\.version="([^"]+)"/d],
  ['README.md', /docker build -t parley:(\S+) /d],
];

/** Every place that states the version of the server, of its images and of the chart. */
export const serverVersions = (): Stated[] => PLACES.map(([file, pattern]) => found(file, pattern));

/** Writes a version to every such place. Throws a `Refusal` if a file no longer states one. */
export function writeServerVersion(version: string): void {
  for (const [file, pattern] of PLACES) {
    const text = read(file);
    const [start, end] = pattern.exec(text)?.indices?.[1] ?? [];
    if (start === undefined || end === undefined) throw new Refusal(`${file} states no version.`);
    writeFileSync(join(ROOT, file), text.slice(0, start) + version + text.slice(end));
  }
}

/** The places that state the version of each client, which has a version of its own. */
export const clientVersions = (): Record<string, Stated[]> => ({
  javascript: [
    { where: 'clients/javascript/package.json', version: json('clients/javascript/package.json').version },
    found('clients/javascript/src/version.ts', /parley-javascript\/([^']+)'/),
  ],
  python: [
    found('clients/python/pyproject.toml', /^version = "([^"]+)"/m),
    found('clients/python/src/parley_feedback/version.py', /__version__ = "([^"]+)"/),
  ],
  php: [
    { where: 'clients/php/composer.json', version: json('clients/php/composer.json').version },
    found('clients/php/src/ServerClient.php', /VERSION = '([^']+)'/),
  ],
  swift: [found('clients/swift/Sources/Parley/Version.swift', /clientVersion = "([^"]+)"/)],
});

/** Throws a `Refusal` that lists the places which differ from `version`. */
export function requireSame(what: string, version: string | undefined, stated: Stated[]): void {
  const wrong = stated.filter(place => place.version !== version || version === undefined);
  if (wrong.length > 0)
    throw new Refusal(
      `${what} is ${version}, but ${wrong.map(place => `${place.where} has ${place.version ?? 'none'}`).join(', ')}.`,
    );
}

const CHANGELOG = 'CHANGELOG.md';
const UNRELEASED = '[Unreleased]';

/** Returns the sections of the changelog, each with its heading; first the text before them. */
const sectionsOf = (changelog: string): string[] => changelog.split(/^(?=## )/m);
const bodyOf = (section: string | undefined): string => section?.split('\n').slice(1).join('\n').trim() ?? '';
const sectionOf = (changelog: string, name: string): string | undefined =>
  sectionsOf(changelog).find(section => section.startsWith(`## ${name}`));

/** Returns the section of the changelog about a version. Throws a `Refusal` if it is missing or empty. */
export function changelogOf(version: string, changelog = read(CHANGELOG)): string {
  const body = bodyOf(sectionOf(changelog, `[${version}]`));
  if (!body) throw new Refusal(`CHANGELOG.md has no section [${version}].`);
  return body;
}

/** Throws a `Refusal` while the changelog lists changes that belong to no version, which the release would contain. */
export function requireNothingUnreleased(version: string, changelog = read(CHANGELOG)): void {
  if (bodyOf(sectionOf(changelog, UNRELEASED)))
    throw new Refusal(
      `CHANGELOG.md has changes under ${UNRELEASED}: move them to [${version}] with npm run release -- --version ${version} --prepare.`,
    );
}

/** Returns the parts of a section by their headings (`### Added`), in order; '' is the text before the first one. */
function partsOf(body: string): Map<string, string> {
  const parts = new Map<string, string>();
  for (const part of body.split(/^(?=### )/m)) {
    const isNamed = part.startsWith('### ');
    const [name = '', ...lines] = isNamed ? part.split('\n') : ['', part];
    const text = lines.join('\n').trim();
    parts.set(name, [parts.get(name), text].filter(Boolean).join('\n'));
  }
  return parts;
}

/**
 * Returns the changelog with everything under `[Unreleased]` moved to the section of a version, which gets the date.
 *
 * Where that section exists already, because it was written before the release, the changes are added to its parts.
 */
export function closeUnreleased(changelog: string, version: string, date: string): string {
  const added = bodyOf(sectionOf(changelog, UNRELEASED));
  const present = sectionOf(changelog, `[${version}]`);
  const parts = partsOf(bodyOf(present));
  for (const [name, text] of partsOf(added)) parts.set(name, [parts.get(name), text].filter(Boolean).join('\n'));
  const body = [...parts].flatMap(([name, text]) => (name || text ? [[name, text].filter(Boolean).join('\n\n')] : []));
  const section = `${[`## [${version}] - ${date}`, ...body].join('\n\n')}\n`;
  const [introduction = '', ...rest] = sectionsOf(changelog).filter(each => each !== present);
  const others = rest.filter(each => !each.startsWith(`## ${UNRELEASED}`));
  return [introduction, `## ${UNRELEASED}\n\n`, section, others.length > 0 ? '\n' : '', ...others].join('');
}

/** Prepares the tree for a release: the version in all places, and the changelog. */
export function prepare(version: string, date: string): void {
  writeServerVersion(version);
  writeFileSync(join(ROOT, CHANGELOG), closeUnreleased(read(CHANGELOG), version, date));
}
