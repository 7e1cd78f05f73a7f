import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { BUILT, DOCUMENT, HERE, inNpm, inVenv, JAR, OAPI_CODEGEN, run, type Toolchains } from './toolchains.ts';

/** A generator of clients. */
export interface Generator {
  name: string;
  needs: (keyof Toolchains)[];
  generate(): Promise<{ stdout: string; stderr: string }>;
  /** Compiles the code, or imports all of it. */
  compile(): Promise<unknown>;
  /** Runs the main flow, and returns its output. */
  flow?(environment: Record<string, string>): Promise<{ stdout: string }>;
}

const folderOf = (name: string): string => join(BUILT, name);

/** Imports every module of a package in a folder, which also executes its declarations. */
const importAll = (folder: string, name: string) =>
  run(
    inVenv('python'),
    [
      '-c',
      `import importlib, pkgutil
package = importlib.import_module("${name}")
for module in pkgutil.walk_packages(package.__path__, "${name}."):
    importlib.import_module(module.name)`,
    ],
    folder,
  );

const TYPES = join(HERE, 'typescript');
const GO = join(HERE, 'go');
const PYTHON = join(HERE, 'python');

/** Generates with openapi-generator into a new folder. */
async function openApiGenerator(language: string, ...properties: string[]) {
  rmSync(folderOf(language), { recursive: true, force: true });
  const more = properties.length > 0 ? ['--additional-properties', properties.join(',')] : [];
  const args = ['-Xmx1g', '-jar', JAR, 'generate', '-g', language, '-i', DOCUMENT, '-o', folderOf(language), ...more];
  return run('java', [...args, '--git-user-id', 'parley', '--git-repo-id', 'client']);
}

/** By default, openapi-generator refuses unknown members in replies (docs/decisions/0034-open-replies.md). */
const OPEN = 'disallowAdditionalPropertiesIfNotPresent=false';

export const GENERATORS: Generator[] = [
  {
    name: 'openapi-typescript',
    needs: ['typescript'],
    generate: () => run(inNpm('openapi-typescript'), [DOCUMENT, '-o', join(BUILT, 'typescript/schema.ts')]),
    compile: () => run(inNpm('tsc'), ['-p', TYPES]),
    flow: environment => run(process.execPath, [join(TYPES, 'flow.ts')], HERE, environment),
  },
  {
    name: 'oapi-codegen',
    needs: ['go'],
    generate: async () => {
      await run('mkdir', ['-p', join(GO, 'parley')]);
      const args = ['-generate', 'types,client', '-package', 'parley', '-o', join(GO, 'parley/parley.go'), DOCUMENT];
      return run('go', ['run', OAPI_CODEGEN, ...args], BUILT);
    },
    compile: () => run('go', ['build', '-o', join(BUILT, 'flow'), '.'], GO),
    flow: environment => run(join(BUILT, 'flow'), [], GO, environment),
  },
  {
    name: 'openapi-python-client',
    needs: ['python'],
    generate: () => {
      const output = join(PYTHON, 'generated/parley_client');
      const options = ['--config', join(PYTHON, 'config.yaml'), '--meta', 'none', '--overwrite', '--fail-on-warning'];
      return run(inVenv('openapi-python-client'), [
        'generate',
        '--path',
        DOCUMENT,
        '--output-path',
        output,
        ...options,
      ]);
    },
    compile: () => importAll(join(PYTHON, 'generated'), 'parley_client'),
    flow: environment => run(inVenv('python'), [join(PYTHON, 'flow.py')], PYTHON, environment),
  },
  {
    name: 'openapi-generator python',
    needs: ['java', 'python'],
    generate: () => openApiGenerator('python'),
    compile: () => importAll(folderOf('python'), 'openapi_client'),
    flow: environment =>
      run(inVenv('python'), [join(PYTHON, 'flow_of_openapi_generator.py')], folderOf('python'), environment),
  },
  {
    name: 'openapi-generator go',
    needs: ['java', 'go'],
    generate: () => openApiGenerator('go', OPEN),
    compile: async () => {
      rmSync(join(folderOf('go'), 'test'), { recursive: true, force: true }); // needs packages that the client does not
      await run('go', ['mod', 'tidy'], folderOf('go'));
      return run('go', ['build', './...'], folderOf('go'));
    },
  },
  {
    name: 'openapi-generator typescript-fetch',
    needs: ['java'],
    generate: () => openApiGenerator('typescript-fetch', OPEN),
    compile: () => {
      const options = ['--strict', '--target', 'es2022', '--lib', 'es2022,dom', '--types', 'node'];
      const entry = join(folderOf('typescript-fetch'), 'index.ts');
      return run(inNpm('tsc'), ['--noEmit', '--module', 'es2022', '--moduleResolution', 'bundler', ...options, entry]);
    },
  },
  {
    name: 'openapi-generator java',
    needs: ['java', 'maven'],
    generate: () => openApiGenerator('java', OPEN),
    compile: () => run('mvn', ['-q', '-B', 'compile'], folderOf('java')),
  },
  {
    name: 'openapi-generator csharp',
    needs: ['java', 'dotnet'],
    generate: () => openApiGenerator('csharp', OPEN),
    compile: () => run('dotnet', ['build', '--nologo'], folderOf('csharp')),
  },
  {
    name: 'openapi-generator kotlin',
    needs: ['java', 'gradle'],
    generate: () => openApiGenerator('kotlin', OPEN),
    compile: () => run('gradle', ['--no-daemon', '-q', 'compileKotlin'], folderOf('kotlin')),
  },
];
