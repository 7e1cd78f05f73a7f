import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cycles, filesUnder, type Import, importsOf, packageOf, ROOT, type Source, SRC } from './support/modules.ts';
import { MAY_IMPORT, ORDER } from './support/structure.ts';

/** The folders that may import each package. Unlisted packages must not be used. */
const OWNERS: Record<string, string[]> = {
  '@opentelemetry/api': ['platform'],
  '@opentelemetry/core': ['platform'],
  '@opentelemetry/exporter-trace-otlp-proto': ['platform'],
  '@opentelemetry/resources': ['platform'],
  '@opentelemetry/sdk-trace': ['platform'],
  koa: ['api'],
  '@koa/router': ['api'],
  jose: ['api'],
  'raw-body': ['api'],
  'swagger-ui-dist': ['api'],
  marked: ['api'],
  'lru-cache': ['platform', 'storage', 'domain'],
  'zod-openapi': ['api', 'domain'],
  bullmq: ['queue'],
  ioredis: ['queue', 'platform'],
  pg: ['queue', 'coordination', 'storage', 'platform', 'commands'],
  '@mikro-orm/core': ['storage'],
  '@mikro-orm/migrations': ['storage'],
  '@mikro-orm/postgresql': ['storage'],
  '@node-rs/argon2': ['platform'],
  nodemailer: ['platform'],
  'openid-client': ['api'],
  pino: ['platform'],
  'prom-client': ['platform'],
  standardwebhooks: ['domain'],
  'typeid-js': ['domain'],
  uuid: ['domain', 'api'],
  zod: ['api', 'worker', 'queue', 'coordination', 'storage', 'platform', 'domain'],
};

/** Packages of which a folder may only import types. */
const TYPE_IMPORTS: Record<string, string[]> = { 'zod-openapi': ['domain'] };

/** The folder that must not import Node modules with input or output. */
const PURE = 'domain';

/** The only module that reads the environment. */
const READS_ENVIRONMENT = ['main.ts'];

/** Modules in which a tool requires a default export. */
const DEFAULT_EXPORTS = [
  'test/support/global-setup.ts',
  'test/containers/build-image.ts',
  'test/cluster/find-cluster.ts',
];
const isConfiguration = (path: string): boolean => /(^|\/)vitest\.config\.ts$/.test(path);

const readSources = (): Source[] =>
  filesUnder(SRC).map(path => ({ path, text: readFileSync(join(SRC, path), 'utf8') }));

const folderOf = (path: string): string => (path === 'main.ts' ? 'main' : (path.split('/')[0] as string));

/** Imports between folders that the table does not allow. */
const forbiddenArrows = (imports: Import[]): string[] =>
  imports
    .filter(({ isOurs, from, to }) => {
      const [folder, target] = [folderOf(from), folderOf(to)];
      return isOurs && folder !== target && !MAY_IMPORT[folder]?.includes(target);
    })
    .map(({ from, to }) => `${from} → ${to}`);

/** The entry of `ORDER` that contains a path. */
const roomOf = (path: string): string => path.split('/')[1] ?? '';

/** Imports within a folder against its order of dependency. */
const upwardArrows = (imports: Import[]): string[] =>
  imports
    .filter(({ isOurs, from, to }) => {
      const order = ORDER[folderOf(from)];
      if (!isOurs || !order || folderOf(to) !== folderOf(from)) return false;
      return order.indexOf(roomOf(to)) > order.indexOf(roomOf(from));
    })
    .map(({ from, to }) => `${from} → ${to}`);

/** The modules that run for every command. */
const COMMON = ['main.ts', ...['table', 'command-line', 'usage-error'].map(name => `commands/${name}.ts`)];

/** Role modules that are loaded before the command is known. */
const eagerRoles = (imports: Import[]): Import[] =>
  imports
    .filter(({ from, isOurs, isType, isLazy }) => COMMON.includes(from) && isOurs && !isType && !isLazy)
    .filter(({ to }) => folderOf(to) !== 'platform' && !COMMON.includes(to));

