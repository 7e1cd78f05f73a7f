import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { Refusal, ROOT } from './steps.ts';

/** A place that states a version. */
export interface Stated {
  where: string;
  version: string | undefined;
}

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const json = (path: string) => JSON.parse(read(path));
const found = (path: string, pattern: RegExp): Stated => ({ where: path, version: pattern.exec(read(path))?.[1] });

/** Every place that states the version of the server, of its image and of the chart. */
export function serverVersions(): Stated[] {
  const chart = parse(read('helm/Chart.yaml')) as { version: string; appVersion: string };
  const lock = json('package-lock.json');
  return [
    { where: 'package.json', version: json('package.json').version },
    { where: 'package-lock.json', version: lock.version },
    { where: 'package-lock.json (packages)', version: lock.packages[''].version },
    { where: 'docs/openapi.json', version: json('docs/openapi.json').info.version },
    { where: 'helm/Chart.yaml (version)', version: chart.version },
    { where: 'helm/Chart.yaml (appVersion)', version: chart.appVersion },
    found('helm/Chart.yaml', /image: parley:(\S+)/),
    found('Dockerfile', /image\.version="([^"]+)"/),
    found('README.md', /docker build -t parley:(\S+) /),
  ];
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

/** Returns the section of the changelog about a version. Throws a `Refusal` if it is missing or empty. */
export function changelogOf(version: string, changelog = read('CHANGELOG.md')): string {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find(text => text.startsWith(`[${version}]`));
  const body = section?.split('\n').slice(1).join('\n').trim();
  if (!body) throw new Refusal(`CHANGELOG.md has no section [${version}].`);
  return body;
}
