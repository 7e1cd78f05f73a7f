/**
 * Copies the alert rules and dashboards from `config/` into the chart: `node helm/copy-files.ts`. `--check` only compares.
 *
 * They are not links, because Argo CD refuses charts with links out of their folder.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const CONFIG = join(import.meta.dirname, '../config');
const FILES = join(import.meta.dirname, 'files');

const dashboards = readdirSync(join(CONFIG, 'grafana/dashboards'));
/** Sources in `config/` by their paths in the chart's `files/`. */
const SOURCES: Record<string, string> = {
  'alerts.yaml': 'prometheus/alerts.yaml',
  ...Object.fromEntries(dashboards.map(name => [`dashboards/${name}`, `grafana/dashboards/${name}`])),
};

const contents = Object.entries(SOURCES).map(([path, source]) => ({
  path: join(FILES, path),
  text: readFileSync(join(CONFIG, source), 'utf8'),
}));

const existing = (): string[] => {
  try {
    const entries = readdirSync(FILES, { recursive: true, withFileTypes: true });
    return entries.filter(entry => !entry.isDirectory()).map(entry => join(entry.parentPath, entry.name));
  } catch {
    return []; // the folder does not exist yet
  }
};

const isFresh = (): boolean =>
  existing().length === contents.length &&
  contents.every(({ path, text }) => existing().includes(path) && readFileSync(path, 'utf8') === text);

if (!process.argv.includes('--check')) {
  rmSync(FILES, { recursive: true, force: true });
  for (const { path, text } of contents) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
} else if (!isFresh()) {
  process.stderr.write('helm/files does not match config/: run `node helm/copy-files.ts`\n');
  process.exitCode = 1;
}