/** Packages imported by a folder that does not own them. */
const foreignPackages = (imports: Import[]): string[] =>
  imports
    .filter(({ isOurs, isType, from, to }) => {
      if (isOurs || to.startsWith('node:')) return false;
      const [folder, name] = [folderOf(from), packageOf(to)];
      return !OWNERS[name]?.includes(folder) || (TYPE_IMPORTS[name]?.includes(folder) === true && !isType);
    })
    .map(({ from, to }) => `${from} → ${to}`);

/** Node modules with input or output in the pure folder. */
const impureImports = (imports: Import[]): string[] =>
  imports
    .filter(({ from, to }) => folderOf(from) === PURE && to.startsWith('node:'))
    .map(({ from, to }) => `${from} → ${to}`);

const environmentReaders = (sources: Source[]): string[] =>
  sources
    .filter(({ path, text }) => /\bprocess\s*\.\s*env\b/.test(text) && !READS_ENVIRONMENT.includes(path))
    .map(({ path }) => path);

const environmentModes = (sources: Source[]): string[] =>
  sources.filter(({ text }) => text.includes('NODE_ENV')).map(({ path }) => path);

const defaultExports = (sources: Source[]): string[] =>
  sources
    .filter(({ text }) => /^export\s+default\b|\bas\s+default\b/m.test(text))
    .filter(({ path }) => !DEFAULT_EXPORTS.includes(path) && !isConfiguration(path))
    .map(({ path }) => path);

/** Whether a layer has a file of a resource, at the top or in a folder. */
const hasLayer = (paths: string[], layer: string, resource: string): boolean =>
  paths.some(path => path.startsWith(`${layer}/`) && path.endsWith(`/${resource}.ts`));

/** Resources that exist in one layer and are missing in the layer below. */
function missingLayers(paths: string[]): string[] {
  const without = (upper: string, lower: string, but: string[]) =>
    paths
      .filter(path => dirname(path) === upper && !path.endsWith('/index.ts'))
      .map(path => path.slice(upper.length + 1, -'.ts'.length))
      .filter(name => !but.includes(name) && !hasLayer(paths, lower, name))
      .map(name => `${upper}/${name}.ts has no ${lower}/${name}.ts`);
  return [
    ...without('api/routes', 'domain', ['probes']),
    ...without('api/routes', 'storage', ['probes', 'tokens']), // tokens are not stored
    ...without('worker/handlers', 'api/routes', []),
    ...without('worker/handlers', 'domain', []),
    ...without('worker/handlers', 'storage', []),
  ];
}

const sources = readSources();
const imports = sources.flatMap(importsOf);

/** The imports of a fictitious module. */
const madeUp = (path: string, text: string): Import[] => importsOf({ path, text });

test('every source is read, and every imported module of ours exists', () => {
  const paths = new Set(sources.map(({ path }) => path));
  expect(paths.size).toBeGreaterThan(60);
  expect(imports.length).toBeGreaterThan(paths.size);
  expect(imports.filter(({ isOurs, to }) => isOurs && !paths.has(to))).toEqual([]);
  const reached = new Set(imports.map(({ to }) => to));
  expect([...paths].filter(path => path !== 'main.ts' && !reached.has(path))).toEqual([]);
});

test('imports are found in every syntax', () => {
  const text = [
    "import 'a';",
    "import b from 'b';",
    "import type { C } from 'c';",
    "import {\n  d,\n  type D,\n} from '../domain/d.ts';",
    "export { e } from 'e';",
    "export * from 'f';",
    "const g = await import('g');",
    "const h = require.resolve('h/package.json');",
  ].join('\n');
  expect(madeUp('api/x.ts', text).map(({ to }) => to)).toEqual([
    'a',
    'b',
    'c',
    'domain/d.ts',
    'e',
    'f',
    'g',
    'h/package.json',
  ]);
});

