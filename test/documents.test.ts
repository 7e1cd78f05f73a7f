import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commandsTable } from '../docs/commands-table.ts';
import { generatedPart } from '../docs/generated-part.ts';
import { javascriptApi } from '../docs/javascript-api.ts';
import { COMMANDS } from '../src/commands/table.ts';
import { filesUnder, ROOT, SRC } from './support/modules.ts';

/** A file path in a text: in backticks or as the target of a link, with the extension of a module. */
const NAMED_PATH = /[`(]((?:[\w.-]+\/)+[\w.*-]+\.(?:ts|tsx|mjs))[`)#]/g;

/** Folders to which paths in documents and comments may be relative. */
const NAMED_FROM = ['.', 'src', 'src/api', 'test', 'dashboard', 'clients/javascript'];

/** A file name in backticks, without folders. */
const NAMED_FILE = /`([\w-]+(?:\.[\w-]+)*\.(?:ts|tsx|mjs))`/g;

const FILES = new Set(
  ['src', 'test', 'bench', 'dashboard', 'clients', 'docs', 'helm', 'config']
    .flatMap(folder => readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }))
    .map(path => basename(path)),
);

/** Modules that a text mentions and that do not exist. */
const missingModules = (text: string): string[] => [...missingPaths(text), ...missingFiles(text)];

const missingFiles = (text: string): string[] =>
  [...text.matchAll(NAMED_FILE)].map(([, name]) => name as string).filter(name => !FILES.has(name));

const missingPaths = (text: string): string[] =>
  [...text.matchAll(NAMED_PATH)]
    .map(([, path]) => path as string)
    .filter(path => !path.includes('*') && !NAMED_FROM.some(folder => existsSync(join(ROOT, folder, path))));

/** The commands of the executable that a text names, in code, and that do not exist. */
const unknownCommands = (text: string): string[] =>
  [...text.matchAll(/(?:^|`|api )parley ([a-z][a-z-]*(?: [a-z][a-z-]*)?)/gm)]
    .map(([, words]) => words as string)
    .filter(words => !COMMANDS.some(({ name }) => [words, words.split(' ')[0]].includes(name)));

describe('documents', () => {
  const documents = [
    'README.md',
    'CONTRIBUTING.md',
    ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
      .filter(path => path.endsWith('.md'))
      .map(path => `docs/${path}`),
  ];
  const paths = [...documents, ...filesUnder(SRC).map(path => `src/${path}`)];
  const texts = paths.map(path => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));

  test('and comments refer to existing modules', () => {
    expect(documents.length).toBeGreaterThan(40);
    expect(texts.flatMap(({ path, text }) => missingModules(text).map(name => `${path}: ${name}`))).toEqual([]);
    expect(missingModules('see `src/api/gone.ts` and [there](api/gone.ts)')).toEqual([
      'src/api/gone.ts',
      'api/gone.ts',
    ]);
    expect(missingModules('see `gone.ts`')).toEqual(['gone.ts']);
    expect(missingModules('see `app.ts`, `src/api/app.ts`, `routes/answers.ts`, `domain/cards/cards.ts`')).toEqual([]);
  });

  test('have the reference of the JavaScript client as `node docs/javascript-api.ts` writes it, with a sentence for each export', () => {
    const page = javascriptApi();
    expect(readFileSync(join(ROOT, 'clients/javascript/API.md'), 'utf8')).toBe(page);
    const rows = page.split('\n').filter(line => line.startsWith('| `'));
    expect(rows.length).toBeGreaterThan(60);
    expect(rows.filter(row => !/ \| [A-Z].{5,} \|$/.test(row))).toEqual([]);
  });

  test('list the commands as `node docs/commands-table.ts` prints them', () => {
    expect(generatedPart(readFileSync(join(ROOT, 'README.md'), 'utf8'), 'commands')).toBe(commandsTable());
    expect(commandsTable()).not.toContain('sandbox');
  });

  test('list every decision with its title', () => {
    const folder = join(ROOT, 'docs/decisions');
    const index = readFileSync(join(folder, 'README.md'), 'utf8');
    const links = [...index.matchAll(/\[(\d+\. [^\]]+)\]\((\d{4}-[^)]+)\)/g)].map(
      ([, title, file]) => `${file} # ${title}`,
    );
    const titles = readdirSync(folder)
      .filter(name => name !== 'README.md')
      .map(name => `${name} ${readFileSync(join(folder, name), 'utf8').split('\n', 1)[0]}`);
    expect(titles.length).toBeGreaterThan(40);
    expect(links.sort()).toEqual(titles.sort());
  });

  test('name commands that exist', () => {
    expect(texts.flatMap(({ path, text }) => unknownCommands(text).map(name => `${path}: ${name}`))).toEqual([]);
    expect(unknownCommands('run `parley tenant destroy --id x`')).toEqual(['tenant destroy']);
    expect(unknownCommands('parley doctor')).toEqual([]);
    expect(texts.some(({ text }) => text.includes('`parley doctor`'))).toBe(true);
  });
});
