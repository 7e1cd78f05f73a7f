import { readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** The root of the repository, and that of the service. */
export const ROOT = resolve(import.meta.dirname, '../..');
export const SRC = join(ROOT, 'src');

export interface Source {
  /** The path relative to `src`. */
  path: string;
  text: string;
}

export interface Import {
  from: string;
  /** For our modules the path relative to `src`, otherwise the specifier. */
  to: string;
  isOurs: boolean;
  isType: boolean;
  isLazy: boolean;
}

const STATIC_IMPORT = /^(?:import|export)\s+(type\s)?(?:[^'";]*?\sfrom\s+)?['"]([^'"]+)['"]/gm;
const LAZY_IMPORT = /\bimport\(\s*['"]([^'"]+)['"]/g;
const RESOLVED = /\b(?:require|resolve)\(\s*['"]([^'"./][^'"]*)['"]\s*\)/g;

/** The TypeScript modules below a folder, as relative paths. */
export const filesUnder = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    path => path.endsWith('.ts') && !/(^|\/)(node_modules|built)\//.test(path),
  );

/** All imports of a module, including type and dynamic imports. */
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

/** Import cycles; for each module the shortest one that contains it. */
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