describe('folders', () => {
  test('import only as the table allows', () => {
    expect(forbiddenArrows(imports)).toEqual([]);
    expect(new Set(sources.map(({ path }) => folderOf(path)))).toEqual(new Set(Object.keys(MAY_IMPORT)));
  });

  test.each([
    ['api/x.ts', '../worker/worker.ts'],
    ['worker/x.ts', '../api/server.ts'],
    ['worker/handlers/x.ts', '../../api/server.ts'],
    ['storage/x.ts', '../queue/producer.ts'],
    ['queue/x.ts', '../coordination/notices.ts'],
    ['coordination/x.ts', '../storage/database/orm.ts'],
    ['domain/x.ts', '../platform/log.ts'],
    ['platform/x.ts', '../domain/ids.ts'],
    ['main.ts', './storage/orm.ts'],
    ['elsewhere/x.ts', '../domain/ids.ts'],
  ])('%s may not import %s', (path, specifier) => {
    expect(forbiddenArrows(madeUp(path, `import { x } from '${specifier}';`))).toHaveLength(1);
    expect(forbiddenArrows(madeUp(path, `const x = await import('${specifier}');`))).toHaveLength(1);
    expect(forbiddenArrows(madeUp(path, `import type { X } from '${specifier}';`))).toHaveLength(1);
  });

  test('import only those before them in the order of dependency', () => {
    expect(upwardArrows(imports)).toEqual([]);
    for (const [folder, order] of Object.entries(ORDER)) {
      const rooms = sources.filter(({ path }) => folderOf(path) === folder).map(({ path }) => roomOf(path));
      expect(new Set(rooms)).toEqual(new Set(order));
    }
    expect(upwardArrows(madeUp('storage/team/x.ts', "import { x } from '../answers/x.ts';"))).toHaveLength(1);
    expect(upwardArrows(madeUp('storage/answers/x.ts', "import { x } from '../team/x.ts';"))).toEqual([]);
    expect(upwardArrows(madeUp('domain/text.ts', "import { x } from './rules/x.ts';"))).toHaveLength(1);
    expect(upwardArrows(madeUp('api/http/x.ts', "import type { ApiDeps } from '../deps.ts';"))).toHaveLength(1);
    expect(upwardArrows(madeUp('api/deps.ts', "import { x } from './pipeline/x.ts';"))).toHaveLength(1);
    expect(upwardArrows(madeUp('api/routes/x.ts', "import { x } from '../pipeline/x.ts';"))).toEqual([]);
    expect(upwardArrows(madeUp('api/routes/x.ts', "import { x } from './y.ts';"))).toEqual([]);
  });

  test('the executable loads a role only on demand', () => {
    expect(eagerRoles(imports)).toEqual([]);
    const modules = ['main.ts', 'commands/table.ts'];
    expect(modules.flatMap(path => eagerRoles(madeUp(path, "import { x } from './x.ts';")))).toHaveLength(2);
    expect(modules.flatMap(path => eagerRoles(madeUp(path, "await import('./x.ts');")))).toEqual([]);
  });

  test('make the OpenAPI document only for the command, because it holds up a process', () => {
    const makers = imports.filter(
      ({ from, to, isLazy }) => to === 'api/openapi.ts' && !isLazy && !from.startsWith('api/openapi/'),
    );
    expect(makers).toEqual([]);
  });

  test('have no import cycles', () => {
    expect(cycles(imports)).toEqual([]);
    const ring = [
      ...madeUp('domain/a.ts', "import { b } from './b.ts';"),
      ...madeUp('domain/b.ts', "import type { C } from './c.ts';"),
      ...madeUp('domain/c.ts', "import { a } from './a.ts';"),
    ];
    expect(cycles(ring)).toContain('domain/a.ts → domain/b.ts → domain/c.ts → domain/a.ts');
    expect(cycles(ring.slice(0, 2))).toEqual([]);
  });

  test.each(['bench', 'clients/javascript/src', 'clients/javascript/runner', 'test/faults'])(
    'form no cycle in %s',
    folder => {
      const modules = filesUnder(join(ROOT, folder)).map(path => ({
        path: `../${folder}/${path}`,
        text: readFileSync(join(ROOT, folder, path), 'utf8'),
      }));
      const found = modules.flatMap(importsOf);
      expect(found.filter(({ isOurs }) => isOurs).length).toBeGreaterThan(3);
      expect(cycles([...imports, ...found])).toEqual([]);
    },
  );

  test('use one name per resource in every layer', () => {
    expect(missingLayers(sources.map(({ path }) => path))).toEqual([]);
    expect(missingLayers(['api/routes/index.ts', 'api/routes/rooms.ts', 'domain/rooms.ts'])).toEqual([
      'api/routes/rooms.ts has no storage/rooms.ts',
    ]);
    expect(missingLayers(['worker/handlers/rooms.ts'])).toHaveLength(3);
  });

  test.each(['answers', 'conversations', 'questions'])('contain all layers of %s', resource => {
    const paths = sources.map(({ path }) => path);
    for (const layer of ['api/routes', 'domain', 'storage']) expect(hasLayer(paths, layer, resource)).toBe(true);
  });

  test('and files are named in kebab-case', () => {
    const odd = sources.map(({ path }) => path).filter(path => !/^([a-z0-9-]+\/)*[a-z0-9-]+\.ts$/.test(path));
    expect(odd).toEqual([]);
  });
});

