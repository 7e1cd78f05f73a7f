import { readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** The top folder of the repository, and that of the service. */
export const ROOT = resolve(import.meta.dirname, '../..');
export const SRC = join(ROOT, 'src');

export interface Source {
  /** The path from `src`. */
  path: string;
  text: string;
}

export interface Import {
  from: string;
  /** The path from `src` of a module of ours, or the specifier of any other. */
  to: string;
  isOurs: boolean;
  isType: boolean;
  isLazy: boolean;
}

const STATIC_IMPORT = /^(?:import|export)\s+(type\s)?(?:[^'";]*?\sfrom\s+)?['"]([^'"]+)['"]/gm;
const LAZY_IMPORT = /\bimport\(\s*['"]([^'"]+)['"]/g;
const RESOLVED = /\b(?:require|resolve)\(\s*['"]([^'"./][^'"]*)['"]\s*\)/g;

/** The TypeScript modules below a folder, by their paths in it. */
export const filesUnder = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(path => path.endsWith('.ts'));

/** Every import of a module, with types and lazy ones. */
export function importsOf({ path, text }: Source): Import[] {
  const found = [
    ...[...text.matchAll(STATIC_IMPORT)].map(([, type, to]) => ({ to, isType: type !== undefined, isLazy: false })),
    ...[...text.matchAll(LAZY_IMPORT)].map(([, to]) => ({ to, isType: false, isLazy: true })),
    ...[...text.matchAll(RESOLVED)].map(([, to]) => ({ to, isType: false, isLazy: true })),
  ];
  return found.map(({ to = '', ...how }) => {
    const isOurs = to.startsWith('.');
    return { from: path, to: isOurs ? relative(SRC, resolve(SRC, dirname(path), to)) : to, isOurs, ...how };
  });
}

/** Every way round through the modules that comes back to where it began, the shortest from each module. */
export function cycles(imports: Import[]): string[] {
  const next = new Map<string, string[]>();
  for (const { from, to, isOurs } of imports) if (isOurs) next.set(from, [...(next.get(from) ?? []), to]);
  const found: string[] = [];
  for (const start of next.keys()) {
    const seen = new Set<string>();
    let ways = [[start]];
    while (ways.length > 0) {
      const longer = ways.flatMap(way => (next.get(way.at(-1) as string) ?? []).map(to => [...way, to]));
      const closed = longer.find(way => way.at(-1) === start);
      if (closed) found.push(closed.join(' → '));
      if (closed) break;
      ways = longer.filter(way => !seen.has(way.at(-1) as string) && seen.add(way.at(-1) as string));
    }
  }
  return found;
}

/** The package of an import's specifier. */
export const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
