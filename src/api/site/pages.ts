import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { PAGES_DIR, STAMP_FILE } from '../../platform/pages-build.ts';
import { etagOf } from '../http/etag.ts';

/** A file of the dashboard in each available encoding. */
export interface PageFile {
  type: string;
  etag: string;
  plain: Buffer;
  br: Buffer;
  gzip: Buffer;
}

/** The built dashboard in memory. */
export interface Pages {
  /** Files by their paths below the dashboard's address, such as `assets/index-B3f.js`. */
  files: ReadonlyMap<string, PageFile>;
  /** Whether a path such as `/questions/question_…` is a page. */
  hasPage(path: string): boolean;
}

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

async function readPageFile(path: string, type: string): Promise<PageFile> {
  const [plain, br, gzip] = await Promise.all([readFile(path), readFile(`${path}.br`), readFile(`${path}.gz`)]);
  return { type, etag: etagOf(plain.toString('utf8')), plain, br, gzip };
}

/** A path pattern as a regular expression: `:id` is one segment, `/:id?` an optional one. */
const expressionOf = (pattern: string): RegExp => new RegExp(`^${pattern.replaceAll(/\/:\w+(\??)/g, '(?:/[^/]+)$1')}$`);

async function readPages(): Promise<Pages> {
  const names = await readdir(PAGES_DIR, { recursive: true });
  const served = names.flatMap(name => (TYPES[extname(name)] ? [[name, TYPES[extname(name)] as string] as const] : []));
  const files = await Promise.all(
    served.map(async ([name, type]) => [name, await readPageFile(join(PAGES_DIR, name), type)] as const),
  );
  const paths = (JSON.parse(await readFile(join(PAGES_DIR, 'paths.json'), 'utf8')) as string[]).map(expressionOf);
  return { files: new Map(files), hasPage: path => paths.some(expression => expression.test(path)) };
}

/**
 * Returns a function that loads the dashboard as last built; undefined while it is not built.
 *
 * It is read at first use, and again after a new build, which a `start` from source may run while serving requests.
 */
export function createPages(): () => Promise<Pages | undefined> {
  let builtAtMs: number | undefined; // a reproducible image has the time 0
  let pages: Promise<Pages> | undefined;
  return async () => {
    const stamp = join(PAGES_DIR, STAMP_FILE);
    if (!existsSync(stamp)) return pages;
    const { mtimeMs } = await stat(stamp);
    if (mtimeMs !== builtAtMs) {
      builtAtMs = mtimeMs;
      pages = readPages();
      pages.catch(() => (builtAtMs = undefined)); // this caller gets the error; the next one retries
    }
    return pages;
  };
}