describe('packages', () => {
  test('are only imported by their owners', () => {
    expect(foreignPackages(imports)).toEqual([]);
  });

  test.each([
    ['worker/x.ts', 'koa'],
    ['storage/x.ts', '@koa/router'],
    ['domain/x.ts', 'jose/jwt/sign'],
    ['api/x.ts', 'bullmq'],
    ['api/x.ts', 'ioredis'],
    ['api/x.ts', 'pg'],
    ['api/x.ts', '@mikro-orm/postgresql'],
    ['worker/x.ts', '@mikro-orm/core'],
    ['api/x.ts', '@node-rs/argon2'],
    ['domain/x.ts', 'zod-openapi'],
    ['platform/x.ts', 'left-pad'],
  ])('%s may not import %s', (path, specifier) => {
    expect(foreignPackages(madeUp(path, `import { x } from '${specifier}';`))).toEqual([`${path} → ${specifier}`]);
  });

  test('with owners are dependencies, and every dependency has an owner', () => {
    const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(Object.keys(OWNERS).sort()).toEqual(Object.keys(dependencies).sort());
  });

  test('of Node with input or output are not used in the domain', () => {
    expect(impureImports(imports)).toEqual([]);
    expect(impureImports(madeUp('domain/x.ts', "import { readFile } from 'node:fs/promises';"))).toHaveLength(1);
  });
});

describe('sources', () => {
  test('read the environment only in the executable', () => {
    expect(environmentReaders(sources)).toEqual([]);
    expect(environmentReaders([{ path: 'api/x.ts', text: 'const port = process.env.PORT;' }])).toEqual(['api/x.ts']);
    expect(sources.some(({ path, text }) => path === 'main.ts' && text.includes('process.env'))).toBe(true);
  });

  test('do not depend on NODE_ENV', () => {
    expect(environmentModes(sources)).toEqual([]);
    expect(environmentModes([{ path: 'api/x.ts', text: "if (env.NODE_ENV === 'test')" }])).toEqual(['api/x.ts']);
  });

  test('have no default exports, unless a tool requires one', () => {
    const tests = filesUnder(join(ROOT, 'test')).map(path => ({
      path: `test/${path}`,
      text: path === 'architecture.test.ts' ? '' : readFileSync(join(ROOT, 'test', path), 'utf8'),
    }));
    expect(defaultExports([...sources, ...tests])).toEqual([]);
    expect(defaultExports([{ path: 'api/x.ts', text: 'const x = 1;\nexport default x;' }])).toEqual(['api/x.ts']);
    expect(defaultExports([{ path: 'api/x.ts', text: 'export { x as default };' }])).toEqual(['api/x.ts']);
  });
});
